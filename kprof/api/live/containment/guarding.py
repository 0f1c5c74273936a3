"""The guard of a contained process: it counts memory and files together, and ends as the process does.

An address space has a limit of its own. Files do not: in a temporary file system they are memory, also after they have
lost their name. Other memory outside of an address space, such as System V's, cannot be had: its calls are refused.
"""

import os
import resource
import select
import signal
import stat
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from kprof.api.live.containment.kernel import UncontainedError

EVERY = 0.05
"""Seconds between two counts."""
_BLOCK = 512


def guard(child: int, folder: Path, *, memory: int, processes: int) -> NoReturn:
    """Wait until the child ends, and end this process in the same way. Kill the child when it takes too much memory.

    Args:
        child: process that is guarded.
        folder: where its files are.
        memory: bytes that its address space and its files may take together.
        processes: an open ``/proc`` in which the child has the number ``child``.
    """
    status = 1
    try:
        ended = descriptor_of(child)
        # The answer ends where nobody has it open any more.
        low, high = sorted((ended, processes))
        os.closerange(0, low)
        os.closerange(low + 1, high)
        os.closerange(high + 1, os.sysconf("SC_OPEN_MAX"))
        while not has_ended(ended, EVERY):
            if bytes_of(child, folder, processes) > memory:
                os.kill(child, signal.SIGKILL)
        result = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(result):
            _end_by(os.WTERMSIG(result))
        else:
            status = os.WEXITSTATUS(result)
    finally:
        os._exit(status)


def _end_by(number: int) -> None:
    """End this process by a signal, without a core; return only where the signal is blocked."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def descriptor_of(process: int) -> int:
    """Return a descriptor of a process.

    Raises:
        UncontainedError: the kernel has none, or refuses it.
    """
    try:
        return os.pidfd_open(process)
    except OSError as error:
        raise UncontainedError(
            f"untrusted code cannot be contained: descriptors of processes: {error.strerror}",
            hint="Linux 5.3 or later is required; some containers refuse them.",
        ) from error


def has_ended(process: int, seconds: float = 0.0) -> bool:
    """Return whether the process of a descriptor has ended, after waiting for so many seconds at most."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def bytes_of(child: int, folder: Path, processes: int) -> int:
    """Return the bytes of a process's address space, of the files in a folder, and of its open files without a name."""
    try:
        return _address_space(child, processes) + _files(folder) + _nameless_files(child, processes)
    except OSError:
        # It has just ended, or is about to.
        return 0


def _address_space(child: int, processes: int) -> int:
    with open(os.open(f"{child}/statm", os.O_RDONLY, dir_fd=processes)) as stream:  # noqa: PTH123 - a descriptor
        return int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _files(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            # One that is gone was removed, or moved to where this walk comes later.
            with suppress(OSError):
                total += Path(path, name).lstat().st_blocks * _BLOCK
    return total


def _nameless_files(child: int, processes: int) -> int:
    descriptor = os.open(f"{child}/fd", os.O_RDONLY, dir_fd=processes)
    sizes: dict[tuple[int, int], int] = {}
    try:
        for name in os.listdir(descriptor):  # noqa: PTH208 - a descriptor is no path
            try:
                found = os.stat(name, dir_fd=descriptor)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                sizes[found.st_dev, found.st_ino] = found.st_blocks * _BLOCK
    finally:
        os.close(descriptor)
    return sum(sizes.values())
