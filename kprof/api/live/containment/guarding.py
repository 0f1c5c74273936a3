"""The guard of a sandboxed process. It limits the sum of the process's memory and files.

When the process ends, the guard exits with the same exit code or signal.

The address space is also limited by ``setrlimit``, but files are not. Files in a temporary file system take memory,
even after they are unlinked. The sandbox's seccomp filter refuses calls that allocate other memory outside the address
space, such as System V shared memory.
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
"""Seconds between two memory checks."""
_BLOCK = 512


def guard(child: int, folder: Path, *, memory: int, processes: int) -> NoReturn:
    """Wait until the child ends, and exit with its exit code or signal. Kill the child if it exceeds its memory limit.

    Args:
        child: ID of the guarded process.
        folder: the folder of its files.
        memory: maximum size in bytes of its address space and its files together.
        processes: descriptor of a ``/proc`` in which the child has the ID ``child``.
    """
    status = 1
    try:
        ended = descriptor_of(child)
        # The reader of the child's answer waits until every process has closed the pipe, so the guard closes its copy.
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
    """End this process by a signal, without a core dump; return only if the signal is blocked."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def descriptor_of(process: int) -> int:
    """Return a descriptor of a process (``pidfd``).

    Raises:
        UncontainedError: the kernel does not support process descriptors, or refuses one.
    """
    try:
        return os.pidfd_open(process)
    except OSError as error:
        raise UncontainedError(
            f"untrusted code cannot be sandboxed: descriptors of processes: {error.strerror}",
            hint="Linux 5.3 or later is required; some containers refuse them.",
        ) from error


def has_ended(process: int, seconds: float = 0.0) -> bool:
    """Wait up to ``seconds`` for the process of a descriptor, and return whether it has ended."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def bytes_of(child: int, folder: Path, processes: int) -> int:
    """Return the total bytes of a process's address space, the files in a folder, and its unlinked open files."""
    try:
        return _address_space(child, processes) + _files(folder) + _nameless_files(child, processes)
    except OSError:
        # The process ended while its sizes were read, so it uses no memory.
        return 0


def _address_space(child: int, processes: int) -> int:
    with open(os.open(f"{child}/statm", os.O_RDONLY, dir_fd=processes)) as stream:  # noqa: PTH123 - a descriptor
        return int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _files(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            # The child may have removed a file, or moved it to a folder that this walk visits later.
            with suppress(OSError):
                total += Path(path, name).lstat().st_blocks * _BLOCK
    return total


def _nameless_files(child: int, processes: int) -> int:
    descriptor = os.open(f"{child}/fd", os.O_RDONLY, dir_fd=processes)
    sizes: dict[tuple[int, int], int] = {}
    try:
        for name in os.listdir(descriptor):  # noqa: PTH208 - a descriptor is not a path
            try:
                found = os.stat(name, dir_fd=descriptor)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and not found.st_nlink:
                sizes[found.st_dev, found.st_ino] = found.st_blocks * _BLOCK
    finally:
        os.close(descriptor)
    return sum(sizes.values())
