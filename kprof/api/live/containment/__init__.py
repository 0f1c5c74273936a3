"""Sandbox this process before it runs untrusted code. Linux only, without root.

The mechanisms are provided by the Linux kernel, and each has a manual page: ``seccomp(2)`` allows only the system calls
of a list (:mod:`~kprof.api.live.containment.calls`), ``landlock(7)`` limits the files, ``unshare(2)`` gives a process
its own namespaces, ``capabilities(7)`` are dropped, ``setrlimit(2)`` limits memory and time, and a guard limits the sum
of memory and files (:mod:`~kprof.api.live.containment.guarding`). Neither the process nor its children can undo these
restrictions.

Landlock and seccomp are required. Namespaces are used if the kernel allows them, which is often not the case in
containers. No restriction depends on namespaces alone.
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
"""Maximum size in bytes of a file that a sandboxed process may write."""


def contain(folder: Path, *, memory: int, seconds: float, parent: int, network: bool = False) -> None:
    """Sandbox this process, which must have a single thread. Its open files stay open.

    This function forks and returns in the child; the calling process becomes the child's guard, and exits with the
    child's exit code or signal. From then on the child can start no process or program, send signals only to itself,
    open no socket, share no memory, and write only below ``folder``. It can read files of Python, its packages and the
    system, but no home folder and no other process.

    Args:
        folder: the only folder to which the process may write.
        memory: maximum size in bytes of its address space and its files together.
        seconds: maximum processor time, after which the process is killed.
        parent: process ID of the parent; the sandboxed process is killed when the parent ends.
        network: allow network access.

    Raises:
        UncontainedError: the system does not support one of the mechanisms.
    """
    machine = call_filter.machine_of(platform.machine())
    if not sys.platform.startswith("linux") or machine is None:
        raise UncontainedError(
            f"untrusted code cannot be sandboxed on {sys.platform} {platform.machine()}",
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
    """Return the size of this process's address space in bytes."""
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
