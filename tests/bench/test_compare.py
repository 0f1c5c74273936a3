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
