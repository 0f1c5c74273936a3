"""Values that options take as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs.assignments import assignments, listed, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64", 64),
        ("0x40", 64),
        ("-1", -1),
        ("1e-3", 1e-3),
        ("TRUE", True),
        ("False", False),
        ("none", None),
        (" fp16 ", "fp16"),
        ("nan", "nan"),
        ("-inf", "-inf"),
        ("1e400", "1e400"),
        ("9" * 400, int("9" * 400)),
        ("", ""),
    ],
)
def test_value(text: str, value: object) -> None:
    """Numbers where they are numbers that a knob can have, else the text."""
    found = value_of(text)
    assert found == value
    assert type(found) is type(value)


@given(st.text(st.characters(exclude_characters=",=", exclude_categories=("Z", "C")), min_size=1))
def test_what_is_given_twice_alike_is_no_conflict(text: str) -> None:
    """Every value equals itself, ``nan`` too."""
    assert assignments([f"A={text}", f"A={text}"], "--shape") == {"A": value_of(text)}


def test_what_is_given_twice_otherwise_is_refused() -> None:
    with pytest.raises(KprofError, match="--shape gives A twice, as 'nan' and 1"):
        assignments(["A=nan,A=1"], "--shape")


@pytest.mark.parametrize("item", ["A", "=1", " =1", "A=1,B", "A:1"])
def test_what_names_nothing_or_gives_nothing_is_refused(item: str) -> None:
    """With the part that is wrong, as it was written."""
    wrong = item.rpartition(",")[2].strip()
    with pytest.raises(KprofError) as told:
        assignments([item], "--shape")
    assert told.value.message == f"--shape takes NAME=VALUE, got {wrong!r}"


def test_parts_of_a_list() -> None:
    """In order, each once, without empty ones."""
    assert listed(" b,a ,, b,c d") == ["b", "a", "c d"]
