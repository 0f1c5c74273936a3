"""Two kernels whose source differs: the lines are named only if all of them are next to each other."""

import pytest

from kprof.diffing.source_lines import source_change
from kprof.findings import Location

OLD = """import triton


@triton.jit
def rowmax(
    x, y,
    N: tl.constexpr,
):
    row = tl.program_id(0)
    # A comment.
    v = tl.load(x + row * N)

    tl.store(y + row, v)


def other():
    return 1
"""


def change(tmp_path, new, old=OLD, line=4):
    before, after = tmp_path / "old.py", tmp_path / "new.py"
    before.write_text(old)
    after.write_text(new)
    return source_change(Location(str(before), 4), Location(str(after), line))


def test_one_line(tmp_path):
    """With the line on both sides, also where the new kernel stands further down, and whatever stands around it."""
    new = OLD.replace("row * N)", "row)").replace("return 1", "return 2")
    found = change(tmp_path, new)
    assert [(place.file.rpartition("/")[2], place.line) for place in (found.old, found.new)] == [
        ("old.py", 11), ("new.py", 11),
    ]  # fmt: skip
    assert (found.old_lines, found.new_lines) == (1, 1)
    further = change(tmp_path, "\n\n" + new, line=6)
    assert (further.old.line, further.new.line) == (11, 13)


def test_a_stretch_may_have_more_lines_on_one_side(tmp_path):
    found = change(tmp_path, OLD.replace("    v = tl.load(x + row * N)\n", "    at = row\n    v = tl.load(x + at)\n"))
    assert (found.old.line, found.old_lines, found.new.line, found.new_lines) == (11, 1, 11, 2)


LONG = "def k():\n    first = 1\n" + "    pass\n" * 997 + "    last = 1\n"


def test_a_function_may_have_a_thousand_lines(tmp_path):
    """Alike lines, of which difflib leaves out common ones by itself, do not hide a single change."""
    before, after = tmp_path / "old.py", tmp_path / "new.py"
    before.write_text(LONG)
    after.write_text(LONG.replace("first = 1\n    pass\n    pass", "first = 1\n    pass\n    x = 3"))
    found = source_change(Location(str(before), 1), Location(str(after), 1))
    assert (found.old.line, found.old_lines, found.new.line, found.new_lines) == (4, 1, 4, 1)
    after.write_text(LONG.replace("last = 1", "last = 1\n    more = 1").replace("first = 1", "first = 2"))
    assert source_change(Location(str(before), 1), Location(str(after), 1)) is None
    longer = LONG.replace("last = 1", "last = 1\n    more = 1")
    (tmp_path / "longer.py").write_text(longer)
    (tmp_path / "other.py").write_text(longer.replace("first = 1", "first = 2"))
    sides = [Location(str(tmp_path / name), 1) for name in ("longer.py", "other.py")]
    assert source_change(*sides) is None


def test_files_of_four_mebibytes_are_read(tmp_path):
    for size, said in ((3 << 20, True), ((4 << 20) - 1000, True), ((4 << 20) + 1000, False)):
        tail = "x = 1\n" * (size // 6)
        assert (change(tmp_path, OLD.replace("row * N)", "row)") + tail) is not None) == said


def test_bytes_that_are_no_text_are_no_hindrance(tmp_path):
    before, after = tmp_path / "old.py", tmp_path / "new.py"
    for path, text in ((before, OLD), (after, OLD.replace("row * N)", "row)"))):
        path.write_bytes(text.encode().replace(b"A comment", b"\xff"))
    assert source_change(Location(str(before), 4), Location(str(after), 4)).new.line == 11


def test_a_comment_at_the_margin_does_not_end_a_function(tmp_path):
    old = OLD.replace("    # A comment.", "# A comment.")
    assert change(tmp_path, old.replace("row * N)", "row)"), old).new.line == 11
    assert change(tmp_path, old.replace("program_id(0)", "program_id(1)").replace("y + row", "y"), old) is None


@pytest.mark.parametrize(
    "new",
    [
        OLD,
        OLD.replace("return 1", "return 2"),
        OLD.replace("row * N)", "row)").replace("y + row", "y"),
        OLD.replace("    # A comment.\n", ""),
        OLD.replace("    # A comment.\n", "    # A comment.\n    # Another.\n"),
        "",
        "x = 1\n" * 5000,
        OLD.replace("row * N)", "row)" + "\n    pass" * 1000),
    ],
    ids=["same", "another function", "two places", "a line less", "a line more", "empty", "no function", "too long"],
)
def test_nothing_is_said_of_anything_else(tmp_path, new):
    assert change(tmp_path, new) is None


def test_a_source_that_is_not_at_hand(tmp_path):
    here = tmp_path / "here.py"
    here.write_text(OLD)
    gone = Location(str(tmp_path / "gone.py"), 4)
    assert source_change(gone, Location(str(here), 4)) is None
    assert source_change(Location(str(here), 4), gone) is None
    assert source_change(Location(str(here), 400), Location(str(here), 4)) is None
