"""Records of a CSV text."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.inputs.csv_records import records


@given(st.lists(st.lists(st.text(st.characters(blacklist_characters="\0\r\n")), min_size=2), min_size=1))
def test_records_are_those_that_were_written(rows):
    """Whatever the csv module writes comes back."""
    lines: list[str] = []
    writer = csv.writer(type("Lines", (), {"write": staticmethod(lines.append)}))
    writer.writerows(rows)
    assert list(records(lines, "x.csv")) == rows


def test_zero_bytes_become_a_mark():
    """Every Python reads them alike."""
    assert list(records(["a,\0b"], "x.csv")) == [["a", "\N{REPLACEMENT CHARACTER}b"]]


def test_a_field_without_end_is_told_with_its_line():
    """The csv module's limit becomes a message with the place."""
    before = csv.field_size_limit(1000)
    try:
        lines = ["a,b", 'c,"' + "x" * 2000 + '"']
        found = records(lines, "x.csv", first=5)
        assert next(found) == ["a", "b"]
        with pytest.raises(KprofError) as caught:
            next(found)
        with pytest.raises(KprofError) as counted:
            list(records(lines, "x.csv"))
    finally:
        csv.field_size_limit(before)
    assert (caught.value.path, caught.value.place) == ("x.csv", "line 6")
    assert counted.value.place == "line 2"
    assert caught.value.message.startswith("cannot be read as CSV: field ")
