"""The guard of a contained process: the memory that it counts, when it kills, and its own end."""

# ruff: noqa: PTH116, PTH123, PTH208
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kprof.api.live.containment import guarding
from kprof.api.live.containment.kernel import UncontainedError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux has descriptors of processes")


def forked(work: Callable[[], object]) -> int:
    """A process that does something and ends with 0; with 9 where it raises."""
    child = os.fork()
    if child:
        return child
    status = 9
    # Nothing of a test that fails stays behind.
    signal.alarm(60)
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def asleep(*kept: int) -> int:
    """A process that does nothing and has no file open but these: a test's runner holds files without a name, too."""

    def work() -> None:
        first = 0
        for number in sorted(kept):
            os.closerange(first, number)
            first = number + 1
        os.closerange(first, os.sysconf("SC_OPEN_MAX"))
        time.sleep(60)

    child = forked(work)
    descriptors = Path(f"/proc/{child}/fd")
    while {path.name for path in descriptors.iterdir()} != {str(number) for number in kept}:
        time.sleep(0.001)
    return child


def ended(child: int) -> int:
    """Return the exit status of a process as a shell gives it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def processes() -> Iterator[int]:
    """An open ``/proc``."""
    descriptor = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    yield descriptor
    os.close(descriptor)


@pytest.fixture
def sleeping() -> Iterator[int]:
    """A process that does nothing."""
    child = asleep()
    yield child
    os.kill(child, signal.SIGKILL)
    ended(child)


def address_space(process: int) -> int:
    """As ``/proc/PID/status`` has it, in kB, which is another file than the one that is counted from."""
    (line,) = (one for one in Path(f"/proc/{process}/status").read_text().splitlines() if one.startswith("VmSize:"))
    return int(line.split()[1]) * 1024


def test_address_space_files_and_files_without_a_name_count(tmp_path, processes):
    """Those of the folder by the blocks that they take, also below it; those without a name once."""
    (tmp_path / "below").mkdir()
    (tmp_path / "one").write_bytes(b"x" * (3 << 20))
    (tmp_path / "below" / "two").write_bytes(b"x" * (2 << 20))
    named = sum(os.stat(path).st_blocks * 512 for path in (tmp_path / "one", tmp_path / "below" / "two"))
    assert named >= 5 << 20
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    with open(elsewhere, "w+b") as nameless, open(os.devnull), open(__file__):
        nameless.write(b"x" * (1 << 20))
        nameless.flush()
        elsewhere.unlink()
        blocks = os.fstat(nameless.fileno()).st_blocks * 512
        again = os.dup(nameless.fileno())
        child = asleep(nameless.fileno(), again)
        try:
            assert guarding.bytes_of(child, tmp_path, processes) == address_space(child) + named + blocks
            assert guarding.bytes_of(child, tmp_path / "below", processes) < address_space(child) + named + blocks
        finally:
            os.close(again)
            os.kill(child, signal.SIGKILL)
            ended(child)
    assert guarding.bytes_of(child, tmp_path, processes) == 0


def test_a_file_that_is_gone_between_two_looks_counts_nothing(tmp_path, sleeping, processes, monkeypatch):
    """The others are counted all the same."""
    (tmp_path / "a").write_bytes(b"x" * 4096)
    (tmp_path / "b").write_bytes(b"x" * 8192)
    real = Path.lstat

    def lstat(path: Path) -> os.stat_result:
        if path.name == "a":
            raise FileNotFoundError(path)
        return real(path)

    monkeypatch.setattr(Path, "lstat", lstat)
    left = os.stat(tmp_path / "b").st_blocks * 512
    assert guarding.bytes_of(sleeping, tmp_path, processes) == address_space(sleeping) + left


def test_a_descriptor_that_is_closed_between_two_looks_counts_nothing(tmp_path, processes, monkeypatch):
    """The next one is counted once, and not in its place as well."""
    real = os.stat
    gone = tmp_path / "gone"
    with open(gone, "w+b") as nameless:
        nameless.write(b"x" * (1 << 20))
        nameless.flush()
        gone.unlink()
        blocks = os.fstat(nameless.fileno()).st_blocks * 512
        refused = [str(nameless.fileno())]
        child = asleep(nameless.fileno())

        def stat(name: str, **more: int) -> os.stat_result:
            if name in refused:
                raise FileNotFoundError(name)
            return real(name, **more)

        try:
            assert guarding.bytes_of(child, tmp_path, processes) == address_space(child) + blocks
            monkeypatch.setattr(guarding.os, "stat", stat)
            assert guarding.bytes_of(child, tmp_path, processes) == address_space(child)
            refused[:] = [str(number) for number in range(256) if number != nameless.fileno()]
            assert guarding.bytes_of(child, tmp_path, processes) == address_space(child) + blocks
        finally:
            os.kill(child, signal.SIGKILL)
            ended(child)


def test_an_end_is_waited_for_no_longer_than_was_said(sleeping):
    descriptor = guarding.descriptor_of(sleeping)
    before = time.monotonic()
    assert not guarding.has_ended(descriptor)
    assert time.monotonic() - before < 0.4
    before = time.monotonic()
    assert not guarding.has_ended(descriptor, 0.5)
    assert 0.49 < time.monotonic() - before < 0.95
    os.close(descriptor)
    child = forked(lambda: None)
    descriptor = guarding.descriptor_of(child)
    assert guarding.has_ended(descriptor, 20)
    os.close(descriptor)
    ended(child)


def test_a_process_that_is_not_there_has_no_descriptor():
    child = forked(lambda: None)
    ended(child)
    with pytest.raises(UncontainedError) as refused:
        guarding.descriptor_of(child)
    assert str(refused.value.message) == (
        "untrusted code cannot be sandboxed: descriptors of processes: No such process"
    )
    assert refused.value.hint == "Linux 5.3 or later is required; some containers refuse them."


def guarded(folder: Path, work: Callable[[], object], memory: int = 1 << 40) -> int:
    """How a process ends that guards one which does something."""

    def guard() -> None:
        child = forked(work)
        processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        guarding.guard(child, folder, memory=memory, processes=processes)

    return ended(forked(guard))


@pytest.mark.parametrize("status", [0, 1, 2, 7])
def test_the_guard_ends_with_the_same_status(tmp_path, status):
    assert guarded(tmp_path, lambda: os._exit(status)) == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGINT, signal.SIGHUP])
def test_the_guard_ends_by_the_same_signal(tmp_path, number):
    """Also by one for which Python has a handler of its own."""

    def die() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
        os.kill(os.getpid(), number)
        time.sleep(20)

    assert guarded(tmp_path, die) == -number


def test_a_guard_that_is_killed_with_its_child_leaves_no_core(tmp_path):
    """Its own limit is set to nothing before it ends by the child's signal."""
    limits = tmp_path / "limits"

    def guard() -> None:
        real = os.kill

        def told(process: int, number: int) -> None:
            limits.write_text(repr(resource.getrlimit(resource.RLIMIT_CORE)))
            real(process, number)

        child = forked(lambda: os.kill(os.getpid(), signal.SIGTERM))
        processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        os.kill = told
        guarding.guard(child, tmp_path, memory=1 << 40, processes=processes)

    assert ended(forked(guard)) == -signal.SIGTERM
    assert limits.read_text() == "(0, 0)"


