"""Lines of MLIR without their positions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.inputs.mlir.text import without_location


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("%0 = tt.load %p : !tt.ptr<f32> loc(#loc3)", "%0 = tt.load %p : !tt.ptr<f32>"),
        ('@k(%a: i32 {tt.x = 1 : i32} loc("a"(#loc)), %b: i32 loc(unknown))', "@k(%a: i32 {tt.x = 1 : i32}, %b: i32)"),
        ('} loc(callsite("f"(#loc2) at #loc1))', "}"),
        ("%0 = x.y loc(", "%0 = x.y loc("),
        ("module {", "module {"),
    ],
)  # fmt: skip
def test_what_is_left(line, shown):
    assert without_location(line) == shown


@given(st.text(alphabet='loc(#1) "<>\\a', max_size=80))
def test_only_positions_go(line):
    """The rest stays as it is and in order; twice is as good as once."""
    once = without_location(line)
    assert without_location(once) == once
    assert len(once) <= len(line)
    assert " loc(" in line or once == line
