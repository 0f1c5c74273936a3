"""Lines of code beside findings."""

import os

import pytest
from msgspec import UNSET

from kprof.findings import Location
from kprof.reporters._code_lines import code_at


@pytest.fixture
def source(tmp_path):
    """A file with an indented line, an empty one, a long one and one that would move the cursor."""
    file = tmp_path / "k.py"
    file.write_text("def k(x):\n    v = tl.load(x)\n\n" + "y = " + "1 + " * 40 + "1\n" + "z = '\x1b[2J'\n")
    return str(file)


def test_a_line_is_shown_with_its_number(source):
    """Without its indent."""
    assert code_at(Location(source, 2)) == "2  v = tl.load(x)"


@pytest.mark.parametrize("line", [0, 3, 4, 6, -1])
def test_no_line_where_there_is_none_to_show(source, line):
    """Before the first, empty, longer than a screen is wide, and behind the last."""
    assert code_at(Location(source, line)) == ""


def test_only_plain_files_of_python_are_read(tmp_path):
    """What debug information names may be anything."""
    (tmp_path / "secret.txt").write_text("secret\n")
    (tmp_path / "folder.py").mkdir()
    for name in ("secret.txt", "folder.py", "missing.py"):
        assert code_at(Location(str(tmp_path / name), 1)) == ""
    assert code_at(UNSET) == ""


def test_a_line_moves_no_cursor(source):
    """Control characters of a file are none of the terminal's."""
    assert "\x1b" not in code_at(Location(source, 5))
    assert code_at(Location(source, 5)).startswith("5  z = ")


def test_a_file_is_read_again_when_it_has_changed(tmp_path):
    """A notebook or a language server sees the same file before and after an edit."""
    path = tmp_path / "k.py"
    path.write_text("a = 1\n")
    assert code_at(Location(str(path), 1)) == "1  a = 1"
    path.write_text("b = 2\n")
    os.utime(path, ns=(0, 0))
    assert code_at(Location(str(path), 1)) == "1  b = 2"
    assert code_at(Location(f"{path}\0.py", 1)) == ""
