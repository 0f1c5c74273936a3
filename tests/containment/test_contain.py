"""A contained process is refused what it tries, with namespaces and without; what it may do works."""

# ruff: noqa: PTH104, PTH108, PTH115, PTH123, PTH208, SIM115
import ctypes
import os
import signal
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path

import pytest

from tests.containment.attempts import ATTEMPTS, Place, outcomes
from tests.containment.conftest import ENOSYS, SLACK, die_by, is_possible, refuse_call, refuse_namespaces, run

REFUSALS = ("PermissionError", "FileNotFoundError", "OSError 38", "OSError 30", "ValueError: not allowed")
"""Not permitted, not there, no such call, read-only; Python has words of its own for limits."""
BEFORE = {"namespaces": None, "no namespaces": refuse_namespaces}


def _needs_containment() -> None:
    reason = _impossible()
    if reason:
        pytest.skip(reason)


@cache
def _impossible() -> str:
    return is_possible()


@cache
def _tried(mode: str) -> dict[str, str]:
    """How all attempts ended, made in one process."""
    with tempfile.TemporaryDirectory() as inside, tempfile.TemporaryDirectory() as outside:
        place = Place(os.getpid(), Path(outside).resolve())
        place.secret.write_text("secret")
        if mode == "uncontained":
            own, _ = run(Path(inside).resolve(), lambda: outcomes(_with_own_parent(place)), contained=False)
            return own
        found, status = run(Path(inside).resolve(), lambda: outcomes(place), before=BEFORE[mode])
        assert status == 0, found
        assert place.secret.read_text() == "secret"
        assert sorted(os.listdir(outside)) == ["secret"]
    return found


def _with_own_parent(place: Place) -> Place:
    """An uncontained process tries things with itself as the parent: they must not harm the tests."""
    return Place(os.getpid(), place.outside)


@pytest.mark.parametrize("mode", BEFORE)
@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_is_refused(name, mode):
    _needs_containment()
    outcome = _tried(mode)[name]
    assert outcome.startswith(REFUSALS), outcome


def test_attempts_are_real():
    """Nearly all succeed in a process that is not contained: a refusal is not a mistake of the attempt."""
    _needs_containment()
    if os.getuid():
        pytest.skip("root alone may do most of them")
    failed = {name: outcome for name, outcome in _tried("uncontained").items() if outcome != "done"}
    assert len(failed) <= len(ATTEMPTS) // 4, failed
    for name in ("System V shared memory", "memory without a file", "the parent's priority", "passwords"):
        assert name not in failed


def _may() -> list[object]:
    """Do what Python, a compiler and a linker do."""
    Path("made").write_text("x")
    Path("made").chmod(0o755)
    os.rename("made", "moved")
    with tempfile.TemporaryFile(dir=".") as file:
        file.write(b"x" * 100)
        os.ftruncate(file.fileno(), 10)
    got = []
    thread = threading.Thread(target=got.append, args=(1,))
    thread.start()
    thread.join()
    time.sleep(0.001)
    os.kill(os.getpid(), 0)
    return [
        os.listdir("."),
        got,
        len(os.urandom(4)),
        os.isatty(0),
        "Name:" in Path("/proc/self/status").read_text(),
        "processor" in Path("/proc/cpuinfo").read_text().lower(),
        len(Path(os.__file__).read_bytes()) > 1000,
        os.getuid(),
        Path("/dev/null").write_text("x"),
    ]


@pytest.mark.parametrize("mode", BEFORE)
def test_work_is_possible(mode, tmp_path):
    _needs_containment()
    found, status = run(tmp_path, _may, before=BEFORE[mode])
    assert (found, status) == ([["moved"], [1], 4, False, True, True, True, os.getuid(), 1], 0)


@pytest.mark.parametrize("mode", BEFORE)
def test_a_script_in_a_wide_folder_opens_nothing(mode, tmp_path, monkeypatch):
    """Its folder is on Python's path: other files of a home or of temporary files are not readable for that."""
    _needs_containment()
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "module.py").write_text("x")
    (tmp_path / "inside").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path, "/", "/tmp", "/var", str(tmp_path / "library")])
    found, _ = run(
        tmp_path / "inside", lambda: Path(tmp_path / "library" / "module.py").read_text(), before=BEFORE[mode]
    )
    assert found == "x"
    found, _ = run(tmp_path / "inside", lambda: os.listdir("/tmp"), before=BEFORE[mode])
    assert "raised" in found


def test_it_has_no_rights_of_root(tmp_path):
    _needs_containment()
    lines, _ = run(tmp_path, lambda: Path("/proc/self/status").read_text().splitlines())
    values = dict(line.split(":", 1) for line in lines)
    assert {int(values[name], 16) for name in ("CapEff", "CapPrm", "CapInh")} == {0}
    assert values["NoNewPrivs"].strip() == "1"
    assert values["Seccomp"].strip() == "2"


