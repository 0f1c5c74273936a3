"""``kprof cache``: what is kept, and removing it and nothing else."""

import os

import pytest

from kprof.cache import location
from kprof.cache.entries import CacheSection
from kprof.cache.keys import key


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A cache with two kinds of entries, a search and another Triton, in a folder with something of the user's."""
    root = tmp_path / "cache"
    monkeypatch.setenv("KPROF_CACHE_DIR", str(root))
    for number in range(3):
        CacheSection("things").write(key(number), [b"x" * 5000])
    CacheSection("others").write(key(1), [b"x"])
    (root / "searches").mkdir()
    (root / "searches" / "gemm.jsonl").write_text("{}\n")
    (root / "triton-envs" / "3.6.0-py3.11" / "site").mkdir(parents=True)
    (root / "triton-envs" / "3.6.0-py3.11" / "site" / "a.py").write_text("")
    (root / "mine.txt").write_text("not kprof's")
    return root


def test_info_says_where_and_how_much(root, kprof, monkeypatch):
    """Each folder, each kind of entries, and the limit."""
    monkeypatch.setenv("KPROF_CACHE_SIZE", "2G")
    ran = kprof("cache", "info")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == str(root)
    assert [line.split()[:3] for line in lines[1:]] == [
        ["entries", "4", "files"],
        ["others-1", "1", "files"],
        ["things-1", "3", "files"],
        ["searches", "1", "files"],
        ["triton-envs", "1", "files"],
    ]
    assert lines[1].endswith("15.2 kB of 2.15 GB")


@pytest.mark.parametrize("asked_before", [True, False])
def test_clear_leaves_what_took_hours(root, kprof, asked_before):
    """And says so; with --all only what is not kprof's stays. Whether it can be used was asked before, or never."""
    if not asked_before:
        location.trouble.cache_clear()
    ran = kprof("cache", "clear")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        f"removed 4 files, 15.2 kB, from {root}",
        "kept searches, triton-envs; --all removes that too",
    ]
    assert sorted(path.name for path in root.iterdir()) == ["mine.txt", "searches", "triton-envs"]
    assert kprof("cache", "clear", "--all").out == f"removed 2 files, 3 B, from {root}\n"
    assert [path.name for path in root.iterdir()] == ["mine.txt"]
    assert kprof("cache", "info").out.splitlines() == [str(root), "  nothing is kept"]
    assert kprof("cache", "clear").out == f"removed 0 files, 0 B, from {root}\n"


def test_a_link_is_not_followed(root, kprof, tmp_path):
    """What it points to is the user's."""
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (root / "inductor").symlink_to(tmp_path / "precious")
    ran = kprof("cache", "clear")
    assert ran.code == 2
    assert "cannot be removed" in ran.err
    assert (tmp_path / "precious" / "file").exists()


def test_nothing_is_made_by_looking(tmp_path, kprof, monkeypatch):
    """A cache that does not exist yet stays so."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path / "none"))
    assert kprof("cache", "info").out.splitlines() == [str(tmp_path / "none"), "  nothing is kept"]
    assert not (tmp_path / "none").exists()


def test_a_cache_that_cannot_be_used_says_so(kprof, monkeypatch):
    """With the reason."""
    monkeypatch.setenv("KPROF_CACHE_DIR", os.devnull)
    ran = kprof("cache", "info")
    assert ran.code == 0
    assert "it is not used: " in ran.out


def test_without_a_home(kprof, monkeypatch):
    """One sentence, exit 2."""
    monkeypatch.setattr("kprof.cache.location.root", lambda: None)
    for command in ("info", "clear"):
        ran = kprof("cache", command)
        assert ran.code == 2
        assert "no home folder" in ran.err
