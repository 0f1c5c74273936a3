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
