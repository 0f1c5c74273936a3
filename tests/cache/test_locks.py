"""Locks between processes, with what either kind of system has for them."""

import os
import subprocess
import sys
import threading
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


def test_a_lock_that_is_held_is_not_had(tmp_path):
    """Without waiting; it is free as soon as the file is closed."""
    path = tmp_path / "lock"
    one, other = (os.open(path, os.O_RDWR | os.O_CREAT, 0o600) for _ in range(2))
    assert locks.try_lock(one)
    assert not locks.try_lock(other)
    os.close(one)
    assert locks.try_lock(other)
    locks.lock(other)
    os.close(other)


def test_the_wait_lasts_as_long_as_the_lock_is_held(tmp_path):
    """Neither an error nor an answer before."""
    one, other = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT, 0o600) for _ in range(2))
    assert locks.try_lock(one)
    freed = []
    later = threading.Timer(0.1, lambda: (freed.append(True), os.close(one)))
    later.start()
    locks.lock(other)
    assert freed == [True]
    later.join()
    os.close(other)


def test_a_lock_is_waited_for_again_and_again(tmp_path, monkeypatch):
    """Where the system's own wait ends after a while."""
    answers = [False, False, True]
    asked = []
    monkeypatch.setattr(locks, "_lock", lambda descriptor, *, wait: asked.append((descriptor, wait)) or answers.pop(0))
    locks.lock(5)
    assert asked == [(5, True)] * 3


def test_the_lock_s_file_is_closed_whatever_happens(tmp_path):
    """And it is its user's alone, whatever the umask."""
    before = os.umask(0)
    try:
        with pytest.raises(ZeroDivisionError), locks.locked(tmp_path / "lock"):
            raise ZeroDivisionError
    finally:
        os.umask(before)
    assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o600
    with locks.locked(tmp_path / "lock", lambda: pytest.fail("nobody holds it")):
        pass


def test_a_byte_at_the_file_s_start_is_locked(tmp_path, monkeypatch):
    """As on Windows, which locks from where the file stands."""
    path = tmp_path / "lock"
    path.write_bytes(b"12345")
    places = []
    monkeypatch.setitem(sys.modules, "fcntl", None)

    def locking(descriptor, how, count):
        places.append((os.lseek(descriptor, 0, os.SEEK_CUR), how, count))

    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(locking=locking, LK_LOCK=1, LK_NBLCK=2))
    descriptor = os.open(path, os.O_RDWR)
    os.lseek(descriptor, 3, os.SEEK_SET)
    assert locks.try_lock(descriptor)
    os.lseek(descriptor, 3, os.SEEK_SET)
    locks.lock(descriptor)
    os.close(descriptor)
    assert places == [(0, 2, 1), (0, 1, 1)]
