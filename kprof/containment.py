"""Taking rights away from this process before it runs code that nobody has read. Linux only, without root.

Four mechanisms of the kernel, each documented in its manual page: ``seccomp(2)`` refuses system calls, ``landlock(7)``
refuses files, ``unshare(2)`` takes the network away, ``setrlimit(2)`` limits memory and time. None can be undone by the
process or by what it starts. Numbers of system calls are those of the kernel's tables for x86_64 and aarch64.
"""

import ctypes
import os
import platform
import struct
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kprof.errors import KprofError

_ALLOW, _REFUSE, _NO_SUCH_CALL, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_CLONE_THREAD, _NEW_USER, _NEW_NETWORK = 0x00010000, 0x10000000, 0x40000000
_NO_NEW_PRIVILEGES, _SECCOMP = 38, 22
_X32 = 0x40000000
_READ = 0b1101
"""Landlock's rights to execute and read files and to read folders; the other bits change something."""
_ON_FILES = 0b1100000000000111
"""The rights that mean something for a file; a rule about one may name no others."""
_LANDLOCK = (444, 445, 446)
LARGEST_FILE = 64 << 20
"""Bytes of a file that a contained process may write."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/opt", "/etc", "/proc", "/sys")


class UncontainedError(KprofError):
    """This system cannot contain a process."""


@dataclass(frozen=True)
class _Calls:
    """Numbers of the system calls of a machine, and how seccomp names the machine."""

    audit: int
    refused: tuple[int, ...]
    network: tuple[int, ...]
    clone: int
    signals: tuple[int, ...]
    limits: int


# refused: execve, execveat, ptrace, process_vm_readv and _writev, tkill, the queues of signals, pidfd_send_signal,
# unshare, setns, mount, bpf, perf_event_open, keyctl, userfaultfd, setrlimit, io_uring_setup; fork and vfork.
_MACHINES = {
    "x86_64": _Calls(
        0xC000003E,
        (59, 322, 101, 310, 311, 200, 129, 297, 424, 272, 308, 165, 321, 298, 250, 323, 160, 425, 57, 58),
        (41, 53),
        56,
        (62, 234),
        302,
    ),
    "aarch64": _Calls(
        0xC00000B7,
        (221, 281, 117, 270, 271, 130, 138, 240, 424, 97, 268, 40, 280, 241, 219, 282, 164, 425),
        (198, 199),
        220,
        (129, 131),
        261,
    ),
}
_CLONE3 = 435


def contain(folder: Path, *, memory: int, seconds: float, network: bool = False) -> None:
    """Contain this process. It must have one thread; what it has open stays open.

    From here on it starts no process and no program, sends signals to itself only, opens no socket, writes below
    ``folder`` only, and reads what belongs to Python, its packages and the system, no home and no other process.

    Args:
        folder: the one place where it writes.
        memory: bytes of address space that it may have.
        seconds: of processor time, after which it is killed.
        network: leave the network.

    Raises:
        UncontainedError: the system cannot do one of these.
    """
    calls = _MACHINES.get(platform.machine())
    if not sys.platform.startswith("linux") or calls is None:
        raise UncontainedError(
            f"code that nobody has read cannot be contained on {sys.platform} {platform.machine()}",
            hint="Run it on Linux, x86_64 or aarch64.",
        )
    kernel = ctypes.CDLL(None, use_errno=True)
    _must(kernel.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    if not network:
        # Where a user may not have namespaces of their own, the filter below refuses the sockets alone.
        kernel.unshare(_NEW_USER | _NEW_NETWORK)
    _only_files(kernel, folder)
    _limit(memory, seconds)
    _only_calls(kernel, calls, network=network)


def _must(result: int, what: str) -> int:
    """A result of a system call.

    Raises:
        UncontainedError: it failed.
    """
    if result < 0:
        reason = os.strerror(ctypes.get_errno())
        raise UncontainedError(
            f"code that nobody has read cannot be contained: {what}: {reason}",
            hint="It takes Linux 5.13 or later with Landlock and seccomp, which some containers refuse.",
        )
    return result


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


def _only_files(kernel: ctypes.CDLL, folder: Path) -> None:
    """Let files be read where Python and the system are, and be written below the folder."""
    create, add, restrict = _LANDLOCK
    version = _must(kernel.syscall(create, None, 0, 1), "Landlock")
    rights = (1 << {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)) - 1
    # Of the network: TCP, refused by the filter of calls. Scoped: sockets without a name, and signals.
    parts = [rights, *([0] if version >= 4 else []), *([3] if version >= 6 else [])]
    made = struct.pack(f"{len(parts)}Q", *parts)
    rules = _must(kernel.syscall(create, made, len(made), 0), "Landlock")
    for path, allowed in (
        (str(folder), rights),
        *((path, rights & 0b110 | rights & 1 << 15) for path in _DEVICES),
        *((path, _READ) for path in _readable()),
    ):
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        own = allowed if Path(path).is_dir() else allowed & _ON_FILES
        _must(kernel.syscall(add, rules, 1, struct.pack("=Qi", own, descriptor), 0), "Landlock")
        os.close(descriptor)
    _must(kernel.syscall(restrict, rules, 0), "Landlock")
    os.close(rules)


def _readable() -> Iterable[str]:
    """Where Python, its packages and the system's libraries are."""
    prefixes = (sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values())
    return dict.fromkeys([*_SYSTEM, *prefixes, *(path for path in sys.path if path)])


