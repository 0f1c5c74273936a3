"""Ignore comments on source lines."""

from dataclasses import dataclass
from types import SimpleNamespace

from kprof.findings import Finding, Location, Severity
from kprof_analyzers.suppressions import apply, comments

SOURCE = """x = 1
y = load(x)  # kprof: ignore[KP101, full-drain] the mask is the point here
z = 3  # kprof: ignore[KP301]
w = 4  # kprof: ignore[KP204]
"""


@dataclass(frozen=True)
class Frame:
    """A source position."""

    file: str
    line: int
    in_library: bool = False


def program(path, *lines):
    """A program with code of these lines."""
    sources = [SimpleNamespace(frames=(Frame(str(path), line),)) for line in lines]
    return SimpleNamespace(instructions=[SimpleNamespace(source=source) for source in sources])


def finding(rule, name, path, line):
    """A finding on a line."""
    return Finding(rule, name, Severity.WARNING, "words", Location(str(path), line))


def test_a_rule_is_silenced_by_identifier_and_by_name(tmp_path):
    """The finding moves, with the reason."""
    path = tmp_path / "k.py"
    path.write_text(SOURCE)
    found = [finding("KP101", "narrow-global-load", path, 2), finding("KP204", "full-drain", path, 2)]
    kept, silenced = apply(found, program(path, 1, 2))
    assert kept == []
    assert [s.finding.rule for s in silenced] == ["KP101", "KP204"]
    assert {s.reason for s in silenced} == {"the mask is the point here"}


def test_other_rules_and_other_lines_stay(tmp_path):
    """An ignore holds for its line and its rules alone."""
    path = tmp_path / "k.py"
    path.write_text(SOURCE)
    found = [finding("KP301", "spill-in-loop", path, 2), finding("KP101", "narrow-global-load", path, 1)]
    kept, silenced = apply(found, program(path, 1))
    assert kept == found
    assert silenced == []


def test_an_ignore_that_silences_nothing_is_reported(tmp_path):
    """Only where the program has code: other kernels of the file are not this one's business."""
    path = tmp_path / "k.py"
    path.write_text(SOURCE)
    kept, _ = apply([], program(path, 3))
    assert [(f.rule, f.name, f.location.line) for f in kept] == [("KP001", "unneeded-ignore", 3)]


def test_files_that_cannot_be_read_have_no_ignores(tmp_path):
    """A path from somebody else's machine, a folder, a file that is no source."""
    secret = tmp_path / "data.bin"
    secret.write_text(SOURCE)
    assert comments("/no/such/file.py") == comments(str(tmp_path)) == comments(str(secret)) == ()


def test_an_ignore_inside_a_string_silences_nothing(tmp_path):
    """Only comments count, as Python's tokenizer finds them; those before a place that it cannot read still do."""
    path = tmp_path / "k.py"
    path.write_text(
        '"""# kprof: ignore[KP101] a docstring"""; y = load(x)\n'
        "z = '# kprof: ignore[KP101] a string'\n"
        'text = """\n# kprof: ignore[KP101] a line of a string\n"""\n'
        "w = load(x)  # kprof: ignore[KP101] a comment\n"
        "broken = '''\n# kprof: ignore[KP101] in a string without an end\n"
    )
    assert [(ignore.line, ignore.reason) for ignore in comments(str(path))] == [(6, "a comment")]
    found = [finding("KP101", "narrow-global-load", path, line) for line in (1, 2, 6)]
    kept, silenced = apply(found, program(path, 1, 2, 6))
    assert [f.location.line for f in kept] == [1, 2]
    assert [s.finding.location.line for s in silenced] == [6]


def test_sources_of_hip_have_comments_of_their_own(tmp_path):
    """Behind two slashes; the same words anywhere else are none."""
    for suffix in (".hip", ".cpp", ".cu", ".h", ".hpp"):
        path = tmp_path / f"k{suffix}"
        path.write_text("int a;\nint b;  // # kprof: ignore[KP101] wide enough\n# kprof: ignore[KP102]\n")
        (ignore,) = comments(str(path))
        assert (ignore.line, ignore.rules, ignore.reason) == (2, ("KP101",), "wide enough")


def test_a_file_of_more_than_four_mebibytes_is_not_read(tmp_path):
    path = tmp_path / "k.py"
    comment = b"x = 1  # kprof: ignore[KP101]\n"
    path.write_bytes(comment + b"#" * ((4 << 20) - len(comment)))
    assert len(comments(str(path))) == 1
    path.write_bytes(comment + b"#" * ((4 << 20) - len(comment) + 1))
    assert comments(str(path)) == ()


def test_code_of_a_library_and_code_without_a_line_have_no_ignores(tmp_path):
    """A comment in a file of Triton's is not the user's."""
    path = tmp_path / "k.py"
    path.write_text(SOURCE)
    frames = (Frame(str(path), 3, in_library=True), Frame(str(path), 0))
    inside = SimpleNamespace(instructions=[SimpleNamespace(source=SimpleNamespace(frames=frames))])
    assert apply([], inside) == ([], [])
    assert apply([], SimpleNamespace(instructions=[SimpleNamespace(source=None)])) == ([], [])


def test_an_unneeded_ignore_names_all_its_rules(tmp_path):
    path = tmp_path / "k.py"
    path.write_text(SOURCE)
    (kept,), _ = apply([], program(path, 2))
    assert kept.message == "ignore[KP101, full-drain] silences nothing"
    assert (kept.severity, kept.location) == (Severity.NOTE, Location(str(path), 2))
