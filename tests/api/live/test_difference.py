"""A stage of two configurations side by side, and what the listing tells of instructions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kprof
from kprof.api.live.difference import aligned, difference
from kprof.api.live.listings import listing
from kprof.api.live.questions import ask

LINES = st.lists(st.sampled_from(["a", "b", "c", "%1 = d", "  ", "; words"]), max_size=40)
PLAIN = {"arch": "MI300X", "case": "d256_s512"}


def numbered(texts):
    return [(number, [["", text]]) for number, text in enumerate(texts, 1)]


@given(LINES, LINES)
def test_each_line_is_in_a_row_or_counted(old, new):
    """Of either side, in order; lines that say nothing apart."""
    rows = aligned(numbered(old), numbered(new))
    hidden = sum(row[1] for row in rows if row[0] == "gap")
    for side, texts in ((1, old), (3, new)):
        shown = [row[side] for row in rows if row[0] != "gap" and row[side] is not None]
        assert shown == sorted(shown)
        assert len(shown) + hidden == sum(text not in {"  ", "; words"} for text in texts)
    assert all(row[0] != "changed" for row in aligned(numbered(old), numbered(old)))


def test_names_of_values_and_registers_are_no_difference():
    """They follow from what was compiled before; opcodes, types and immediates are what differs."""
    old = numbered(["  %1 = arith.addf %0, %x : f32", "v_add_f32 v1, v2, v[3:4] ; k.py:3", "s_add_u32 s1, s2, 4"])
    new = numbered(["  %7 = arith.addf %5, %y : f32", "v_add_f32 v9, v8, v[5:6]", "s_add_u32 s1, s2, 8"])
    assert [row[0] for row in aligned(old, new)] == ["same", "same", "changed"]


def test_of_long_equal_stretches_some_lines_are_shown():
    """Three before and behind each change."""
    old = [f"l{number}" for number in range(40)]
    rows = aligned(numbered(old), numbered([*old[:20], "new", *old[20:]]))
    assert [row[0] for row in rows] == ["gap", *["same"] * 3, "changed", *["same"] * 3, "gap"]
    assert (rows[0][1], rows[-1][1]) == (17, 17)
    assert rows[4][1:] == (None, None, 21, [["", "new"]])


@pytest.mark.triton
def test_two_configurations_of_attention():
    """Their tiles stand beside each other; one does not differ from itself."""
    sides = [{**PLAIN, "config": {"BLOCK_M": block}} for block in (32, 64)]
    found = difference("flash_attention", "ttgir", *sides)
    texts = [["".join(text for _, text in pieces or ()) for pieces in (row[2], row[4])] for row in found.rows]
    assert any("tensor<32x256xf32" in old and "tensor<64x256xf32" in new for old, new in texts)
    assert found.changed == sum(row[0] == "changed" for row in found.rows) > 0
    assert difference("flash_attention", "amdgcn", sides[0], sides[0]).changed == 0


@pytest.mark.triton
def test_instructions_say_what_they_wait_for_and_how_many_registers_live():
    """The line that a wait names holds the load; the peak of live VGPRs is the document's."""
    found = listing("flash_attention", "amdgcn", **PLAIN)
    text = {line[0]: "".join(part for _, part in line[1]) for line in found.lines}
    waits = [re.search(r"waits for (\S+) of line (\d+)", line[5]) for line in found.lines if "waits for" in line[5]]
    assert len(waits) > 3
    assert all(wait[1] in text[int(wait[2])] for wait in waits)
    peak = kprof.analyze("flash_attention", **PLAIN).kernels[0].pressure["vgpr"].live
    assert max(line[6] or 0 for line in found.lines) == peak


@pytest.mark.triton
def test_a_change_of_a_larger_tile_says_what_it_is_of():
    """As many instructions for twice the rows is better: without the note it would read as no change."""
    changes = ask("compare", {"target": "flash_attention", "old": {}, "new": {"config": {"BLOCK_M": 128}}, **PLAIN})[
        "changes"
    ]
    same = [change for change in changes if change["old"] == change["new"]]
    assert same
    assert all("times the work" in change["note"] for change in same)
