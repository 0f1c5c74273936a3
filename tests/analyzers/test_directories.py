"""Kernels of a directory, analysed several at a time and remembered."""

import os
import shutil
from pathlib import Path

import pytest

from kprof.cache import location
from kprof.errors import KprofError
from kprof_analyzers import directories
from kprof_analyzers.directories import analyse_directory

GFX942 = Path(__file__).parents[1] / "artifacts" / "gfx942"


def _kept() -> Path:
    """Where the reports of directories are kept."""
    root = location.root()
    assert root is not None
    return location.entries(root) / "directory-reports-1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three kernels of several releases."""
    for path in sorted(GFX942.glob("*.amdgcn"))[:3]:
        (tmp_path / path.stem).mkdir()
        shutil.copy(path, tmp_path / path.stem / "kernel.amdgcn")
    return tmp_path


def test_processes_give_what_one_process_gives(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = analyse_directory(folder, jobs=1)
    shutil.rmtree(_kept())
    monkeypatch.setattr(directories, "_WORTH_PROCESSES", 1)
    told: list[tuple[int, int]] = []
    several = analyse_directory(folder, jobs=2, tell=lambda done, of: told.append((done, of)))
    assert len(alone.kernels) == 3
    assert several == alone
    assert told[-1] == (3, 3)


def test_what_is_remembered_is_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = analyse_directory(folder, jobs=1)
    monkeypatch.setattr(directories, "analyse_item", None)
    assert analyse_directory(folder, jobs=1) == first


def test_another_kprof_analyses_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    analyse_directory(folder, jobs=1)
    monkeypatch.setattr("kprof.cache.own.of_kprof", lambda: "another")
    analysed: list[object] = []
    real = directories.analyse_item
    monkeypatch.setattr(directories, "analyse_item", lambda item: analysed.append(item) or real(item))
    analyse_directory(folder, jobs=1)
    assert len(analysed) == 3


def test_a_damaged_memo_is_no_harm(folder: Path) -> None:
    first = analyse_directory(folder, jobs=1)
    for path in _kept().rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-20])
    assert analyse_directory(folder, jobs=1) == first


def test_a_changed_source_file_counts(tmp_path: Path) -> None:
    """Comments in it silence rules."""
    source = tmp_path / "mine.py"
    source.write_text("x\n")
    before = directories._contents([str(source), str(tmp_path / "none.py"), "bad\0name.py"])
    assert before[str(tmp_path / "none.py")] == before["bad\0name.py"] == ""
    state = source.stat()
    source.write_text("y\n")
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert directories._contents([str(source)])[str(source)] != before[str(source)]


def test_a_file_that_cannot_be_read_is_a_problem_and_the_rest_goes_on(folder: Path) -> None:
    (folder / "bad.hsaco").write_bytes(b"\x7fELF" + b"\0" * 40)
    found = analyse_directory(folder, jobs=1)
    assert len(found.kernels) == 3
    (problem,) = found.problems
    assert "bad.hsaco" in problem


def test_a_directory_without_kernels_is_told(tmp_path: Path) -> None:
    with pytest.raises(KprofError, match="no compiled kernel"):
        analyse_directory(tmp_path)
    (tmp_path / "bad.amdgcn").write_text("")
    with pytest.raises(KprofError, match="empty"):
        analyse_directory(tmp_path)
