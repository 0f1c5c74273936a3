"""The filter of system calls: an allow-list of numbers, and arguments of some calls."""

import re
import struct
from pathlib import Path

import pytest

from kprof.api.live.containment import call_filter, calls


def _headers() -> dict[str, dict[str, int]]:
    """The kernel's own numbers, where its headers are installed."""
    found = {}
    for column, path in (("0", "x86_64-linux-gnu/asm/unistd_64.h"), ("1", "asm-generic/unistd.h")):
        file = Path("/usr/include", path)
        if file.is_file():
            lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", file.read_text())
            found[column] = {name.replace("fstatat", "newfstatat"): int(number) for name, number in lines}
    return found


def test_numbers_are_those_of_the_kernels_headers():
    known = _headers()
    if not known:
        pytest.skip("the kernel's headers are not installed")
    for table in (calls.ALLOWED, calls.NETWORK, calls.PRETENDED, calls.CONDITIONAL):
        for name, pair in table.items():
            for column, numbers in known.items():
                own = "newnewfstatat" if name == "newfstatat" and column == "0" else name
                assert pair[int(column)] == numbers.get(own), (name, column)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("network", [True, False])
def test_the_filter_allows_what_the_tables_say(machine, network):
    """Run by an interpreter of the byte code, for every number up to 600 and each machine."""
    found = call_filter.machine_of(machine)
    code = call_filter.code_for(found, 77, network=network)
    allowed = {*found.numbers(calls.ALLOWED), *(found.numbers(calls.NETWORK) if network else ())}
    pretended = set(found.numbers(calls.PRETENDED))
    depends = set(found.numbers(calls.CONDITIONAL))
    for number in range(600):
        if number in depends:
            continue
        answer = _answer(code, found.audit, number)
        expected = "allow" if number in allowed else "pretend" if number in pretended else "refuse"
        assert answer == ("no such call" if number > calls.NEWEST else expected), number
    assert _answer(code, found.audit ^ 1, 0) == "kill"
    assert _answer(code, found.audit, 0x40000000) == "refuse"
    assert _answer(code, found.audit, 0x3FFFFFFF) == "no such call"
    assert _answer(code, found.audit, 0x7FFFFFFF) == "refuse"


CONDITIONS = [
    # call, its arguments, what is answered
    ("clone", (0x00010000 | 0x100,), "allow"),
    ("clone", (17,), "refuse"),
    ("clone", (0x20000000,), "refuse"),
    ("clone3", (0,), "no such call"),
    ("kill", (77, 9), "allow"),
    ("kill", (76, 9), "refuse"),
    ("kill", (0, 9), "refuse"),
    ("kill", (0xFFFFFFFF, 9), "refuse"),
    ("tgkill", (77, 78, 6), "allow"),
    ("tgkill", (78, 77, 6), "refuse"),
    *(("prctl", (number,), "allow") for number in (3, 15, 16, 0x53564D41)),
    *(("prctl", (number,), "refuse") for number in (2, 4, 14, 17, 0xA6AC9A82, 0x29AB26A0, 8, 59)),
    ("prctl", (1, 0), "refuse"),
    ("prctl", (22, 2), "refuse"),
    ("prlimit64", (0, 7, 0), "allow"),
    ("prlimit64", (0, 1 << 63, 0, (1 << 64) - 1), "allow"),
    ("prlimit64", (0, 7, 1 << 63), "refuse"),
    ("prlimit64", (0, 7, 1), "refuse"),
    ("prlimit64", (0, 7, 1 << 32), "refuse"),
    *(("fcntl", (3, number), "allow") for number in (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)),
    *(("fcntl", (3, number), "refuse") for number in (8, 9, 10, 15, 16, 1024, 1026, 1031, 1033, 35, 39)),
    *(("ioctl", (0, number), "allow") for number in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    *(("ioctl", (0, number), "refuse") for number in (0x5412, 0x5402, 0x8901, 0x5452, 0x541A, 0)),
]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_the_filter_looks_at_arguments(machine, condition):
    name, arguments, expected = condition
    found = call_filter.machine_of(machine)
    code = call_filter.code_for(found, 77, network=False)
    (number,) = found.numbers({name: calls.CONDITIONAL[name]})
    assert _answer(code, found.audit, number, arguments) == expected


def test_other_machines_are_not_known():
    """The two that are have the kernel's names for them, AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64."""
    assert call_filter.machine_of("x86_64") == call_filter.CallNumbers(0xC000003E, 0)
    assert call_filter.machine_of("aarch64") == call_filter.CallNumbers(0xC00000B7, 1)
    assert call_filter.machine_of("riscv64") is None
    assert call_filter.machine_of("i686") is None


_ANSWERS = {
    0x7FFF0000: "allow", 0x00050000: "pretend", 0x00050001: "refuse", 0x00050026: "no such call", 0x80000000: "kill"
}  # fmt: skip


def _answer(code: list[bytes], audit: int, number: int, arguments: tuple[int, ...] = ()) -> str:
    """Run the byte code as the kernel would, on ``struct seccomp_data``."""
    data = struct.pack("=IIQ6Q", number, audit, 0, *arguments, *([0] * (6 - len(arguments))))
    at, word = 0, 0
    while True:
        operation, true, false, value = struct.unpack("HBBI", code[at])
        at += 1
        if operation == 0x06:
            return _ANSWERS[value]
        if operation == 0x20:
            (word,) = struct.unpack_from("I", data, value)
        elif operation == 0x05:
            at += value
        else:
            taken = {0x15: word == value, 0x25: word > value, 0x35: word >= value, 0x45: bool(word & value)}[operation]
            at += true if taken else false
