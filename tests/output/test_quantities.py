"""Times, sizes and knobs as text."""

import doctest
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.output import assignments, quantities

_SCALE = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def test_examples() -> None:
    """What the docstring says."""
    assert doctest.testmod(quantities).failed == 0


@given(st.integers(0, 10**18))
def test_a_size_is_right_to_half_a_percent(size: int) -> None:
    """No exponent, no unit that a larger one would replace."""
    number, unit = quantities.decimal_bytes(size).split(" ")
    assert re.fullmatch(r"\d+(\.\d+)?", number)
    assert float(number) * _SCALE[unit] == pytest.approx(size, rel=0.005)
    assert float(number) < 1000 or unit == "TB"


@given(st.floats(1.0, 1e8))
def test_a_time_is_right_to_half_a_percent(us: float) -> None:
    """Three digits, never a thousand of a unit that has a larger one."""
    number, unit = quantities.duration(us).split(" ")
    value = float(number.replace(",", ""))
    assert value * {"µs": 1.0, "ms": 1e3, "s": 1e6}[unit] == pytest.approx(us, rel=0.0051)
    assert value < 1000 or unit == "s"


@given(st.lists(st.floats(0.01, 1e8), min_size=1))
def test_a_column_hides_none_of_its_times(times: list[float]) -> None:
    """In its unit the shortest time has at least a hundredth."""
    _, size = quantities.column_unit(times)
    assert min(times) / size >= 0.001 or size == 1.0


def test_knobs_are_written_in_their_order() -> None:
    """As options of the command line have them, or as a sentence does."""
    assert assignments.assigned({"BLOCK": 64, "num_warps": 4}) == "BLOCK=64 num_warps=4"
    assert assignments.assigned({"BLOCK": 64, "num_warps": 4}, ", ") == "BLOCK=64, num_warps=4"
    assert assignments.assigned({}) == ""
