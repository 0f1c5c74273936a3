"""Compute the cost of the L2 write-backs that atomics with release semantics require.

Each die's L2 executes write-backs one by one.
"""

from collections.abc import Mapping, Sequence

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import Instruction
from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.memory.linear_layout import WARP, UnknownLayoutError, linear
from kprof_analyzers.model.contention import ATOMICS
from kprof_analyzers.model.machine import Machine
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.model.trips import Trips
from kprof_analyzers.source_lines import line_of

WRITE_BACK = "buffer_wbl2"


def is_write_back(instruction: Instruction) -> bool:
    """Return whether an instruction writes back the L2 cache of its die."""
    return instruction.opcode.name == WRITE_BACK


def write_backs(facts: KernelFacts, nodes: Sequence[Node], trips: Mapping[int, Trips]) -> tuple[float, float]:
    """Return the number of L2 write-backs of a workgroup, and that of its busiest wavefront.

    A wavefront executes a write-back if it holds an element of the atomic on the same source line. Masks that depend on
    the problem's size are ignored.

    Args:
        facts: the kernel.
        nodes: the path through its program.
        trips: iterations of its loops.
    """
    times = {i.index: 0.0 for i in facts.program.instructions if is_write_back(i)}
    if not times:
        return 0.0, 0.0
    _count(times, nodes, trips, 1.0)
    warps = facts.resources.num_warps
    warps = warps if isinstance(warps, int) else 4
    waves: dict[tuple[str, int] | None, int] = {}
    for op in facts.ttgir.operations if facts.ttgir is not None else ():
        if op.name in ATOMICS:
            place = line_of(op)
            waves[place] = max(waves.get(place, 0), wavefronts_of(op, warps))
    # Default for write-backs without a line number, for which the atomic that they belong to is unknown.
    usual = max(waves.values(), default=warps)
    found = sum(n * waves.get(line_of(facts.program.instructions[at]), usual) for at, n in times.items())
    return found, sum(times.values())


def queue_cycles(machine: Machine, found: float) -> float:
    """Return the cycles that ``found`` write-backs take, if they are spread evenly over the dies' L2 caches.

    Each die's L2 executes one write-back at a time. ``write_back_ns`` is fitted on a histogram kernel whose workgroups
    do little else (SOL-ExecBench-ROCm, the problem ``moe_expert_token_radix_sort_with_prefix_sum``).
    """
    return found / machine.xcds * machine.figures["write_back_ns"] * machine.clock_mhz / 1e3


def delayed(cycles: float, queue: float, phases: float) -> float:
    """Return the cycles of a launch whose write-backs occupy each L2 for ``queue`` cycles.

    In the first round, all workgroups reach their write-backs at the same time and wait for each other. From the second
    round on their write-backs are spread over time, and one workgroup waits while another computes.

    Args:
        cycles: cycles of the launch without write-backs.
        queue: cycles of all write-backs of an L2, one after the other.
        phases: number of rounds of workgroups multiplied by the number of write-backs of a wavefront.
    """
    return max(cycles, queue) + min(cycles, queue) / max(1.0, phases)


def wavefronts_of(atomic: Operation, warps: int) -> int:
    """Return the number of a workgroup's wavefronts that hold elements of an atomic; 1 for a scalar atomic.

    Args:
        atomic: the operation.
        warps: wavefronts of the workgroup, which is the result if the layout is unknown.
    """
    found = next((t for t in (*atomic.result_types, *atomic.operand_types) if isinstance(t, TensorType)), None)
    if found is None:
        return 1
    if found.layout is None:
        return warps
    try:
        layout = linear(found.layout, found.shape)
    except UnknownLayoutError:
        return warps
    return 1 << sum(any(basis) for basis in layout.bases[WARP])


def _count(times: dict[int, float], nodes: Sequence[Node], trips: Mapping[int, Trips], entered: float) -> None:
    for node in nodes:
        if isinstance(node, LoopNode):
            _count(times, node.body, trips, entered * trips[node.loop.index].mean)
            continue
        for at in times.keys() & set(node):
            times[at] += entered
