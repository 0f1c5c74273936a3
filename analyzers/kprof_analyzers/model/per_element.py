"""What a launch costs for each element of an axis whose extent is not known: cycles, where there can be no time."""

from collections.abc import Mapping
from dataclasses import dataclass

from kprof.document import LoopPrediction, Prediction
from kprof_analyzers.model.trips import RETRY

VALUES = "values of "
"""What stands before a tensor's name where its contents are missing."""


@dataclass(frozen=True)
class ElementCost:
    """Cycles of the CU that works longest for one more element.

    Attributes:
        axis: what the extent depends on: an argument, or the tensor whose values decide; several with ``and``.
        cycles: cycles for one element, all rounds of workgroups together. Launches with other tiles and another grid
            can be compared by it; what is done outside the loop is left out.
    """

    axis: str
    cycles: float


def element_cost(prediction: Prediction, depths: Mapping[str, int], *, without_grid: bool = False) -> ElementCost | str:
    """The cost of an element, or why there is none, in words.

    Args:
        prediction: of a launch in which some loop's iterations are not known.
        depths: header of each loop to its nesting, 1 is outermost.
        without_grid: also answer where the grid is not known: with the cost for one wavefront.
    """
    if prediction.workgroups is None and not without_grid:
        return "the grid is not given"
    loops = prediction.loops
    cycles, axes = 0.0, set[str]()
    place = 0
    while place < len(loops):
        loop = loops[place]
        inside = _inside(loops, place, depths)
        if loop.trips_known or loop.trips_from == RETRY:
            place += 1
            continue
        if any(not (inner.trips_known or inner.trips_from == RETRY) for inner in inside):
            return "loops in each other iterate a number of times that is not known"
        if not loop.elements_per_iteration or not loop.missing:
            return "how far an iteration goes along its axis is not known"
        axes.add(" and ".join(name.removeprefix(VALUES) for name in loop.missing))
        around = loop.trips * loop.entries
        within = sum(inner.trips * inner.entries * inner.cycles_per_iteration for inner in inside)
        each = loop.cycles_per_iteration + (within / around if around else 0.0)
        cycles += loop.entries * each / loop.elements_per_iteration
        place += 1 + len(inside)
    if len(axes) != 1:
        return f"more than one extent is not known: {', '.join(sorted(axes))}" if axes else "no loop depends on one"
    return ElementCost(axes.pop(), cycles * max(1.0, prediction.rounds))


def _inside(loops: list[LoopPrediction], place: int, depths: Mapping[str, int]) -> list[LoopPrediction]:
    """Loops that stand in another one; they follow it."""
    depth = depths.get(loops[place].header, 1)
    found = []
    for loop in loops[place + 1 :]:
        if depths.get(loop.header, 1) <= depth:
            break
        found.append(loop)
    return found
