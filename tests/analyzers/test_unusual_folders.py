"""A kernel's analysis does not depend on the letters of the folder that it lies in."""

import shutil

import pytest

import kprof
from kprof.importing.permission import own_folder
from kprof_analyzers.source_lines import disagreement


class At:
    """An instruction or operation of one line."""

    def __init__(self, file: str, line: int = 3) -> None:
        self.location = [Frame(file, line)]


class Frame:
    """A line of a user's file."""

    def __init__(self, file: str, line: int) -> None:
        self.file, self.line, self.column, self.in_library = file, line, 1, False


@pytest.mark.triton
@pytest.mark.parametrize("folder", ["acé", "用户", "with space", "é'\"#;"])
def test_the_answer_is_the_same_in_any_folder(tmp_path, folder):
    """Time, findings, their messages and lines."""
    place = tmp_path / folder
    place.mkdir()
    shutil.copy(own_folder() / "layernorm.py", place / "layernorm.py")
    options = {"arch": "MI300X", "shape": {"N": 16380}, "try_cures": False}
    (here,) = kprof.analyze(place / "layernorm.py", **options).kernels
    (plain,) = kprof.analyze("layernorm", **options).kernels
    assert here.model.time_us == plain.model.time_us
    assert [(f.rule, f.message, f.location.line, str(f.location)) for f in here.findings] == [
        (f.rule, f.message, f.location.line, str(f.location)) for f in plain.findings
    ]
    assert here.findings[0].location.file == str(place / "layernorm.py")


def test_sides_that_name_different_files_are_said():
    """Findings need both: without a common file the answer says what it lacks."""
    words = disagreement([At("/a/x.py"), At("/a/y.py")], [At("/b/x.py")])
    assert (
        words == "its assembly names the source file /a/x.py and its TTGIR /b/x.py: findings that need both are missing"
    )


def test_sides_that_meet_or_know_nothing_agree():
    """One common file is enough; without lines on one side nothing can be said."""
    assert disagreement([At("/a/h.py"), At("/a/x.py")], [At("/a/x.py")]) is None
    assert disagreement([], [At("/a/x.py")]) is None
    assert disagreement([At("/a/x.py")], [At("/b/x.py", line=0)]) is None
