"""How large the cache may grow."""

import os

import pytest

from kprof.cache import limits


def test_sweep_removes_what_was_used_longest_ago(tmp_path):
    """Above the limit the oldest go, until 80 % of it are left."""
    for age in range(10):
        path = tmp_path / f"{age}"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    assert limits.sweep(tmp_path, 2000) == 0
    assert limits.sweep(tmp_path, 500) == 600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("123", 123),
        ("64 kB", 64 << 10),
        ("500M", 500 << 20),
        ("4G", 4 << 30),
        ("4GiB", 4 << 30),
        ("", limits.SIZE_LIMIT),
        ("many", limits.SIZE_LIMIT),
        ("-1", limits.SIZE_LIMIT),
        ("4 gigs", limits.SIZE_LIMIT),
    ],
)
def test_size_limit_from_the_environment(monkeypatch, text, limit):
    """KPROF_CACHE_SIZE is bytes, or has a unit; what is no size is not obeyed."""
    monkeypatch.setenv("KPROF_CACHE_SIZE", text)
    assert limits.size_limit() == limit


def test_what_is_just_as_large_as_the_limit_stays(tmp_path):
    """One byte more, and as many go as bring it to four fifths."""
    for age in range(10):
        (tmp_path / "deep" / f"{age}").mkdir(parents=True)
        path = tmp_path / "deep" / f"{age}" / "entry"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    assert limits.sweep(tmp_path, 1000) == 0
    assert limits.sweep(tmp_path, 999) == 300
    assert limits.sweep(tmp_path, 625) == 200
    assert sorted(p.parent.name for p in tmp_path.rglob("entry")) == ["0", "1", "2", "3", "4"]
    assert limits.sweep(tmp_path, 0) == 500
    assert limits.sweep(tmp_path / "none", 0) == 0


def test_what_cannot_be_removed_does_not_count(tmp_path, monkeypatch):
    """The next one goes instead."""
    for age in range(4):
        path = tmp_path / f"{age}"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    real = limits.Path.unlink

    def unlink(path, *arguments, **others):
        if path.name == "3":
            raise PermissionError
        real(path, *arguments, **others)

    monkeypatch.setattr(limits.Path, "unlink", unlink)
    assert limits.sweep(tmp_path, 300) == 200
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0", "3"]


@pytest.mark.parametrize(
    ("draw", "swept"), [(0, True), (64, True), (65_472, True), (1, False), (63, False), (65, False)]
)
def test_one_of_64_writes_sweeps(tmp_path, monkeypatch, draw, swept):
    """To look at all files each time would take longer than to write one."""
    monkeypatch.setenv("KPROF_CACHE_SIZE", "50")
    monkeypatch.setattr(os, "urandom", lambda count: draw.to_bytes(count, "little"))
    (tmp_path / "a").write_bytes(b"x" * 100)
    limits.sweep_sometimes(tmp_path)
    assert (tmp_path / "a").exists() is not swept


@pytest.mark.parametrize(
    ("text", "limit"),
    [("0", 0), (" 7 ", 7), ("5 t", 5 << 40), ("1KiB", 1024), ("2GB", 2 << 30), ("9" * 16, None), ("1.5G", None)],
)
def test_sizes_with_units(monkeypatch, text, limit):
    """Up to fifteen digits; without a variable it is 1 GiB."""
    monkeypatch.setenv("KPROF_CACHE_SIZE", text)
    assert limits.size_limit() == (1 << 30 if limit is None else limit)
    monkeypatch.delenv("KPROF_CACHE_SIZE")
    assert limits.size_limit() == 1 << 30
