"""Compute the share of a workgroup's loads and stores whose cache modifiers bypass the last-level cache."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kprof.inputs.amdgcn import AssemblyKernel
from kprof_analyzers.memory.cache_policy import takes_no_line
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.model.program import DELAY, KIND, SCRATCH, VMEM, WHICH, Op
from kprof_analyzers.model.trips import Trips


class Passing(NamedTuple):
    """Shares of bytes that allocate no line of the last-level cache, 0 to 1.

    Attributes:
        loaded: share of the loaded bytes.
        stored: share of the stored bytes.
    """

    loaded: float = 0.0
    stored: float = 0.0


NOTHING = Passing()
"""Shares of a kernel without cache modifiers."""


def passing(program: AssemblyKernel, ops: Sequence[Op], nodes: Sequence[Node], trips: Mapping[int, Trips]) -> Passing:
    """Return the shares of a workgroup's bytes that cache modifiers keep out of the last-level cache.

    Args:
        program: the instructions.
        ops: the simulator operation of each instruction.
        nodes: the path through the instructions.
        trips: iterations of the loops.
    """
    marked = {
        at
        for at, op in enumerate(ops)
        if op[KIND] == VMEM and op[WHICH] != SCRATCH and takes_no_line(program.instructions[at])
    }
    if not marked:
        return NOTHING
    sums = {True: [0.0, 0.0], False: [0.0, 0.0]}
    _add(sums, program, ops, nodes, trips, 1.0, marked)
    loaded, stored = (some / whole if whole else 0.0 for some, whole in (sums[False], sums[True]))
    return Passing(loaded, stored)


def _add(  # noqa: PLR0917 - a single recursive walk needs all of them
    sums: Mapping[bool, list[float]],
    program: AssemblyKernel,
    ops: Sequence[Op],
    nodes: Sequence[Node],
    trips: Mapping[int, Trips],
    times: float,
    marked: set[int],
) -> None:
    for node in nodes:
        if isinstance(node, LoopNode):
            _add(sums, program, ops, node.body, trips, times * trips[node.loop.index].mean, marked)
            continue
        for at in node:
            op = ops[at]
            if op[KIND] == VMEM and op[WHICH] != SCRATCH:
                mine = sums[program.instructions[at].opcode.is_store]
                mine[0] += times * op[DELAY] * (at in marked)
                mine[1] += times * op[DELAY]
