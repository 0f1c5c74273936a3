"""Compute a launch's cycles per element along an axis whose unknown extent makes the launch's time unknown."""

from collections.abc import Mapping
from dataclasses import dataclass

from kprof.document import LoopPrediction, Prediction
from kprof_analyzers.model.trips import RETRY

VALUES = "values of "
"""Prefix of a tensor's name in a list of missing inputs; it means that the tensor's contents are missing."""


@dataclass(frozen=True)
class ElementCost:
    """Cycles that the slowest CU needs for one additional element along an axis.

    Attributes:
        axis: argument that the axis's extent depends on, or tensor whose values determine it; several are joined by
            ``and``.
        cycles: cycles per element, summed over all rounds of workgroups, without code outside the loop. Launches with
            different tiles and grids can be compared by this number.
    """

    axis: str
    cycles: float


def element_cost(prediction: Prediction, depths: Mapping[str, int], *, without_grid: bool = False) -> ElementCost | str:
    """Return the cost per element, or the reason why it is unknown.

    Args:
        prediction: prediction of a launch with a loop whose iterations are unknown.
        depths: nesting depth of each loop by its header; 1 is outermost.
        without_grid: whether to return the cost for one wavefront if the grid is unknown.
    """
    if prediction.workgroups is None and not without_grid:
        return "the grid is not given"
    loops = prediction.loops
    cycles, axes = 0.0, set[str]()
    place = 0
    while place < len(loops):
        loop = loops[place]
        inside = _inner_loops(loops, place, depths)
        if loop.trips_known or loop.trips_from == RETRY:
            place += 1
            continue
        if any(not (inner.trips_known or inner.trips_from == RETRY) for inner in inside):
            return "the iterations of nested loops are not known"
        if not loop.elements_per_iteration or not loop.missing:
            return "the elements per iteration along its axis are not known"
        axes.add(" and ".join(name.removeprefix(VALUES) for name in loop.missing))
        around = loop.trips * loop.entries
        within = sum(inner.trips * inner.entries * inner.cycles_per_iteration for inner in inside)
        each = loop.cycles_per_iteration + (within / around if around else 0.0)
        cycles += loop.entries * each / loop.elements_per_iteration
        place += 1 + len(inside)
    if len(axes) != 1:
        return f"more than one size is unknown: {', '.join(sorted(axes))}" if axes else "no extent is unknown"
    return ElementCost(axes.pop(), cycles * max(1.0, prediction.rounds))


def _inner_loops(loops: list[LoopPrediction], place: int, depths: Mapping[str, int]) -> list[LoopPrediction]:
    """Return the loops inside a loop; they follow it in the list."""
    depth = depths.get(loops[place].header, 1)
    found = []
    for loop in loops[place + 1 :]:
        if depths.get(loop.header, 1) <= depth:
            break
        found.append(loop)
    return found
