"""KP707 knob-of-wrong-kind, KP708 block-not-power-of-two and KP709 num-stages-zero."""

from collections.abc import Iterable
from typing import Any, ClassVar

from kprof.findings import Finding, Severity
from kprof_servers.configs.checks.check import BucketCheck, Context, whole
from kprof_servers.configs.model import UNKNOWN, Bucket, ConfigFile, Knob

_LEAST = {
    "num_warps": 1,
    "num_stages": 0,
    "num_ctas": 1,
    "waves_per_eu": 0,
    "matrix_instr_nonkdim": 0,
    "kpack": 1,
    "NUM_KSPLIT": 1,
    "SPLIT_K": 0,
    "NUM_BUFFERS": 1,
}
_GROUPS = ("GROUP_M", "GROUP_SIZE_M", "GROUP_SIZE")
# Cache modifiers that Triton's AMD backend (3.4 to 3.9) uses as the cache policy of loads.
_CACHE = {None, "", "none", ".ca", ".cg", ".cv", ".cs", ".wb", ".wt"}


def is_block(name: str) -> bool:
    """Return whether a knob is the extent of a tile, which ``tl.arange`` requires to be a power of two."""
    upper = name.upper()
    return upper.startswith(("BLOCK_", "TILE_"))


class WrongKind(BucketCheck):
    """A knob has a value that it cannot have on any GPU.

    ## What it does
    Reports values that are not integers although Triton requires integers, integers below the knob's minimum, a
    `num_warps` that is not a power of two, and cache modifiers that Triton does not support.

    ## Why it matters
    Triton rejects the launch, or interprets the value differently: `"4"` is not 4.

    ## What to try
    Write a valid number without quotes.
    """

    id: ClassVar[str] = "KP707"
    name: ClassVar[str] = "knob-of-wrong-kind"
    severity: ClassVar[Severity] = Severity.ERROR

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:  # noqa: ARG002
        """See :meth:`BucketCheck.bucket`."""
        for knob in bucket.knobs:
            reason = None if knob.value is UNKNOWN else _wrong(knob)
            if reason:
                text = f"{bucket.name}: {knob.name} = {_shortened(knob.value)}: {reason}"
                yield self.finding(file, knob.place, text, knob=knob.name, value=knob.value)


def _wrong(knob: Knob) -> str | None:
    if knob.name == "cache_modifier":
        return None if isinstance(knob.value, str | None) and knob.value in _CACHE else "not a cache modifier of Triton"
    if knob.name == "maxnreg" and knob.value is None:
        return None
    counted = knob.name in _LEAST or knob.name in _GROUPS or is_block(knob.name)
    if not counted:
        return None
    if not whole(knob.value):
        return "a whole number is expected"
    least = _LEAST.get(knob.name, 1)
    if knob.value < least:
        return f"at least {least} is expected"
    if knob.name == "num_warps" and knob.value & (knob.value - 1):
        return "Triton wants a power of two"
    return None


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


class BlockNotPowerOfTwo(BucketCheck):
    """A tile's extent is not a power of two.

    ## What it does
    Checks `BLOCK_*` and `tile_*`.

    ## Why it matters
    `tl.arange`, and every tile made from it, requires a power of two. The kernel does not compile.

    ## What to try
    Use the next power of two; the kernel's masks handle the rest.
    """

    id: ClassVar[str] = "KP708"
    name: ClassVar[str] = "block-not-power-of-two"
    severity: ClassVar[Severity] = Severity.ERROR

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:  # noqa: ARG002
        """See :meth:`BucketCheck.bucket`."""
        for knob in bucket.knobs:
            if is_block(knob.name) and whole(knob.value) and knob.value > 0 and knob.value & (knob.value - 1):
                text = f"{bucket.name}: {knob.name} = {knob.value} is not a power of two"
                yield self.finding(file, knob.place, text, knob=knob.name, value=knob.value)


class NumStagesZero(BucketCheck):
    """`num_stages` is 0, whose meaning has changed.

    ## What it does
    Reports configurations with `num_stages` 0.

    ## Why it matters
    Before Triton 3.2 the value 0 selected the pipelined schedule that is now selected by 2. Triton 3.4 refuses 0, and
    Triton 3.9 treats it as 1, which disables pipelining.

    ## What to try
    Set `num_stages` to 2, and measure again.
    """

    id: ClassVar[str] = "KP709"
    name: ClassVar[str] = "num-stages-zero"
    severity: ClassVar[Severity] = Severity.WARNING

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:  # noqa: ARG002
        """See :meth:`BucketCheck.bucket`."""
        knob = bucket.knob("num_stages")
        if knob is not None and whole(knob.value) and knob.value == 0:
            text = f"{bucket.name}: num_stages = 0 comes from an old Triton, where it had the meaning that 2 has today"
            yield self.finding(file, knob.place, text, knob="num_stages", value=0)
