"""How far shapes are apart."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.tuning.choice.distance import distance, gap, too_far


@given(st.dictionaries(st.sampled_from("ABC"), st.integers(1, 1 << 20), min_size=1), st.data())
def test_distance_is_symmetric_and_bounded(shape: dict[str, int], data: st.DataObject) -> None:
    """The sum of absolute log2 ratios, each at most 1."""
    other = {name: data.draw(st.integers(1, 1 << 20)) for name in shape}
    expected = [abs(log2(shape[n] / other[n])) for n in shape]

    found = distance(shape, other)

    assert found == distance(other, shape)
    assert distance(shape, shape) == 0
    if found is None:
        assert max(expected) > 1 - 1e-9
    else:
        assert found == pytest.approx(sum(expected), abs=1e-9)


@pytest.mark.parametrize(("left", "right"), [(0, 0), (-1, -1)])
def test_zero_and_negative_numbers_have_to_be_equal(left: int, right: int) -> None:
    """They have no logarithm."""
    assert distance({"A": left}, {"A": right}) == 0
    assert distance({"A": left}, {"A": 1}) is None
    assert distance({"A": True}, {"A": 1}) is None


@given(st.dictionaries(st.sampled_from("ABC"), st.integers(1, 1 << 20), min_size=1), st.data())
def test_near_is_the_largest_ratio(shape: dict[str, int], data: st.DataObject) -> None:
    """A gap is also known of shapes that are not near."""
    other = {name: data.draw(st.integers(1, 1 << 20)) for name in shape}
    found = gap(shape, other)

    assert found is not None
    assert found.near == (max(abs(log2(shape[n]) - log2(other[n])) for n in shape) <= 1)
    assert found.largest <= found.total + 1e-9


def test_what_is_too_far_is_named_with_its_numbers() -> None:
    """The nearest one; of another dtype none."""
    known = [("far", {"M": 8, "dtype": "fp16"}), ("less far", {"M": 256, "dtype": "fp16"})]

    found = too_far({"M": 4096, "dtype": "fp16"}, known)

    assert found is not None
    assert "less far" in found
    assert "M=4096 for 256" in found
    assert too_far({"M": 4096, "dtype": "bf16"}, known) is None
