"""Loops over the active lanes, which LLVM makes of an atomic whose address all lanes share: no loops of the source.

One iteration reads one lane's value. LLVM finds the lane as the lowest bit of a mask and clears it there.
"""

from collections.abc import Sequence

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import AssemblyKernel, Loop
from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.source_lines import line_of

_LOWEST_BIT = ("s_ff1_i32_", "s_ctz_i32_")
_CLEARED = ("s_andn2_", "s_and_not1_", "s_bitset0_")


def is_lane_loop(program: AssemblyKernel, loop: Loop) -> bool:
    """Whether a loop reads the lanes of a mask one by one and ends when none is left."""
    names = [program.instructions[i].opcode.mnemonic for i in loop.instructions]
    if len(loop.blocks) > 1 or not any(name.startswith("v_readlane_b32") for name in names):
        return False
    return any(n.startswith(_LOWEST_BIT) for n in names) and any(n.startswith(_CLEARED) for n in names)


def loops_of_source(program: AssemblyKernel, nodes: Sequence[Node]) -> list[LoopNode]:
    """The loops of a stretch that are not over lanes."""
    return [n for n in nodes if isinstance(n, LoopNode) and not is_lane_loop(program, n.loop)]


def lanes_of(facts: KernelFacts, loop: Loop) -> tuple[int, str]:
    """Most lanes that a loop over lanes can find active, and where the number is from.

    A scalar atomic of the TTGIR is one lane's; of a tensor's every lane of the wavefront may be active.
    """
    size = facts.resources.wavefront_size
    lanes = size if isinstance(size, int) else facts.arch.wavefront_size
    places = {place for i in loop.instructions if (place := line_of(facts.program.instructions[i])) is not None}
    atomics = [op for op in facts.ttgir.operations if "atomic" in op.name] if facts.ttgir is not None else []
    mine = [op for op in atomics if line_of(op) in places]
    if mine and not any(_has_tensor(op) for op in mine):
        return 1, "one lane: the atomic is a scalar's"
    return lanes, "the lanes of a wavefront, all taken to be active"


def _has_tensor(op: Operation) -> bool:
    return any(isinstance(t, TensorType) for t in (*op.operand_types, *op.result_types))
