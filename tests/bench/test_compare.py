"""Comparing results with a reference."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="comparing tensors needs torch")

from kprof.bench.compare import compare, compare_all, describe, is_right  # noqa: E402


def test_equal_tensors_are_right_with_no_tolerance() -> None:
    """Infinities and NaN in the same place are equal too."""
    values = torch.tensor([1.0, -2.0, math.inf, -math.inf, math.nan])

    error = compare(values, values.double(), (0.0, 0.0))

    assert is_right(error)
    assert (error.max_absolute, error.mismatched, error.elements) == (0.0, 0, 5)


def test_worst_element_is_named() -> None:
    """Index, both values and the number of wrong elements are what a person needs to start looking."""
    expected = torch.arange(24, dtype=torch.float64).reshape(2, 3, 4)
    got = expected.clone()
    got[1, 2, 0] += 0.5
    got[0, 1, 1] += 4.0

    error = compare(got, expected, (0.0, 0.1), "out")

    assert not is_right(error)
    assert (error.index, error.got, error.expected) == ([0, 1, 1], 9.0, 5.0)
    assert error.mismatched == 2
    assert error.worst_ratio == pytest.approx(40)
    assert describe(error).startswith(
        "out (2, 3, 4): 2 of 24 elements are wrong; worst is out[0, 1, 1]: expected 5, got 9"
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_nan_and_infinity_never_pass(bad: float) -> None:
    """Whatever the tolerance."""
    error = compare(torch.tensor([1.0, bad]), torch.tensor([1.0, 2.0]), (1e9, 1e9))

    assert not is_right(error)
    assert error.index == [1]
    assert "inf or nan" in describe(error)


def test_another_shape_is_wrong() -> None:
    """No broadcasting."""
    error = compare(torch.zeros(3, 1), torch.zeros(3), (1.0, 1.0), "y")

    assert not is_right(error)
    assert "shape (3, 1)" in describe(error)


def test_only_common_outputs_are_compared() -> None:
    """A provider may leave out what it does not compute, but not everything."""
    reference = {"y": torch.zeros(2), "mean": torch.zeros(1)}

    assert [e.output for e in compare_all({"y": torch.zeros(2)}, reference, (0.0, 0.0))] == ["y"]
    with pytest.raises(ValueError, match="no output to compare"):
        compare_all({"z": torch.zeros(2)}, reference, (0.0, 0.0))


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.lists(st.floats(-1e6, 1e6), min_size=30, max_size=30),
    st.floats(0, 1),
    st.floats(1e-6, 1),
)
def test_agrees_with_the_definition(got: list[float], expected: list[float], rtol: float, atol: float) -> None:
    """An element is wrong exactly when its difference is beyond ``atol + rtol * |expected|``."""
    expected = expected[: len(got)]
    wrong = [abs(g - e) / (atol + rtol * abs(e)) > 1 for g, e in zip(got, expected, strict=True)]

    error = compare(torch.tensor(got, dtype=torch.float64), torch.tensor(expected, dtype=torch.float64), (rtol, atol))

    assert error.mismatched == sum(wrong)
    assert is_right(error) == (not any(wrong))
    assert error.max_absolute == max(abs(g - e) for g, e in zip(got, expected, strict=True))


def test_the_relative_error_is_that_of_norms_over_what_is_finite() -> None:
    """Differences 3 and 4 against values 0 and 10 give 0.5; infinities on both sides add nothing."""
    expected = torch.tensor([0.0, 10.0, math.inf, -math.inf])
    error = compare(torch.tensor([3.0, 14.0, math.inf, -math.inf]), expected, (0.0, 0.0))
    assert error.relative == 0.5
    assert error.max_absolute == 4.0
    wrong = compare(torch.tensor([3.0, 14.0, 7.0, math.inf]), expected, (0.0, 0.0))
    assert (wrong.relative, wrong.max_absolute, wrong.mismatched) == (0.5, None, 4)
    assert compare(torch.ones(2), torch.zeros(2), (0.0, 1.0)).relative is None


def test_exactly_at_the_tolerance_is_right_and_without_one_nothing_else_is() -> None:
    assert is_right(compare(torch.tensor([1.5]), torch.tensor([1.0]), (0.0, 0.5)))
    assert not is_right(compare(torch.tensor([1.5 + 1e-6]), torch.tensor([1.0]), (0.0, 0.5)))
    error = compare(torch.tensor([1.0, 2.5]), torch.tensor([1.0, 2.0]), (0.0, 0.0), "y")
    assert (error.mismatched, error.worst_ratio, error.index) == (1, None, [1])
    assert describe(error) == (
        "y (2,): 1 of 2 elements are wrong; worst is y[1]: expected 2, got 2.5 (not a number: 0 + 0 x |expected|)"
    )
    one = compare(torch.tensor([1.0, 9.0]), torch.tensor([1.0, 2.0]), (0.5, 1.0), "y")
    assert describe(one) == (
        "y (2,): 1 of 2 elements are wrong; worst is y[1]: expected 2, got 9 (3.5 times the tolerance: "
        "1 + 0.5 x |expected|)"
    )


def test_what_there_is_is_named_where_nothing_is_in_common() -> None:
    with pytest.raises(ValueError, match=r"^no output to compare: got \['z'\], the reference has \['mean', 'y'\]$"):
        compare_all({"z": torch.zeros(2)}, {"y": torch.zeros(2), "mean": torch.zeros(1)}, (0.0, 0.0))


def test_the_worst_of_several_slabs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tensors are compared piece by piece: counts, sums and the worst place are those of the whole."""
    import kprof.bench.compare as module

    monkeypatch.setattr(module, "_SLAB", 4)
    expected = torch.ones(2, 5)
    got = expected.clone()
    got[0, 1], got[1, 3], got[1, 4] = 2.0, 5.0, 3.0
    error = compare(got, expected, (0.0, 0.5))
    assert (error.mismatched, error.index, error.got, error.max_absolute) == (3, [1, 3], 5.0, 4.0)
    assert error.relative == pytest.approx((21 / 10) ** 0.5)


