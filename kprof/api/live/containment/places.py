"""File access of a sandboxed process: write below its folder, and read Python, its packages and the system (Landlock).

Namespaces hide other processes, writable mounts, the network and message queues from it.

In ``/proc`` it can read its own process and figures of the machine, in ``/etc`` the files that libraries need. The
lists name files rather than folders, because root can read ``/etc/shadow``, and everyone can read the command lines of
all processes.
"""

import os
import struct
import sys
import sysconfig
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kprof.api.live.containment.kernel import LinuxCalls

_USER, _PROCESSES, _IPC, _NETWORK, _MOUNTS = 0x10000000, 0x20000000, 0x08000000, 0x40000000, 0x00020000
_PRIVATE, _BIND, _IN_ALL = 1 << 18, 0x1000, 0x4000
_NO_SET_ID, _NO_DEVICES, _NO_PROGRAMS = 2, 4, 8
_READ_ONLY_MOUNT, _NO_SET_ID_MOUNT = 1, 2
_READ = 0b1101
"""Landlock's rights to execute and to read files, and to read folders; all other bits are rights to change files."""
_WRITE_DEVICE = 0b110 | 1 << 15
"""Rights to write and read a file, and to control a device."""
_ON_FILES = 0b1100000000000111
"""The rights that apply to files; a rule for a file must not contain other rights."""
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Number of access rights by Landlock version; later versions have 16."""
_NETWORK_VERSION, _SCOPES_VERSION = 4, 6

DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
SYSTEM = (
    *("/usr", "/lib", "/lib64", "/bin", "/opt"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/timezone"),
    *("/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/os-release", "/etc/alternatives", "/etc/mime.types"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/filesystems"),
    *("/proc/sys/vm", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/ngroups_max", "/proc/loadavg", "/proc/uptime"),
    *("/sys/devices/system", "/sys/kernel/mm/transparent_hugepage"),
)
FOR_NETWORK = (
    *("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols"),
    *("/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/ca-certificates", "/run/systemd/resolve"),
)


def require(kernel: LinuxCalls) -> None:
    """Check that the kernel supports Landlock.

    Raises:
        UncontainedError: the kernel has no Landlock, or refuses it.
    """
    kernel.landlock_version()


def limit(kernel: LinuxCalls, folder: Path, *, network: bool) -> None:
    """Allow this process only to read the files of Python and the system, and to write below the folder.

    Raises:
        UncontainedError: the kernel refuses.
    """
    version = kernel.landlock_version()
    rights = (1 << _RIGHTS.get(version, 16)) - 1
    # Landlock need not restrict the network (0), because the system call filter refuses sockets. It restricts both
    # scopes (3): abstract sockets and signals.
    parts = [rights, *([0] if version >= _NETWORK_VERSION else []), *([3] if version >= _SCOPES_VERSION else [])]
    rules = kernel.landlock_rules(struct.pack(f"{len(parts)}Q", *parts))
    for path, allowed in (
        (str(folder), rights),
        *((path, rights & _WRITE_DEVICE) for path in DEVICES),
        *((path, _READ) for path in _readable(network=network)),
    ):
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        kernel.landlock_allow(rules, allowed if Path(path).is_dir() else allowed & _ON_FILES, place)
        os.close(place)
    kernel.landlock_enforce(rules)
    os.close(rules)


def _readable(*, network: bool) -> Iterable[str]:
    """Return the paths of Python, its packages and the system's libraries."""
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values())
    packages = [path for path in sys.path if path and not _is_too_wide(Path(path))]
    return dict.fromkeys([*SYSTEM, *(FOR_NETWORK if network else ()), *prefixes, *packages])


def _is_too_wide(folder: Path) -> bool:
    """Return whether a folder contains a home or temporary folder; scripts in such folders put them on ``sys.path``."""
    import pwd

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        home = "/root"
    return any(Path(place).resolve().is_relative_to(folder.resolve()) for place in (home, "/tmp", "/var/tmp"))  # noqa: S108


def enter(kernel: LinuxCalls, *, network: bool) -> bool:
    """Move this process into new namespaces and return whether that succeeded.

    A user namespace is tried first, because an unprivileged process needs it to create the other namespaces. A system
    that refuses it may still allow root to create the others. The next fork is process 1 of the new process namespace.

    Args:
        kernel: the kernel.
        network: keep the network namespace.
    """
    user, group = os.getuid(), os.getgid()
    others = _PROCESSES | _IPC | _MOUNTS | (0 if network else _NETWORK)
    if kernel.unshare(_USER | others):
        # If these writes fail, the process has the user ID of nobody, which is harmless.
        for name, line in (("uid_map", f"{user} {user} 1"), ("setgroups", "deny"), ("gid_map", f"{group} {group} 1")):
            with suppress(OSError):
                Path("/proc/self", name).write_text(line, encoding="ascii")
        return True
    return kernel.unshare(others)


def arrange_mounts(kernel: LinuxCalls, folder: Path) -> None:
    """Make every mount except the folder read-only, and mount a ``/proc`` that shows only this namespace's processes.

    Failures are ignored, because Landlock protects the same files.
    """
    place = str(folder)
    kernel.mount("none", "/", "none", _PRIVATE | _IN_ALL)
    if kernel.mount(place, place, "none", _BIND) and kernel.set_mount_attributes(
        "/", add=_READ_ONLY_MOUNT | _NO_SET_ID_MOUNT, recursive=True
    ):
        kernel.set_mount_attributes(place, remove=_READ_ONLY_MOUNT)
    kernel.mount("proc", "/proc", "proc", _NO_SET_ID | _NO_DEVICES | _NO_PROGRAMS)
