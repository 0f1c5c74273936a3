"""The cache's files: whole or absent, checked, bounded."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.cache import files as store


def test_what_was_written_is_read(tmp_path):
    """Head and blobs come back, and no partial file is left."""
    path = tmp_path / "a" / "entry"
    assert store.write(path, {"x": 1}, {"asm": "text", "obj": b"\x00\xff"})
    assert store.read(path) == ({"x": 1}, {"asm": "text", "obj": b"\x00\xff"})
    assert [p.name for p in path.parent.iterdir()] == ["entry"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data())
def test_damaged_file_is_no_result(tmp_path, data):
    """Cut off or altered anywhere, an entry is not served and does not stay."""
    path = tmp_path / "entry"
    store.write(path, {"x": 1}, {"asm": "some text"})
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        del raw[at:]
    else:
        raw[at] ^= 1 + data.draw(st.integers(0, 254))
    path.write_bytes(raw)
    assert store.read(path) is None
    assert not path.exists()


def test_folder_that_cannot_be_written_is_no_error(tmp_path):
    """A cache below a file cannot exist; the compile goes on without it."""
    (tmp_path / "file").write_text("")
    assert not store.write(tmp_path / "file" / "entry", {})
    assert not store.write_json(tmp_path / "file" / "entry", {})


def test_broken_json_is_no_answer(tmp_path):
    """A half-written index is as good as none."""
    (tmp_path / "index").write_text('{"a": ')
    assert store.read_json(tmp_path / "index") is None
    assert store.read_json(tmp_path / "missing") is None


def test_sweep_removes_what_was_used_longest_ago(tmp_path):
    """Above the limit the oldest go, until 80 % of it are left."""
    for age in range(10):
        path = tmp_path / f"{age}"
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 - age, 1000 - age))
    assert store.sweep(tmp_path, 2000) == 0
    assert store.sweep(tmp_path, 500) == 600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0", "1", "2", "3"]


def test_reading_counts_as_use(tmp_path):
    """An entry that is served is not the next one to be swept."""
    path = tmp_path / "entry"
    store.write(path, {})
    os.utime(path, (1, 1))
    store.read(path)
    assert path.stat().st_mtime > 1


def test_place_follows_the_environment(monkeypatch, tmp_path):
    """KPROF_CACHE_DIR first, then XDG_CACHE_HOME, then the home."""
    monkeypatch.setenv("KPROF_CACHE_DIR", str(tmp_path))
    assert store.root() == tmp_path
    monkeypatch.delenv("KPROF_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert store.root() == Path("/x/kprof")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert store.root() == Path.home() / ".cache" / "kprof"


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("123", 123),
        ("64 kB", 64 << 10),
        ("500M", 500 << 20),
        ("4G", 4 << 30),
        ("4GiB", 4 << 30),
        ("", store.SIZE_LIMIT),
        ("many", store.SIZE_LIMIT),
        ("-1", store.SIZE_LIMIT),
        ("4 gigs", store.SIZE_LIMIT),
    ],
)
def test_size_limit_from_the_environment(monkeypatch, text, limit):
    """KPROF_CACHE_SIZE is bytes, or has a unit; what is no size is not obeyed."""
    monkeypatch.setenv("KPROF_CACHE_SIZE", text)
    assert store.size_limit() == limit