def _only_calls(kernel: ctypes.CDLL, calls: _Calls, *, network: bool) -> None:
    """Refuse the system calls with which a process reaches others, the network, or more rights."""

    class FilterCode(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    code = b"".join(_filter(calls, os.getpid(), network=network))
    buffer = ctypes.create_string_buffer(code, len(code))
    program = FilterCode(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _must(kernel.prctl(_SECCOMP, 2, ctypes.byref(program), 0, 0), "seccomp")


def _filter(calls: _Calls, process: int, *, network: bool) -> list[bytes]:
    """The filter in the kernel's byte code: eight bytes an instruction, jumps counted from the next one."""
    refuse, allow = _give(_REFUSE), _give(_ALLOW)
    found = [_load(_ARCHITECTURE), _unless_equal(calls.audit, 1), _skip(1), _give(_KILL), _load(_NUMBER)]
    # Another numbering of the same calls, which x86_64 has besides.
    found += [_step(0x35, 0, 1, _X32), refuse]
    for number in (*calls.refused, *(() if network else calls.network)):
        found += [_unless_equal(number, 1), refuse]
    found += [_unless_equal(_CLONE3, 1), _give(_NO_SUCH_CALL)]
    found += [_unless_equal(calls.clone, 4), _load(_ARGUMENTS), _step(0x45, 0, 1, _CLONE_THREAD), allow, refuse]
    for number in calls.signals:
        found += [_unless_equal(number, 4), _load(_ARGUMENTS), _unless_equal(process, 1), allow, refuse]
    # Reading limits has no new ones to set, both halves of the third argument are 0.
    halves = [_load(_ARGUMENTS + 16), _unless_equal(0, 3), _load(_ARGUMENTS + 20), _unless_equal(0, 1), allow, refuse]
    return [*found, _unless_equal(calls.limits, len(halves)), *halves, allow]


def _step(code: int, true: int, false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, true, false, value)


def _load(offset: int) -> bytes:
    return _step(0x20, 0, 0, offset)


def _give(answer: int) -> bytes:
    return _step(0x06, 0, 0, answer)


def _skip(count: int) -> bytes:
    return _step(0x05, 0, 0, count)


def _unless_equal(value: int, skipped: int) -> bytes:
    """Go on where it equals the value, else skip so many instructions."""
    return _step(0x15, 0, skipped, value)
