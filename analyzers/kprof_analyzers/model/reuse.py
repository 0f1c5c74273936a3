"""Compute the distinct bytes that one XCD's workgroups load. If its L2 can hold them, repeated loads hit."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import repeat

from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes, tile
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.model.entries import ends
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.traffic import Access, extent
from kprof_analyzers.model.values import Value

_ENDS = 2
"""Number of iterations of an outer loop that are evaluated: the first and the last."""

Intervals = dict[int, list[list[tuple[int, int]]]]
"""Intervals of addresses of each workgroup, in elements, by element size in bytes."""


def of_one_xcd(
    found: Sequence[Access],
    evaluator: Evaluator,
    arguments: Mapping[str, object],
    times: Mapping[int | None, float],
    xcds: int,
) -> float | None:
    """Return the maximum over XCDs of the distinct bytes that an XCD's workgroups load in the whole launch.

    All bytes from a tile's first address to its last are counted. Outer loops are evaluated in their first and last
    iteration.

    Args:
        found: accesses of all workgroups of the launch, which are assigned to XCDs round-robin.
        evaluator: evaluator of these workgroups.
        arguments: numeric arguments of the launch, by name.
        times: number of times that a workgroup executes each loop's body.
        xcds: XCDs of the GPU.

    Returns:
        The bytes, or ``None`` if addresses are unknown.
    """
    loads = [a for a in found if is_load(a.operation) and a.times]
    count = len(evaluator.programs)
    places: Intervals = defaultdict(lambda: [[] for _ in range(count)])
    factor = 1.0
    together: dict[int | None, list[Access]] = defaultdict(list)
    for access in loads:
        together[access.operation.loop].append(access)
    for group in together.values():
        first = group[0].operation
        around = _around(first)
        for last in (False, True) if around else (False,):
            _enter(evaluator, first, around, last=last)
            for access in group:
                shape, size = tile(access.operation), element_bytes(access.operation)
                long = None if shape is None else extent(access.operation, shape, arguments)
                reached = None if long is None else _address_range(evaluator, access.operation)
                if long is None or size is None or reached is None:
                    return None
                _add(places[size], access, reached, long)
        if around:
            factor = max(factor, times.get(around[0].index, _ENDS) / _ENDS)
    return max(_different(places, range(xcd, count, xcds)) for xcd in range(xcds)) * factor


def _around(load: Operation) -> list[Operation]:
    """Return the loops around a load, innermost first; the load's own loop is included unless it is a ``scf.for``."""
    operations = load.module.operations
    loop = None if load.loop is None else operations[load.loop]
    found = [loop] if loop is not None and loop.name != "scf.for" else []
    while loop is not None and loop.loop is not None:
        loop = operations[loop.loop]
        found.append(loop)
    return found


def _enter(evaluator: Evaluator, load: Operation, around: Sequence[Operation], *, last: bool) -> None:
    """Set the loops in ``around`` to the first or last iteration, and the ``scf.for`` of the load to its first one."""
    for loop in reversed(around):
        evaluator.at(loop, last=last)
    own = None if load.loop is None else load.module.operations[load.loop]
    if own is not None and own.name == "scf.for":
        evaluator.at(own, last=False)


def _address_range(evaluator: Evaluator, load: Operation) -> tuple[Value, Value] | None:
    """Return the first and last address of a load in the current iteration of the outer loops."""
    evaluator.inside(load.loop)
    loop = None if load.loop is None else load.module.operations[load.loop]
    return ends(evaluator, load, evaluator.trips_here(loop) if loop is not None and loop.name == "scf.for" else None)


def _add(mine: list[list[tuple[int, int]]], access: Access, reached: tuple[Value, Value], long: int) -> None:
    one, two = (repeat(v, len(mine)) if isinstance(v, int) else v for v in reached)
    for n, (begin, end) in enumerate(zip(one, two, strict=True)):
        if access.live is None or access.live[n]:
            mine[n].append((min(begin, end), max(begin, end) + long))


def _different(places: Intervals, members: range) -> float:
    """Return the distinct bytes in the intervals of the workgroups in ``members``; overlaps count once."""
    total = 0
    for size, mine in places.items():
        reached = None
        for low, high in sorted({interval for n in members for interval in mine[n]}):
            begin = low if reached is None else max(low, reached)
            total += size * max(0, high - begin)
            reached = high if reached is None else max(high, reached)
    return float(total)
