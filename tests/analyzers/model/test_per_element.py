"""Cycles for an element of an axis whose extent is not known."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.document import LoopPrediction, Prediction
from kprof_analyzers.model.per_element import ElementCost, element_cost

OUTER = LoopPrediction(
    "outer", 16.0, trips_known=False, trips_from="assumed", cycles_per_iteration=100.0, missing=["values of lengths"],
    elements_per_iteration=64.0,
)  # fmt: skip
INNER = LoopPrediction(
    "inner", 3.0, trips_known=True, trips_from="launch", cycles_per_iteration=10.0, entries=16.0
)  # fmt: skip
DEPTHS = {"outer": 1, "inner": 2, "other": 1}


def prediction(*loops: LoopPrediction, rounds: float = 1.0, workgroups: int | None = 304) -> Prediction:
    """A launch with these loops."""
    return Prediction(
        None, None, None, None, "memory bandwidth", {}, loops=list(loops), workgroups=workgroups, rounds=rounds
    )  # fmt: skip


@given(st.floats(1, 1000), st.integers(1, 10_000), st.integers(1, 500), st.integers(1, 64))
def test_it_is_the_slope_of_the_whole(cycles: float, elements: int, trips: int, rounds: int) -> None:
    """What one more element adds to all cycles, however many iterations were assumed."""
    loop = msgspec.structs.replace(
        OUTER, cycles_per_iteration=cycles, elements_per_iteration=float(elements), trips=float(trips)
    )
    inner = msgspec.structs.replace(INNER, entries=float(trips))

    def whole(extent: int) -> float:
        return rounds * extent / elements * (cycles + inner.trips * inner.cycles_per_iteration)

    found = element_cost(prediction(loop, inner, rounds=rounds), DEPTHS)
    assert isinstance(found, ElementCost)
    assert found.axis == "lengths"
    assert found.cycles == pytest.approx((whole(3 * elements) - whole(elements)) / (2 * elements))


def test_a_loop_beside_it_does_not_count() -> None:
    """It takes as long whatever the extent is."""
    beside = msgspec.structs.replace(INNER, header="other")
    assert element_cost(prediction(beside, OUTER), DEPTHS) == element_cost(prediction(OUTER), DEPTHS)


@pytest.mark.parametrize(
    ("launch", "words"),
    [
        (prediction(OUTER, workgroups=None), "the grid is not given"),
        (prediction(msgspec.structs.replace(OUTER, elements_per_iteration=None)), "how far an iteration goes"),
        (prediction(msgspec.structs.replace(OUTER, missing=[])), "how far an iteration goes"),
        (prediction(OUTER, msgspec.structs.replace(OUTER, header="inner")), "loops in each other"),
        (
            prediction(OUTER, msgspec.structs.replace(OUTER, header="other", missing=["n"])),
            "more than one extent is not known: lengths, n",
        ),
    ],
)
def test_where_there_is_none_it_says_why(launch: Prediction, words: str) -> None:
    """Nothing is made up."""
    found = element_cost(launch, DEPTHS)
    assert isinstance(found, str)
    assert words in found
