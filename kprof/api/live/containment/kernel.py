"""System calls of Linux for which Python has no function."""

import ctypes
import os
import struct

from kprof.errors import KprofError

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_CAPABILITY_VERSION = 0x20080522
_LANDLOCK = (444, 445, 446)
_MOUNT_SETATTR = 442
_HERE, _RECURSIVE = -100, 0x8000


class UncontainedError(KprofError):
    """Raised if this system cannot sandbox a process."""


class LinuxCalls:
    """System calls of this system's Linux kernel, made through the C library.

    The numbers in this file are the same on every machine.
    """

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def forbid_new_privileges(self) -> None:
        """Prevent programs started by this process from gaining more rights than it has (``no_new_privs``).

        Raises:
            UncontainedError: the kernel refuses.
        """
        _check(self._library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")

    def unshare(self, flags: int) -> bool:
        """Move this process into new namespaces and return whether that succeeded."""
        return int(self._library.unshare(flags)) == 0

    def mount(self, source: str, target: str, kind: str, flags: int) -> bool:
        """Mount a file system and return whether that succeeded."""
        words = [word.encode() for word in (source, target, kind)]
        return int(self._library.mount(*words, ctypes.c_ulong(flags), None)) == 0

    def set_mount_attributes(self, target: str, *, add: int = 0, remove: int = 0, recursive: bool = False) -> bool:
        """Change a mount, and the mounts below it if ``recursive``; return whether that succeeded."""
        attributes = struct.pack("4Q", add, remove, 0, 0)
        flags = _RECURSIVE if recursive else 0
        size = ctypes.c_size_t(len(attributes))
        return int(self._library.syscall(_MOUNT_SETATTR, _HERE, target.encode(), flags, attributes, size)) == 0

    def landlock_version(self) -> int:
        """Return the version of the kernel's Landlock.

        Raises:
            UncontainedError: the kernel has no Landlock.
        """
        return _check(self._library.syscall(_LANDLOCK[0], None, ctypes.c_size_t(0), 1), "Landlock")

    def landlock_rules(self, attributes: bytes) -> int:
        """Create a Landlock rule set and return its descriptor.

        Raises:
            UncontainedError: the kernel refuses.
        """
        size = ctypes.c_size_t(len(attributes))
        return _check(self._library.syscall(_LANDLOCK[0], attributes, size, 0), "Landlock")

    def landlock_allow(self, rules: int, rights: int, place: int) -> None:
        """Allow rights on an open file or on everything below an open folder.

        Raises:
            UncontainedError: the kernel refuses.
        """
        _check(self._library.syscall(_LANDLOCK[1], rules, 1, struct.pack("=Qi", rights, place), 0), "Landlock")

    def landlock_enforce(self, rules: int) -> None:
        """Deny this process every file access that no rule allows.

        Raises:
            UncontainedError: the kernel refuses.
        """
        _check(self._library.syscall(_LANDLOCK[2], rules, 0), "Landlock")

    def drop_capabilities(self) -> None:
        """Give up all rights of root, also in a user namespace.

        Raises:
            UncontainedError: the kernel refuses.
        """
        head, none = struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24)
        _check(self._library.capset(head, none), "capabilities")

    def filter_calls(self, code: bytes) -> None:
        """Install a seccomp filter, eight bytes per instruction.

        Raises:
            UncontainedError: the kernel refuses.
        """

        class _Program(ctypes.Structure):
            _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

        buffer = ctypes.create_string_buffer(code, len(code))
        program = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
        _check(self._library.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0), "seccomp")


def _check(result: int, what: str) -> int:
    """Return the result of a system call.

    Raises:
        UncontainedError: the call failed.
    """
    if result < 0:
        reason = os.strerror(ctypes.get_errno())
        raise UncontainedError(
            f"untrusted code cannot be sandboxed: {what}: {reason}",
            hint="Linux 5.13 or later with Landlock and seccomp is required; some containers refuse them.",
        )
    return result
