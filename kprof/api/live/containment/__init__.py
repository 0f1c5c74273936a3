"""Taking rights away from this process before it runs code that nobody has read. Linux only, without root.

The mechanisms are the kernel's, each documented in its manual page: ``seccomp(2)`` allows the system calls of a list
(:mod:`~kprof.api.live.containment.calls`), ``landlock(7)`` limits the files, ``unshare(2)`` gives a process its own
namespaces, ``capabilities(7)`` are dropped, ``setrlimit(2)`` limits memory and time, and a guard counts memory with
files (:mod:`~kprof.api.live.containment.guarding`). None can be undone by the process or by what it starts.

Landlock and seccomp are required. Namespaces are used where the kernel allows them: containers often do not. Nothing
that a candidate is refused rests on them alone.
"""

import ctypes
import os
import platform
import signal
import sys
from pathlib import Path

from kprof.api.live.containment import call_filter, guarding, places
from kprof.api.live.containment.kernel import LinuxCalls, UncontainedError
from kprof.children import tied_to

LARGEST_FILE = 64 << 20
"""Bytes of a file that a contained process may write."""


def contain(folder: Path, *, memory: int, seconds: float, parent: int, network: bool = False) -> None:
    """Contain this process, which must have one thread. What it has open stays open.

    This returns in a fork: the process that called becomes the fork's guard, and ends as the fork does. From here on
    the fork starts no process and no program, sends signals to itself only, opens no socket, shares no memory, writes
    below ``folder`` only, and reads what belongs to Python, its packages and the system: no home, no other process.

    Args:
        folder: the one place where it writes.
        memory: bytes that its address space and its files may take together.
        seconds: of processor time, after which it is killed.
        parent: process that this one ends with.
        network: leave the network.

    Raises:
        UncontainedError: the system cannot do one of these.
    """
    machine = call_filter.machine_of(platform.machine())
    if not sys.platform.startswith("linux") or machine is None:
        raise UncontainedError(
            f"untrusted code cannot be contained on {sys.platform} {platform.machine()}",
            hint="Run it on Linux, x86_64 or aarch64.",
        )
    kernel = LinuxCalls(ctypes.CDLL(None, use_errno=True))
    kernel.forbid_new_privileges()
    places.require(kernel)
    mounts = places.enter(kernel, network=network)
    _tie(parent)
    guard = os.getpid()
    alive = guarding.descriptor_of(guard)
    processes = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
    child = os.fork()
    if child:
        guarding.guard(child, folder, memory=memory, processes=processes)
    os.close(processes)
    _tie(guard if os.getppid() else 0)
    if guarding.has_ended(alive):
        os.kill(os.getpid(), signal.SIGKILL)
    os.close(alive)
    if mounts:
        places.arrange_mounts(kernel, folder)
    os.chdir(folder)
    places.limit(kernel, folder, network=network)
    _limit(memory, seconds)
    kernel.drop_capabilities()
    call_filter.install(kernel, machine, os.getpid(), network=network)


def mapped_bytes() -> int:
    """Return the bytes of this process's address space."""
    words = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(words[0]) * os.sysconf("SC_PAGE_SIZE")


def _tie(parent: int) -> None:
    tie = tied_to(parent)
    if tie is not None:
        tie()


def _limit(memory: int, seconds: float) -> None:
    import resource

    for limit, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, int(seconds) + 1),
        (resource.RLIMIT_FSIZE, LARGEST_FILE),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (most, most))
