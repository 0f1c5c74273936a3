"""Namespaces of a contained process: it sees no process, no mount to write to, no network and no queue of others."""

import os
from contextlib import suppress
from pathlib import Path

from kprof.api.live.containment.kernel import LinuxCalls

_USER, _PROCESSES, _IPC, _NETWORK, _MOUNTS = 0x10000000, 0x20000000, 0x08000000, 0x40000000, 0x00020000
_PRIVATE, _BIND, _IN_ALL = 1 << 18, 0x1000, 0x4000
_NO_SET_ID, _NO_DEVICES, _NO_PROGRAMS = 2, 4, 8
_READ_ONLY_MOUNT, _NO_SET_ID_MOUNT = 1, 2


def enter(kernel: LinuxCalls, *, network: bool) -> bool:
    """Give this process namespaces of its own and return whether it has them.

    A user namespace comes first, which lets a process without rights have the others. A system that refuses it may
    allow root the others. The next fork is the first process of the namespace of processes.

    Args:
        kernel: the kernel.
        network: stay in the network's namespace.
    """
    user, group = os.getuid(), os.getgid()
    others = _PROCESSES | _IPC | _MOUNTS | (0 if network else _NETWORK)
    if kernel.unshare(_USER | others):
        # Without these lines the process has the number of nobody, which is no harm.
        for name, line in (("uid_map", f"{user} {user} 1"), ("setgroups", "deny"), ("gid_map", f"{group} {group} 1")):
            with suppress(OSError):
                Path("/proc/self", name).write_text(line, encoding="ascii")
        return True
    return kernel.unshare(others)


def arrange_mounts(kernel: LinuxCalls, folder: Path) -> None:
    """Make every mount but the folder read-only, and show processes of the own namespace only.

    What the kernel refuses here stays as it is: Landlock refuses the same files.
    """
    place = str(folder)
    kernel.mount("none", "/", "none", _PRIVATE | _IN_ALL)
    if kernel.mount(place, place, "none", _BIND) and kernel.set_mount_attributes(
        "/", add=_READ_ONLY_MOUNT | _NO_SET_ID_MOUNT, recursive=True
    ):
        kernel.set_mount_attributes(place, remove=_READ_ONLY_MOUNT)
    kernel.mount("proc", "/proc", "proc", _NO_SET_ID | _NO_DEVICES | _NO_PROGRAMS)
