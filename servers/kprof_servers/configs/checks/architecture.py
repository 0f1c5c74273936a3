"""KP711 to KP715: values that the GPU, or Triton on that GPU, does not support."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

from kprof.findings import Finding, Severity
from kprof_servers.configs.checks.check import BucketCheck, Context, whole
from kprof_servers.configs.model import Bucket, ConfigFile

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture


_SHAPE = re.compile(r"_(\d+)x\d+x\d+")


def matrix_sizes(arch: "Architecture") -> set[int]:
    """Return the valid values of ``matrix_instr_nonkdim``: the matrix instructions' rows, and 0 for Triton's choice."""
    shapes = (_SHAPE.search(name) for name in arch.matrix_instructions)
    return {0, *(int(shape[1]) for shape in shapes if shape)}


class UnsupportedKpack(BucketCheck):
    """`kpack` is set to 2, but only 1 is supported.

    ## What it does
    Reports `kpack` above 1 for gfx950, where Triton 3.5 and later uses 1 instead and prints a warning, and for RDNA,
    where it has no effect. Also reports values that are neither 1 nor 2.

    ## Why it matters
    The kernel that runs differs from the one that the file describes. The file was tuned for another GPU, or its
    measurement was made with `kpack` 1.

    ## What to try
    Set `kpack` to 1, or leave it out.
    """

    id: ClassVar[str] = "KP711"
    name: ClassVar[str] = "kpack-not-of-this-gpu"
    severity: ClassVar[Severity] = Severity.WARNING

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:
        """See :meth:`BucketCheck.bucket`."""
        knob, arch = bucket.knob("kpack"), context.machine.arch
        if knob is None or not whole(knob.value) or knob.value < 1:
            return
        if knob.value not in {1, 2}:
            text = f"{bucket.name}: kpack = {knob.value}; Triton accepts 1 or 2"
            yield self.finding(file, knob.place, text, knob="kpack", value=knob.value)
            return
        known = arch.triton.kpack if arch is not None else None
        if arch is not None and known is not None and knob.value == 2 and knob.value not in known:
            why = "Triton puts 1 in its place" if known else "it changes no instruction there"
            text = f"{bucket.name}: kpack = 2 has no effect on {arch.name}: {why}"
            yield self.finding(file, knob.place, text, knob="kpack", value=2, arch=arch.name)


class MatrixSize(BucketCheck):
    """`matrix_instr_nonkdim` names matrix instructions that the GPU does not have.

    ## What it does
    Compares the value with the rows of the architecture's matrix instructions: 4, 16 and 32 on CDNA, 16 on RDNA. 0
    means Triton's own choice.

    ## Why it matters
    RDNA has only 16x16 instructions. Triton 3.4 to 3.9 uses them silently, so a value tuned on CDNA has no meaning.
    With a size that no GPU has, Triton 3.4 fails and Triton 3.9 compiles without matrix instructions.

    ## What to try
    Set it to 16 or 0.
    """

    id: ClassVar[str] = "KP712"
    name: ClassVar[str] = "matrix-size-not-of-this-gpu"
    severity: ClassVar[Severity] = Severity.ERROR

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:
        """See :meth:`BucketCheck.bucket`."""
        knob, arch = bucket.knob("matrix_instr_nonkdim"), context.machine.arch
        if knob is None or arch is None or not whole(knob.value) or knob.value < 0:
            return
        sizes = matrix_sizes(arch)
        if len(sizes) > 1 and knob.value not in sizes:
            has = ", ".join(str(size) for size in sorted(sizes))
            text = f"{bucket.name}: matrix_instr_nonkdim = {knob.value}; {arch.name} has {has}"
            yield self.finding(file, knob.place, text, knob=knob.name, value=knob.value, arch=arch.name)


class WorkgroupTooLarge(BucketCheck):
    """`num_warps` makes a workgroup larger than the hardware allows.

    ## What it does
    Multiplies `num_warps` by the number of lanes of a wavefront and compares the product with the maximum workgroup
    size.

    ## Why it matters
    The limit is 1,024 work-items: 16 wavefronts of 64 lanes or 32 of 32. Larger launches fail.

    ## What to try
    Use fewer warps. A value from a GPU with 32 lanes makes a workgroup twice as large on CDNA.
    """

    id: ClassVar[str] = "KP713"
    name: ClassVar[str] = "num-warps-over-limit"
    severity: ClassVar[Severity] = Severity.ERROR

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:
        """See :meth:`BucketCheck.bucket`."""
        knob, arch = bucket.knob("num_warps"), context.machine.arch
        if knob is None or arch is None or not whole(knob.value):
            return
        lanes, limit = arch.wavefront_size, arch.occupancy.max_workgroup_size
        if knob.value * lanes > limit:
            text = (
                f"{bucket.name}: num_warps = {knob.value} of {lanes} lanes are {knob.value * lanes:,} work-items; "
                f"{arch.name} takes {limit:,}"
            )
            yield self.finding(file, knob.place, text, knob="num_warps", value=knob.value, arch=arch.name)


class WavesPerEu(BucketCheck):
    """`waves_per_eu` asks for more wavefronts than a SIMD holds.

    ## What it does
    Compares the value with the wave slots of a SIMD, which `kprof list gpus` shows: 8 on an MI300X.

    ## Why it matters
    The compiler ignores such a value and produces the same kernel as with 0.

    ## What to try
    Set it to 0 for the compiler's choice, or to a number that fits on a SIMD.
    """

    id: ClassVar[str] = "KP714"
    name: ClassVar[str] = "waves-per-eu-over-limit"
    severity: ClassVar[Severity] = Severity.WARNING

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:
        """See :meth:`BucketCheck.bucket`."""
        knob, arch = bucket.knob("waves_per_eu"), context.machine.arch
        if knob is None or arch is None or not whole(knob.value):
            return
        slots = arch.occupancy.max_waves_per_simd
        if knob.value > slots:
            text = f"{bucket.name}: waves_per_eu = {knob.value}; a SIMD of {arch.name} holds {slots}"
            yield self.finding(file, knob.place, text, knob="waves_per_eu", value=knob.value, arch=arch.name)


class NumCtas(BucketCheck):
    """`num_ctas` is above 1 on a GPU without clusters of workgroups.

    ## What it does
    Reports `num_ctas` above 1 for architectures without clusters.

    ## Why it matters
    Triton's AMD backend rejects it on these architectures.

    ## What to try
    Set it to 1, or leave it out.
    """

    id: ClassVar[str] = "KP715"
    name: ClassVar[str] = "num-ctas-not-of-this-gpu"
    severity: ClassVar[Severity] = Severity.ERROR

    def bucket(self, file: ConfigFile, bucket: Bucket, context: Context) -> Iterable[Finding]:
        """See :meth:`BucketCheck.bucket`."""
        knob, arch = bucket.knob("num_ctas"), context.machine.arch
        if knob is None or arch is None or not whole(knob.value):
            return
        largest = arch.triton.max_num_ctas
        if largest == 1 and knob.value > 1:
            text = f"{bucket.name}: num_ctas = {knob.value}; {arch.name} has no clusters of workgroups"
            yield self.finding(file, knob.place, text, knob="num_ctas", value=knob.value, arch=arch.name)
