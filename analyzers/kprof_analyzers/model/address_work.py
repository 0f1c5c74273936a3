"""Compute an access's address cycles in the vector cache: one cycle per cache line that neighbouring lanes touch."""

from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Operation, TensorType
from kprof.inputs.mlir.layouts import Blocked
from kprof_analyzers.memory.addressing import address, element_bytes, strides
from kprof_analyzers.memory.dataflow import flow_of
from kprof_analyzers.model.access_lines import AccessLine, accesses_of, at_instructions
from kprof_analyzers.model.masks import fullest_shares


def address_work(facts: KernelFacts, line: float, together: int) -> dict[int, float]:
    """Map each load and store to its address cycles, relative to an access of consecutive elements by all lanes.

    Neighbouring lanes whose elements lie in several cache lines take one cycle per line. Lanes that the mask turns off
    in every workgroup take no time, because such lanes usually fill whole wavefronts: rows beyond the tensor's end. All
    accesses of one source line get the mean of their factors. An access that is not in the result has the factor 1.

    Args:
        facts: the kernel.
        line: bytes of a cache line.
        together: number of lanes that the vector cache processes in a cycle.
    """
    if facts.ttgir is None:
        return {}
    live = fullest_shares(facts)
    each: dict[AccessLine, list[float]] = defaultdict(list)
    for op, place in accesses_of(facts.ttgir):
        each[place].append(live.get(op.index, 1.0) * _lines(op, facts.arguments, line, together))
    work = {place: fmean(factors) for place, factors in each.items()}
    return at_instructions(facts.program, {place: factor for place, factor in work.items() if factor != 1})


def _lines(op: Operation, arguments: Mapping[str, int | float], line: float, together: int) -> float:
    """Return the mean number of cache lines that ``together`` neighbouring lanes access; 1 if unknown."""
    where, size, steps = address(op), element_bytes(op), strides(op)
    made = flow_of(op.module).producer(where) if where is not None else None
    tile = next((t for t in made.result_types if isinstance(t, TensorType)), None) if made is not None else None
    if tile is None or not isinstance(tile.layout, Blocked) or size is None or steps is None:
        return 1.0
    axis = tile.layout.order[0]
    step = steps.get(axis)
    elements = step.value(arguments) if step is not None else None
    if not elements or tile.layout.threads_per_warp[axis] < together:
        return 1.0
    apart = abs(elements) * tile.layout.size_per_thread[axis] * size
    if line % apart == 0:
        return max(1.0, together * apart / line)
    # The first lane may start anywhere in its cache line, so this is the mean over all start positions.
    return min(float(together), 1 + (together - 1) * apart / line)
