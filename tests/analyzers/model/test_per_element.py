"""Cycles for an element of an axis whose extent is not known."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.document import LoopPrediction, Prediction
from kprof_analyzers.model.per_element import VALUES, ElementCost, element_cost
from kprof_analyzers.model.trips import RETRY

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
        (prediction(msgspec.structs.replace(OUTER, elements_per_iteration=None)), "the elements per iteration"),
        (prediction(msgspec.structs.replace(OUTER, missing=[])), "the elements per iteration"),
        (prediction(OUTER, msgspec.structs.replace(OUTER, header="inner")), "iterations of nested loops"),
        (
            prediction(OUTER, msgspec.structs.replace(OUTER, header="other", missing=["n"])),
            "more than one size is unknown: lengths, n",
        ),
    ],
)
def test_where_there_is_none_it_says_why(launch: Prediction, words: str) -> None:
    """Nothing is made up."""
    found = element_cost(launch, DEPTHS)
    assert isinstance(found, str)
    assert words in found


def test_iterations_of_a_retry_are_known() -> None:
    """A compare-and-swap that succeeds at once: it is neither the loop asked for, nor one of unknown length in it."""
    retry = msgspec.structs.replace(INNER, header="inner", trips_known=False, trips_from=RETRY)
    found = element_cost(prediction(OUTER, retry), DEPTHS)
    assert isinstance(found, ElementCost)
    # 100 cycles of 64 elements, and in each of 16 iterations 3 of 10 cycles.
    assert found.cycles == (100 + 3 * 10) / 64
    assert element_cost(prediction(retry), DEPTHS) == "no extent is unknown"


def test_several_loops_of_one_extent_add_up() -> None:
    """Two loops over the same axis, one after the other, of which the first is entered three times."""
    first = msgspec.structs.replace(OUTER, entries=3.0)
    second = msgspec.structs.replace(OUTER, header="other", cycles_per_iteration=20.0, elements_per_iteration=8.0)
    found = element_cost(prediction(first, second), DEPTHS)
    assert found == ElementCost("lengths", 3 * 100 / 64 + 20 / 8)
    # A loop in the first one belongs to it, and one in the second to that.
    nested = msgspec.structs.replace(INNER, entries=48.0)
    found = element_cost(prediction(first, nested, second, INNER), DEPTHS)
    assert isinstance(found, ElementCost)
    assert found.cycles == 3 * (100 + 3 * 10) / 64 + (20 + 3 * 10) / 8


def test_loops_in_a_loop_in_it_count_too() -> None:
    """Depths 1, 2, 3 and then 2 again; a loop without a known depth is an outermost one."""
    depths = {"outer": 1, "inner": 2, "innermost": 3}
    innermost = msgspec.structs.replace(INNER, header="innermost", entries=48.0, trips=2.0)
    after = msgspec.structs.replace(INNER, header="unheard of", cycles_per_iteration=1e6)
    found = element_cost(prediction(OUTER, INNER, innermost, INNER, after), depths)
    assert isinstance(found, ElementCost)
    assert found.cycles == (100 + 3 * 10 + 3 * 2 * 10 + 3 * 10) / 64


def test_rounds_are_done_one_after_the_other() -> None:
    """A launch of less than a round takes as long as one."""
    costs = [element_cost(prediction(OUTER, rounds=rounds), DEPTHS) for rounds in (0.5, 1.0, 2.5)]
    assert costs == [ElementCost("lengths", rounds * 100 / 64) for rounds in (1, 1, 2.5)]


def test_several_names_are_one_axis_where_one_loop_depends_on_them() -> None:
    """An argument, and values of a tensor, which lose what stands before their name."""
    both = msgspec.structs.replace(OUTER, missing=["n", f"{VALUES}lengths"])
    found = element_cost(prediction(both), DEPTHS)
    assert found == ElementCost("n and lengths", 100 / 64)


def test_without_a_grid_there_is_the_cost_of_a_wavefront_where_it_is_asked_for() -> None:
    launch = prediction(OUTER, workgroups=None)
    assert element_cost(launch, DEPTHS, without_grid=True) == ElementCost("lengths", 100 / 64)
    assert element_cost(prediction(OUTER), DEPTHS) == ElementCost("lengths", 100 / 64)


def test_a_loop_that_is_never_entered_costs_nothing() -> None:
    """Nor is anything divided by its iterations, of which there are none."""
    never = msgspec.structs.replace(OUTER, trips=0.0)
    idle = msgspec.structs.replace(INNER, entries=0.0)
    assert element_cost(prediction(never, idle), DEPTHS) == ElementCost("lengths", 100 / 64)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ([["n"], [f"{VALUES}lengths"]], "more than one size is unknown: lengths, n"),
        ([["b"], ["a"], ["c"]], "more than one size is unknown: a, b, c"),
        ([], "no extent is unknown"),
    ],
)
def test_the_reason_names_every_extent(missing: list[list[str]], words: str) -> None:
    loops = [msgspec.structs.replace(OUTER, header=f"L{n}", missing=names) for n, names in enumerate(missing)]
    assert element_cost(prediction(*loops), {}) == words


def test_each_reason_is_a_sentence_of_its_own() -> None:
    """As the command line shows them."""
    open_inside = msgspec.structs.replace(INNER, trips_known=False)
    assert [
        element_cost(prediction(OUTER, workgroups=None), DEPTHS),
        element_cost(prediction(OUTER, open_inside), DEPTHS),
        element_cost(prediction(msgspec.structs.replace(OUTER, missing=[])), DEPTHS),
    ] == [
        "the grid is not given",
        "the iterations of nested loops are not known",
        "the elements per iteration along its axis are not known",
    ]
