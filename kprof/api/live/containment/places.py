"""Files of a contained process, by Landlock: it writes below its folder, and reads Python, its packages and the system.

By namespaces it sees no process, no mount to write to, no network and no queue of others.

Of ``/proc`` it reads its own process and figures of the machine, of ``/etc`` what libraries need. The lists name files
and not folders, because ``/etc/shadow`` is readable for root and the command lines of all processes for everybody.
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
"""Landlock's rights to execute and read files and to read folders; the other bits change something."""
_WRITE_DEVICE = 0b110 | 1 << 15
"""Rights to write and read a file, and to control a device."""
_ON_FILES = 0b1100000000000111
"""The rights that mean something for a file; a rule about a file may name no others."""
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""Version of Landlock to the number of rights that it knows; 16 in later ones."""
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
    """Require Landlock.

    Raises:
        UncontainedError: the kernel has none, or refuses it.
    """
    kernel.landlock_version()


def limit(kernel: LinuxCalls, folder: Path, *, network: bool) -> None:
    """Let this process read the files of Python and the system, and write below the folder.

    Raises:
        UncontainedError: the kernel refuses.
    """
    version = kernel.landlock_version()
    rights = (1 << _RIGHTS.get(version, 16)) - 1
    # Of the network: TCP, refused by the filter of calls. Scoped: sockets without a name, and signals.
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
    """Places of Python, its packages and the system's libraries."""
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values())
    packages = [path for path in sys.path if path and not _is_too_wide(Path(path))]
    return dict.fromkeys([*SYSTEM, *(FOR_NETWORK if network else ()), *prefixes, *packages])


def _is_too_wide(folder: Path) -> bool:
    """Return whether a folder holds all of a home or of temporary files: a script there puts it on Python's path."""
    import pwd

    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        home = "/root"
    return any(Path(place).resolve().is_relative_to(folder.resolve()) for place in (home, "/tmp", "/var/tmp"))  # noqa: S108


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
