"""What a finding is known by, whatever the line's number and the machine's folders."""

from pathlib import Path

import msgspec
import pytest

from kprof.document import KernelReport
from kprof.findings import Advice, Edit, Finding, Location, Severity
from kprof.gate import anchors
from kprof.gate.anchors import anchor, relative, relocated


def finding(file: object, line: int = 1, **others: object) -> Finding:
    """A finding on a line."""
    place = Location(file=str(file), line=line)
    return msgspec.structs.replace(Finding("KP1", "n", Severity.NOTE, "m", location=place), **others)


def test_the_text_of_the_line(tmp_path):
    """Without comment, indentation and runs of blanks; at most a hundred characters of it."""
    path = tmp_path / "k.py"
    path.write_text(f"first\n\t x  =   tl.load(p)  # kprof: ignore[KP101]\n{'y' * 150}\n")
    assert [anchor(finding(path, line)) for line in (1, 2, 3)] == ["first", "x = tl.load(p)", "y" * 100]


@pytest.mark.parametrize("line", [0, -1, 3])
def test_a_line_that_is_not_there_is_the_file_s_name(tmp_path, line):
    """As is a file that cannot be read."""
    path = tmp_path / "k2.py"
    path.write_text("a\nb\n")
    assert anchor(finding(path, line)) == "k2.py"
    assert anchor(finding(path, 2)) == "b"


def test_files_that_are_not_read(tmp_path, monkeypatch):
    """Folders, what is missing, and what no person wrote; bytes that are no text do not matter."""
    assert anchor(finding(tmp_path)) == tmp_path.name
    assert anchor(finding("a/no.py")) == "no.py"
    assert anchor(Finding("KP1", "n", Severity.NOTE, "m")) == ""
    (tmp_path / "odd.py").write_bytes(b"a \xff\n")
    assert anchor(finding(tmp_path / "odd.py")) == "a \ufffd"
    monkeypatch.setattr(anchors, "_MAX_BYTES", 4)
    for size, text in ((4, "x" * 4), (5, "5.py")):
        (tmp_path / f"{size}.py").write_text("x" * size)
        assert anchor(finding(tmp_path / f"{size}.py")) == text


def test_the_largest_source():
    """4 MiB."""
    assert anchors._MAX_BYTES == 4 << 20


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/r/kernels/a.py", "kernels/a.py"),
        ("/r2/a.py", "/r2/a.py"),
        ("kernels/a.py", "kernels/a.py"),
        ("/r", "/r"),
        ("\\r\\kernels\\a.py", "kernels/a.py"),
        ("/usr/lib/python3/site-packages/triton/language/core.py", "triton/language/core.py"),
        ("/usr/lib/python3/dist-packages/triton/core.py", "triton/core.py"),
        ("/a/site-packages/b/site-packages/c.py", "c.py"),
        ("a.py", "a.py"),
    ],
)
def test_paths_from_the_root(file, shown):
    """Or from where a library is installed."""
    assert relative(file, Path("/r")) == shown
    assert relative(file, Path("/r/")) == shown


def test_the_root_of_the_file_system():
    """As in a container: it is cut like any other."""
    assert relative("/a.py", Path("/")) == "a.py"


def test_a_report_without_the_machine_s_folders():
    """Every location, edit, key and text of it; the rest is the same object."""
    edit = Edit("/r/a.py", 3, "x", "y")
    advice = Advice("K", 1, 2, edit=edit)
    whole = finding(
        "/r/a.py",
        7,
        message="see /r/b.py and /r2/c.py",
        related=[Location("/x/site-packages/t/l.py", 2)],
        evidence={"/r/key": ["/r/v", 1, None, ("/r/t",)], "n": 1.5},
        advice=[advice],
    )
    report = KernelReport(name="k", arch="gfx942", findings=[whole], notes=["/r/n"])
    found = relocated(report, Path("/r"))
    (one,) = found.findings
    assert one.location == Location("a.py", 7)
    assert one.message == "see b.py and /r2/c.py"
    assert one.related == [Location("t/l.py", 2)]
    assert one.evidence == {"key": ["v", 1, None, ("t",)], "n": 1.5}
    assert one.advice[0].edit == Edit("a.py", 3, "x", "y")
    assert one.severity is Severity.NOTE
    assert found.notes == ["n"]
    assert relocated(Severity.ERROR, Path("/r")) is Severity.ERROR
    plain = Location("b.py", 1)
    assert relocated(plain, Path("/r")) == plain


def test_a_root_is_cut_as_it_is_named():
    """Whatever its last letter."""
    assert relative("/a~/k.py", Path("/a~")) == "k.py"
    assert relocated("in /a~/k.py", Path("/a~")) == "in k.py"


def test_twice_is_once(tmp_path, monkeypatch):
    """A report that was relocated is relocated again by what writes it, from a working folder that has such a path."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "a.py").write_text("")
    monkeypatch.chdir(tmp_path / "kernels")
    once = relative(str(tmp_path / "kernels" / "a.py"), tmp_path)
    assert (once, relative(once, tmp_path)) == ("kernels/a.py", "kernels/a.py")
