"""Sizes and knobs as text."""

import doctest
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.output import assignments, sizes

_SCALE = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def test_examples() -> None:
    """What the docstring says."""
    assert doctest.testmod(sizes).failed == 0


@given(st.integers(0, 10**18))
def test_a_size_is_right_to_half_a_percent(size: int) -> None:
    """No exponent, no unit that a larger one would replace."""
    number, unit = sizes.decimal_bytes(size).split(" ")
    assert re.fullmatch(r"\d+(\.\d+)?", number)
    assert float(number) * _SCALE[unit] == pytest.approx(size, rel=0.005)
    assert float(number) < 1000 or unit == "TB"


def test_knobs_are_written_in_their_order() -> None:
    """As options of the command line have them, or as a sentence does."""
    assert assignments.assigned({"BLOCK": 64, "num_warps": 4}) == "BLOCK=64 num_warps=4"
    assert assignments.assigned({"BLOCK": 64, "num_warps": 4}, ", ") == "BLOCK=64, num_warps=4"
    assert assignments.assigned({}) == ""