def test_nan_is_right_where_nan_is_expected_alone() -> None:
    """Both or none: a number in its place, or it in a number's, is beyond any tolerance."""
    expected = torch.tensor([math.nan, math.nan, 1.0, 1.0])
    error = compare(torch.tensor([math.nan, 1.0, math.nan, 1.0]), expected, (1.0, 1.0))
    assert (error.mismatched, error.worst_ratio, error.index) == (2, None, [1])
    assert is_right(compare(torch.tensor([math.nan]), torch.tensor([math.nan]), (0.0, 0.0)))


def test_of_equal_outputs_the_first_element_is_shown() -> None:
    """A ratio of 0 is a worst one, too."""
    error = compare(torch.tensor([[3.0, 4.0]]), torch.tensor([[3.0, 4.0]]), (0.0, 0.0))
    assert (error.worst_ratio, error.index, error.got, error.expected) == (0.0, [0, 0], 3.0, 3.0)
    assert (error.max_absolute, error.relative, error.elements) == (0.0, 0.0, 2)


def test_an_infinite_result_does_not_hide_how_far_the_others_are() -> None:
    """Differences 3 and 4 against values 0, 10 and 5."""
    error = compare(torch.tensor([3.0, 14.0, math.inf]), torch.tensor([0.0, 10.0, 5.0]), (0.0, 0.0))
    assert error.relative == pytest.approx((25 / 125) ** 0.5)
    assert (error.max_absolute, error.mismatched) == (None, 3)


def test_outputs_without_elements_are_right() -> None:
    """Nothing can differ; of another shape they are wrong all the same."""
    error = compare(torch.zeros(0, 3), torch.zeros(0, 3), (0.0, 0.0))
    assert is_right(error)
    assert (error.max_absolute, error.relative, error.worst_ratio, error.index) == (0.0, None, 0.0, [])
    assert (error.got, error.expected, error.mismatched, error.elements) == (None, None, 0, 0)
    assert not is_right(compare(torch.zeros(0, 2), torch.zeros(0, 3), (0.0, 0.0)))