def test_a_process_that_takes_too_much_is_killed_and_one_that_takes_less_is_not(tmp_path):
    """A limit is what may be taken: address space and files together."""

    def write() -> None:
        (tmp_path / "large").write_bytes(b"x" * (8 << 20))
        time.sleep(0.6)

    taken = address_space(os.getpid())
    assert guarded(tmp_path, write, memory=taken + (256 << 20)) == 0
    assert guarded(tmp_path, write, memory=taken // 2) == -signal.SIGKILL


def test_a_limit_that_is_met_exactly_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(guarding, "bytes_of", lambda *_: 101)
    assert guarded(tmp_path, lambda: time.sleep(0.5), memory=101) == 0
    assert guarded(tmp_path, lambda: time.sleep(20), memory=100) == -signal.SIGKILL


def test_the_guard_holds_nothing_open_that_others_wait_for(tmp_path):
    """Whoever reads the child's answer sees its end as soon as the child has closed it, though the guard still runs."""
    pipes = [os.pipe() for _ in range(4)]

    def guard() -> None:
        for descriptor, _ in pipes:
            os.close(descriptor)

        def work() -> None:
            for _, writing in pipes:
                os.write(writing, b"x")
                os.close(writing)
            os.closerange(0, 3)
            time.sleep(1.5)

        # Numbers below, between and above those that the guard needs.
        os.dup2(pipes[0][1], 0)
        child = forked(lambda: (os.close(0), work()))
        processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        for number in (processes + 1, processes + 2, processes + 40):
            if number not in {writing for _, writing in pipes}:
                os.dup2(pipes[1][1], number)
        guarding.guard(child, tmp_path, memory=1 << 40, processes=processes)

    process = forked(guard)
    before = time.monotonic()
    for _, writing in pipes:
        os.close(writing)
    for reading, _ in pipes:
        with os.fdopen(reading, "rb") as stream:
            assert stream.read() == b"x"
    assert time.monotonic() - before < 1.3
    assert ended(process) == 0


def test_a_guard_that_cannot_guard_ends_with_1(tmp_path):
    """The child is gone, so that there is no descriptor of it."""
    child = forked(lambda: None)
    ended(child)

    def guard() -> None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        guarding.guard(child, tmp_path, memory=1 << 40, processes=os.open("/proc", os.O_RDONLY))

    assert ended(forked(guard)) == 1


def test_a_guard_that_does_not_get_the_childs_signal_ends_with_1(tmp_path):
    """It is blocked in the guard, and is not in the child."""

    def work() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(20)

    def guard() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        guarded_child = forked(work)
        processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
        guarding.guard(guarded_child, tmp_path, memory=1 << 40, processes=processes)

    assert ended(forked(guard)) == 1


def test_an_open_file_with_a_name_is_not_counted(tmp_path, processes):
    """Elsewhere it is not the child's; in the folder it is counted once, as one of its files."""
    folder = tmp_path / "folder"
    folder.mkdir()
    with open(tmp_path / "elsewhere", "wb") as named:
        named.write(b"x" * (1 << 20))
        named.flush()
        assert os.fstat(named.fileno()).st_blocks > 0
        child = asleep(named.fileno())
        try:
            assert guarding.bytes_of(child, folder, processes) == address_space(child)
        finally:
            os.kill(child, signal.SIGKILL)
            ended(child)


def test_looking_leaves_no_descriptor_open(tmp_path, sleeping, processes):
    """It is done twenty times a second."""
    before = os.listdir("/proc/self/fd")
    guarding.bytes_of(sleeping, tmp_path, processes)
    assert os.listdir("/proc/self/fd") == before
