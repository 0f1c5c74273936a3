"""Locks between processes, with what either kind of system has for them."""

import os
import subprocess
import sys
import types

import pytest

from kprof.cache import locks

HOLDER = """
import sys
from pathlib import Path
from kprof.cache.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_at_a_time(tmp_path):
    """A second process is told that it waits, and goes on when the first one is killed."""
    path = tmp_path / "lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"held\n"
    told = []

    def waiting():
        told.append(True)
        holder.kill()

    with locks.locked(path, waiting):
        assert told == [True]
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    assert path.stat().st_mode & 0o777 == 0o600
    with locks.locked(path, lambda: pytest.fail("nobody holds it")):
        pass


def test_without_fcntl_the_other_module_is_used(tmp_path, monkeypatch):
    """As on Windows: a byte of the file is locked, and waiting ends after a while with an error, so it is repeated."""
    asked = []

    def locking(_descriptor, how, count):
        asked.append((how, count))
        if len(asked) < 3:
            raise OSError(13, "Permission denied")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(locking=locking, LK_LOCK=1, LK_NBLCK=2))
    told = []
    with locks.locked(tmp_path / "lock", lambda: told.append(True)):
        assert asked == [(2, 1), (1, 1), (1, 1)]
    assert told == [True]
