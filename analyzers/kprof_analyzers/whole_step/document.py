"""What ``kprof profile`` tells: ``kprof.profile/1``."""

import msgspec

from kprof.condition import WARM

SCHEMA = "kprof.profile/1"
UNSEARCHED = "only the program's own configurations are compared; others: "
"""How the note begins that names the command which compares more configurations."""


class ProfiledRow(msgspec.Struct, frozen=True):
    """Calls that belong together. Times are microseconds and predicted; ``None`` where they are not known.

    Attributes:
        name: Triton kernel or operator.
        shapes: extents of an operator's tensors, or a kernel's grid; empty where calls of several are in one row.
        kind: ``triton``, or the operator's kind: ``product``, ``elementwise``, ...; empty where it is not known.
        phase: ``forward``, ``backward``, ``optimizer``, ``outside modules``; several with commas between.
        module: the ``torch.nn`` modules around the call, outermost first; empty where rows of several are in one.
        range: what the program calls the part itself; empty as above.
        calls: how many.
        place: file and line of the program that make most of the time; empty where they are not known.
        places: number of such lines.
        us: of all calls.
        low_us, high_us: where that is likely to lie.
        limit_us: the GPU's limit for the work of all these calls; ``None`` where it is not known for one of them.
        share: of the sum of all rows whose time is known.
        bound: what limits most of the time.
        finding: the costliest finding of a Triton kernel, in words.
        why: why there is no time.
    """

    name: str
    shapes: str
    kind: str
    phase: str
    module: str
    range: str
    calls: int
    us: float | None
    low_us: float | None
    high_us: float | None
    share: float | None = None
    bound: str = ""
    finding: str = ""
    why: str = ""
    place: str = ""
    places: int = 0
    limit_us: float | None = None


class ProfileChange(msgspec.Struct, frozen=True):
    """A change that would pay.

    Attributes:
        what: to change.
        us: microseconds that it saves by the model, at most where ``at_most`` holds.
        share: of the step.
        calls: that it would change.
        at_most: a change is likely to bring less.
        sure: what the saving rests on.
        now_us: microseconds that these calls take now, 0 where that is not told.
    """

    what: str
    us: float
    share: float
    calls: int
    at_most: bool
    sure: str = ""
    now_us: float = 0.0


class ProfileDocument(msgspec.Struct, frozen=True):
    """A program's GPU time on one GPU that it did not run on. Everything is predicted, nothing measured.

    Attributes:
        gpu: product.
        program: its command line, where it is known.
        rows: the longest first, then those without a time.
        us, low_us, high_us: the sum of all times that are known; the range is of the single ranges' ends.
        triton_us: of Triton's kernels.
        calls: of launches and operators.
        unknown_calls: those without a time.
        unknown: what these are, most calls first.
        unknown_kernel_calls: launches of Triton's kernels among those without a time: ``us`` is then a lower bound.
        unknown_kernels: what these are, most launches first.
        unwritten: where the program looked at values that no kernel wrote: work whose size or turn hangs on them is not
            in the time; each as ``nonzero at step.py:12``.
        changes: what would pay most.
        notes: what was assumed, and what is outside.
        peak_bytes: the most memory that one process of the program has in use, by torch's allocator's account, set-up
            included; absent where it was not recorded.
        memory_bytes: of the GPU; absent where it is not known.
        layers: where the model was run with fewer layers than it has: with how many in the first and in the second run,
            and how many it has; else empty.
        condition: that the times are of: ``warm``, ``flushed``, ``flushed-dirty`` or ``graph``.
        added_us: what of the sum the condition adds to the program as a whole: events, and the caches' flush.
        tritons: releases of Triton that compiled its kernels.
        other_gpus: the same program on other GPUs, each run and compiled for it.
    """

    schema: str
    gpu: str
    program: list[str]
    rows: list[ProfiledRow]
    us: float
    low_us: float
    high_us: float
    triton_us: float
    calls: int
    unknown_calls: int
    unknown: list[str]
    changes: list[ProfileChange]
    notes: list[str]
    peak_bytes: int | None = None
    memory_bytes: int | None = None
    layers: list[int] = []
    unwritten: list[str] = []
    condition: str = WARM.name
    added_us: float = 0.0
    tritons: list[str] = []
    unknown_kernel_calls: int = 0
    unknown_kernels: list[str] = []
    other_gpus: "list[ProfileDocument]" = []

    @property
    def complete(self) -> bool:
        """Whether each launch of a Triton kernel has a time; else the sum is a lower bound."""
        return not self.unknown_kernel_calls

    @property
    def fits(self) -> bool:
        """It is not known that the program needs more memory than the GPU has."""
        return self.peak_bytes is None or self.memory_bytes is None or self.peak_bytes <= self.memory_bytes
