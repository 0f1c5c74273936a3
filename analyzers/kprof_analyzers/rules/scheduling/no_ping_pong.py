"""KP209 no-ping-pong."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import InstructionClass, InstructionKind
from kprof.inputs.mlir import Operation, Scalar, TensorType
from kprof_analyzers.compiler_passes import pass_effect, passes_suffix
from kprof_analyzers.model.executions import regions
from kprof_analyzers.rules.about import MATRIX_INSTRUCTIONS, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, Need, NotCheckedError, Rule, known

_SWITCH = "TRITON_HIP_USE_BLOCK_PINGPONG"
# Tile sizes that Triton's BlockPingpong.cpp supports. The size is M * N * K * (bits of an element).
_FOUR_WARPS = range(262_144, 16_777_217)
_EIGHT_WARPS_SMALL = 33_554_432
_EIGHT_WARPS_LARGE = 67_108_864
# Minimum of M and N. Smaller tiles have too few instructions for two halves of the wavefronts to alternate.
_LEAST = 64


class NoPingPong(Rule):
    """A loop with a product has the right size for block ping-pong, but its wavefronts are not scheduled to alternate.

    ## What it does
    For a loop with a single product and `num_stages=2` on gfx942, computes the size of the tile as Triton does (M x N x
    K x bits) and compares it with the sizes that ping-pong scheduling supports: 2^18 to 2^24 with four wavefronts, 2^25
    or at least 2^26 with eight, and sides of at least 64. Reports the loop if it has no `s_setprio`.

    ## Why it matters
    With ping-pong, one half of the wavefronts multiplies while the other half loads. Without it, both halves do the
    same work at the same time and compete for the same units.

    ## Evidence
    `tile_size`, `num_warps`, `shape`. `switch`: value of the environment switch, if set. `pass`: with `--passes`,
    whether the scheduling pass ran.

    ## What to try
    Load complete tiles without a mask that splits them, and exactly two tiles in the loop.
    """

    id: ClassVar[str] = "KP209"
    name: ClassVar[str] = "no-ping-pong"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = MATRIX_INSTRUCTIONS
    families: ClassVar[tuple[str, ...]] = ("CDNA3",)
    needs: ClassVar[tuple[Need, ...]] = (
        Need.TTGIR,
        Need.NUM_STAGES,
    )
    wants: ClassVar[tuple[Need, ...]] = (Need.PASSES,)
    levers: ClassVar[tuple[Lever, ...]] = (Lever(_SWITCH, "1", "the default on gfx942 since Triton 3.4"),)

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        if arch.triton.switches is None:
            raise NotCheckedError(f"whether Triton schedules for ping-pong on {arch.name} is not known")
        return None if _SWITCH in arch.triton.switches else f"Triton has no ping-pong scheduling for {arch.name}"

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        warps, stages = facts.resources.num_warps, facts.metadata["num_stages"]
        if stages != 2 or any(i.opcode.kind is InstructionKind.PRIORITY for i in facts.program.instructions):
            return
        by_loop: dict[int, list[Operation]] = {}
        for dot in module.named("tt.dot"):
            if dot.loop is not None:
                by_loop.setdefault(dot.loop, []).append(dot)
        for dots in by_loop.values():
            size, shape = _tile_size(dots[0])
            fits = warps == 4 and size in _FOUR_WARPS
            fits |= warps == 8 and (size == _EIGHT_WARPS_SMALL or size >= _EIGHT_WARPS_LARGE)
            if len(dots) == 1 and fits and min(shape[:2]) >= _LEAST:
                said = pass_effect(facts, ("tritonamdgpu-block-pingpong",), ("rocdl.s.setprio",))
                finding = self.finding(
                    f"a {'x'.join(map(str, shape))} product with {warps} wavefronts has the size for ping-pong, but "
                    f"the loop sets no priorities{passes_suffix(said)}",
                    at=dots[0],
                    evidence={
                        "tile_size": size,
                        "num_warps": warps if isinstance(warps, int) else None,
                        "shape": list(shape),
                        "switch": facts.specialization.environment.get(_SWITCH),
                        "pass": said,
                    },
                )
                yield _out_of_step(facts, finding)


def _out_of_step(facts: KernelFacts, finding: Finding) -> Finding | Costed:
    """Add an upper bound of the gain: the gain of removing all barriers in loops with matrix instructions."""
    gone = tuple(
        i.index
        for region in regions(facts)
        if region.loop is not None and any(i.opcode.cls is InstructionClass.MATRIX for i in region.instructions)
        for i in region.instructions
        if i.opcode.cls is InstructionClass.BARRIER
    )
    return Costed(finding, ModelChange(gone=gone, at_most=True)) if gone else finding


def _tile_size(dot: Operation) -> tuple[int, tuple[int, ...]]:
    result = next((t for t in dot.result_types if isinstance(t, TensorType)), None)
    left = next((t for t in dot.operand_types if isinstance(t, TensorType)), None)
    if result is None or left is None or not isinstance(left.element, Scalar):
        return 0, ()
    shape = (*result.shape[-2:], left.shape[-1])
    return shape[0] * shape[1] * shape[2] * (left.element.bits or 0), shape
