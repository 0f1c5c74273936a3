"""The system call filter: an allow-list in the byte code of ``seccomp(2)``, eight bytes per instruction."""

import struct
from dataclasses import dataclass

from kprof.api.live.containment.calls import ALLOWED, CONDITIONAL, NETWORK, NEWEST, PRETENDED
from kprof.api.live.containment.kernel import LinuxCalls

_ALLOW, _REFUSE, _PRETEND, _NO_SUCH_CALL, _KILL = 0x7FFF0000, 0x00050000 | 1, 0x00050000, 0x00050000 | 38, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_CLONE_THREAD = 0x00010000
_X32 = 0x40000000

# prctl operations that name processes and memory or control tracing. PR_SET_PDEATHSIG is excluded, because it would
# let the process outlive its guard.
_PRCTL = (3, 15, 16, 0x53564D41)
# fcntl operations that duplicate descriptors, set flags and locks, and read the size of a pipe. Setting the owner of
# signals is excluded, and enlarging a pipe, because the guard does not count a pipe's memory.
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
# ioctl operations that query a terminal and its size or the readable bytes, and that set descriptor flags.
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)


@dataclass(frozen=True)
class CallNumbers:
    """A machine's audit number for seccomp, and the column of its system call numbers in the tables."""

    audit: int
    column: int

    def numbers(self, calls: "dict[str, tuple[int, int | None]]") -> list[int]:
        """Return the numbers of the calls that this machine has."""
        return [number for pair in calls.values() if (number := pair[self.column]) is not None]


_MACHINES = {"x86_64": CallNumbers(0xC000003E, 0), "aarch64": CallNumbers(0xC00000B7, 1)}


def machine_of(name: str) -> CallNumbers | None:
    """Return the machine that Linux calls ``name`` (``x86_64``), or None if its system calls are not known."""
    return _MACHINES.get(name)


def install(kernel: LinuxCalls, machine: CallNumbers, process: int, *, network: bool) -> None:
    """Restrict this process to the system calls of the allow-list.

    Args:
        kernel: system calls of this system's Linux kernel.
        machine: the machine that the kernel runs on.
        process: ID of this process, which may send signals to itself.
        network: whether to allow sockets.

    Raises:
        UncontainedError: the kernel refuses the filter.
    """
    kernel.filter_calls(b"".join(code_for(machine, process, network=network)))


def code_for(machine: CallNumbers, process: int, *, network: bool) -> list[bytes]:
    """Return the instructions of the filter; jump offsets are relative to the next instruction."""
    code = [_load(_ARCHITECTURE), _unless_equal(machine.audit, 1), _skip(1), _return(_KILL), _load(_NUMBER)]
    # x32 is a second numbering of the same calls on x86_64; its numbers begin at _X32 and are refused.
    code += [_bpf_instruction(0x35, 0, 1, _X32), _return(_REFUSE)]
    for number in machine.numbers({**ALLOWED, **(NETWORK if network else {})}):
        code += [_unless_equal(number, 1), _return(_ALLOW)]
    for number in machine.numbers(PRETENDED):
        code += [_unless_equal(number, 1), _return(_PRETEND)]
    for name, then in _conditions(process).items():
        for number in machine.numbers({name: CONDITIONAL[name]}):
            code += [_unless_equal(number, len(then)), *then]
    return [*code, _bpf_instruction(0x25, 0, 1, NEWEST), _return(_NO_SUCH_CALL), _return(_REFUSE)]


def _conditions(process: int) -> dict[str, list[bytes]]:
    """Return, for each call that depends on its arguments, the instructions that decide whether to allow it."""
    to_itself = _if_first_is(0, (process,))
    # prlimit64 only reads limits if its third argument is 0. The argument has 64 bits, so both halves are compared.
    reads = [_load(_ARGUMENTS + 16), _unless_equal(0, 3), _load(_ARGUMENTS + 20), _unless_equal(0, 1)]
    return {
        "clone": [_load(_ARGUMENTS), _bpf_instruction(0x45, 0, 1, _CLONE_THREAD), _return(_ALLOW), _return(_REFUSE)],
        # A filter cannot read clone3's flags, because they are in memory. Without clone3 the C library uses clone.
        "clone3": [_return(_NO_SUCH_CALL)],
        "kill": to_itself,
        "tgkill": to_itself,
        "prctl": _if_first_is(0, _PRCTL),
        "prlimit64": [*reads, _return(_ALLOW), _return(_REFUSE)],
        "fcntl": _if_first_is(8, _FCNTL),
        "ioctl": _if_first_is(8, _IOCTL),
    }


def _if_first_is(offset: int, values: "tuple[int, ...]") -> list[bytes]:
    """Return instructions that allow a call if its argument at this offset has one of the values, else refuse it."""
    code = [_load(_ARGUMENTS + offset)]
    for value in values:
        code += [_unless_equal(value, 1), _return(_ALLOW)]
    return [*code, _return(_REFUSE)]


def _bpf_instruction(code: int, true: int, false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, true, false, value)


def _load(offset: int) -> bytes:
    return _bpf_instruction(0x20, 0, 0, offset)


def _return(answer: int) -> bytes:
    return _bpf_instruction(0x06, 0, 0, answer)


def _skip(count: int) -> bytes:
    return _bpf_instruction(0x05, 0, 0, count)


def _unless_equal(value: int, skipped: int) -> bytes:
    """Return an instruction that skips the next ``skipped`` instructions unless the loaded word equals the value."""
    return _bpf_instruction(0x15, 0, skipped, value)