def test_it_has_namespaces_where_the_kernel_allows_them(tmp_path):
    """It is the first process of its own, and no interface of the network is up."""
    _needs_containment()
    names = ("user", "ipc", "pid", "net", "mnt")
    found, _ = run(tmp_path, lambda: [[os.readlink(f"/proc/self/ns/{name}") for name in names], os.getpid()])
    if found[1] != 1:
        pytest.skip("this system gives a process no namespaces")
    assert not {os.readlink(f"/proc/self/ns/{name}") for name in names} & set(found[0])
    left, _ = run(tmp_path, lambda: os.readlink("/proc/self/ns/net"), network=True)
    assert left == os.readlink("/proc/self/ns/net")


def test_mounts_are_read_only(tmp_path):
    """Landlock alone would say that writing is not permitted: a folder that it may write is on a read-only mount."""
    _needs_containment()
    found, _ = run(tmp_path, lambda: [os.getpid(), os.statvfs("/").f_flag & os.ST_RDONLY, os.statvfs(".").f_flag & 1])
    if found[0] != 1:
        pytest.skip("this system gives a process no namespaces")
    assert found[1:] == [1, 0]


@pytest.mark.parametrize("mode", BEFORE)
def test_the_guard_ends_as_the_process_does(mode, tmp_path):
    _needs_containment()
    assert run(tmp_path, lambda: os._exit(7), before=BEFORE[mode]) == (None, 7)
    assert run(tmp_path, lambda: os._exit(0), before=BEFORE[mode]) == (None, 0)
    assert run(tmp_path, lambda: ctypes.string_at(0), before=BEFORE[mode]) == (None, -signal.SIGSEGV)
    if mode == "no namespaces":
        assert run(tmp_path, lambda: die_by(signal.SIGTERM), before=BEFORE[mode]) == (None, -signal.SIGTERM)


def _fill(named: bool) -> None:
    files = []
    for number in range(40):
        file = open(f"file{number}", "wb")
        if not named:
            os.unlink(f"file{number}")
        files.append(file)
        file.write(b"x" * (16 << 20))
        file.flush()
        time.sleep(0.02)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("mode", BEFORE)
def test_files_count_as_memory(mode, named, tmp_path):
    """Also those that have no name any more; less than the limit is left alone."""
    _needs_containment()
    found, status = run(tmp_path, lambda: _fill(named), before=BEFORE[mode], memory=100 << 20)
    assert (found, status) == (None, -signal.SIGKILL)
    found, status = run(tmp_path, lambda: _fill(named), before=BEFORE[mode], memory=1 << 30)
    assert (found, status) == (None, 0)


def test_memory_is_limited(tmp_path):
    _needs_containment()
    found, _ = run(tmp_path, lambda: len(bytearray(SLACK * 2)))
    assert found["raised"].startswith("MemoryError")
    assert run(tmp_path, lambda: len(bytearray(SLACK // 4)))[0] == SLACK // 4


def test_a_file_is_limited(tmp_path):
    _needs_containment()

    def write() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        Path("large").write_bytes(bytes((64 << 20) + 1))

    assert "File too large" in run(tmp_path, write, memory=1 << 30)[0]["raised"]


def test_time_is_limited(tmp_path):
    _needs_containment()

    def burn() -> None:
        while True:
            pass

    before = os.times().children_user
    _, status = run(tmp_path, burn, seconds=0.5)
    assert status in {-signal.SIGKILL, -signal.SIGXCPU}
    assert os.times().children_user - before < 5


@pytest.mark.parametrize("mode", BEFORE)
def test_it_ends_with_its_guard(mode, tmp_path):
    """The guard is killed: whoever waits for the pipe sees its end."""
    _needs_containment()
    reading, writing = os.pipe()
    started, begin = os.pipe()
    runner = os.fork()
    if not runner:
        os.close(reading)

        def work() -> None:
            os.write(begin, b"x")
            time.sleep(60)

        run(tmp_path, work, before=BEFORE[mode])
        os._exit(0)
    os.close(writing)
    os.read(started, 1)
    os.kill(runner, signal.SIGKILL)
    os.waitpid(runner, 0)
    start = time.monotonic()
    assert os.read(reading, 1) == b""
    assert time.monotonic() - start < 10
    for descriptor in (reading, started, begin):
        os.close(descriptor)


def test_the_network_is_left_where_it_is_allowed(tmp_path):
    _needs_containment()
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found, _ = run(tmp_path, lambda: str(socket.create_connection(("127.0.0.1", port)).close()), network=True)
        assert found == "None"
        server.settimeout(5)
        server.accept()[0].close()


def test_without_descriptors_of_processes_nothing_is_contained(tmp_path):
    _needs_containment()
    found, status = run(tmp_path, lambda: 1, before=lambda: refuse_call(434, ENOSYS))
    assert status == 98
    assert found["uncontained"].endswith("descriptors of processes: Function not implemented")


def test_without_landlock_nothing_is_contained(tmp_path):
    """Neither with namespaces nor without: one message that names what is missing."""
    _needs_containment()
    for before in (lambda: refuse_call(444, ENOSYS), lambda: (refuse_call(444, ENOSYS), refuse_namespaces())):
        found, status = run(tmp_path, lambda: 1, before=before)
        assert status == 98
        assert found["uncontained"].startswith("untrusted code cannot be sandboxed: Landlock: ")
