"""Disassemble a code object with an installed LLVM library, without LLVM tools on the host.

The library comes with ROCm or with the package ``rocm-bindings-compiler`` (the extra ``disasm``), which is found by its
metadata and never imported. It runs in a separate process, because bytes that are not code can make it abort.
"""

import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from kprof import children
from kprof.errors import InputError
from kprof.inputs.code_object.elf import Elf
from kprof.inputs.code_object.model import CodeObject

# LLVM's library in ``rocm-bindings-compiler`` links to ROCm's builds of zlib and zstd but calls neither of them when it
# disassembles. If ROCm is not installed, empty stub libraries with their names let LLVM's library load. Layout of the
# stubs: ELF-64 System V ABI, chapters 4 and 5.
_ALIGN = 0x1000
_ET_DYN, _EM_X86_64, _PT_LOAD, _PT_DYNAMIC, _PT_GNU_STACK = 3, 62, 1, 2, 0x6474E551
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_SONAME = 0, 4, 5, 6, 10, 11, 14
_READ, _WRITE = 4, 2


def stub_library(name: str) -> bytes:
    """Return an x86-64 shared library with a ``DT_SONAME`` and no symbols."""
    strings = b"\0" + name.encode("ascii") + b"\0"
    headers = 64 + 3 * 56
    symbols_at = headers
    hash_at = symbols_at + 24
    strings_at = hash_at + 16
    dynamic_at = -(-(strings_at + len(strings)) // 8) * 8
    entries = [
        (_DT_SONAME, 1), (_DT_HASH, hash_at), (_DT_STRTAB, strings_at), (_DT_SYMTAB, symbols_at),
        (_DT_STRSZ, len(strings)), (_DT_SYMENT, 24), (_DT_NULL, 0),
    ]  # fmt: skip
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    size = dynamic_at + len(dynamic)
    magic = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header = struct.pack("<16sHHIQQQIHHHHHH", magic, _ET_DYN, _EM_X86_64, 1, 0, 64, 0, 0, 64, 56, 3, 0, 0, 0)
    rows = [
        (_PT_LOAD, 0, size, _ALIGN), (_PT_DYNAMIC, dynamic_at, len(dynamic), 8), (_PT_GNU_STACK, 0, 0, 16),
    ]  # fmt: skip
    segments = b"".join(
        struct.pack("<IIQQQQQQ", kind, _READ | _WRITE, at, at, at, length, length, align)
        for kind, at, length, align in rows
    )
    # The hash table has one bucket, one symbol and no chain, because the symbol table contains only its empty first
    # entry.
    table = struct.pack("<IIII", 1, 1, 0, 0)
    body = header + segments + bytes(24) + table + strings
    return body.ljust(dynamic_at, b"\0") + dynamic


PACKAGE = "rocm-bindings-compiler"
IN_PACKAGE = "rocm/bindings/llvm/libLLVM.so"
IN_ROCM = ("/opt/rocm/lib/llvm/lib/libLLVM.so", "/opt/rocm/llvm/lib/libLLVM.so")
_NEEDED = ("librocm_sysdeps_z.so.1", "librocm_sysdeps_zstd.so.1")
_CHILD = Path(__file__).with_name("llvm_child.py")
_TIMEOUT_SECONDS = 60
_MOST_CRASHES = 8
_NO_PROCESSOR = 3
_MARK = "mark"
_NO_TYPE, _FUNCTION = 0, 2
_JUMPS = ("s_branch", "s_cbranch", "s_call")
# LLVM feature that selects the form in which compilers before LLVM 22 write 16-bit operands of some architectures.
_OTHER_FEATURES = "-real-true16"


@dataclass(frozen=True)
class Decoded:
    """One disassembled instruction.

    Attributes:
        offset, length: position in the section and length, in bytes.
        text: the instruction as LLVM writes it; empty if LLVM does not recognise the instruction.
    """

    offset: int
    length: int
    text: str


@cache
def find_library() -> Path | None:
    """Return the path of an LLVM library with an AMDGPU disassembler, or ``None`` if none is installed."""
    for place in map(Path, IN_ROCM):
        if place.is_file():
            return place
    try:
        place = Path(str(metadata.distribution(PACKAGE).locate_file(IN_PACKAGE)))
    except metadata.PackageNotFoundError:
        return None
    return place if place.is_file() else None


def listing(code: CodeObject, library: Path, path: str | None = None) -> str:
    """Return a code object's instructions in llvm-objdump's output format.

    Instructions that LLVM does not recognise are written as ``.long``.

    Raises:
        InputError: if the library cannot be loaded or does not support the architecture.
    """
    elf = Elf(code.data, path)
    lines = [f"{path or 'code object'}:\tfile format elf64-amdgpu", ""]
    for index, section in enumerate(elf.sections):
        if section.name.startswith(".text") and section.size:
            lines += ["", f"Disassembly of section {section.name}:"]
            lines += _section(elf, index, code.arch, library)
    return "\n".join(lines) + "\n"


def _section(elf: Elf, index: int, arch: str, library: Path) -> list[str]:
    section = elf.sections[index]
    code = elf.data[section.offset : section.offset + section.size]
    decoded = decode(code, arch, library, elf.path)
    named = sorted({(s.value, s.name) for s in elf.symbols() if s.section == index and s.kind in {_NO_TYPE, _FUNCTION}})
    headings: dict[int, list[str]] = {}
    for value, name in named:
        if name:
            headings.setdefault(value, []).append(name)
    starts = sorted({s.value for s in elf.symbols() if s.section == index and s.kind == _FUNCTION and s.name})
    lines = []
    for one in decoded:
        address = section.address + one.offset
        lines += [line for name in headings.get(address, ()) for line in ("", f"{address:016x} <{name}>:")]
        lines.append(_line(one, address, code, starts, headings))
    return lines


def _line(one: Decoded, address: int, code: bytes, starts: Sequence[int], names: dict[int, list[str]]) -> str:
    words = [
        int.from_bytes(code[at : at + 4].ljust(4, b"\0"), "little")
        for at in range(one.offset, one.offset + one.length, 4)
    ]
    text = one.text or f".long 0x{words[0]:08x}"
    line = f"\t{text:<60}// {address:012X}: {' '.join(f'{word:08X}' for word in words)}"
    if one.text.startswith(_JUMPS) and one.length == 4:
        distance = words[0] & 0xFFFF
        target = address + 4 + 4 * (distance - 0x10000 if distance & 0x8000 else distance)
        base = max((start for start in starts if start <= target), default=None)
        if base is not None:
            line += f" <{names[base][0]}+{target - base:#x}>" if target != base else f" <{names[base][0]}>"
    return line


def decode(code: bytes, arch: str, library: Path, path: str | None = None) -> list[Decoded]:
    """Decode code into consecutive instructions without gaps.

    LLVM can read 16-bit operands in two forms; the form that leaves fewer bytes undecoded is used.

    Raises:
        InputError: under the conditions of :func:`listing`.
    """
    found = _decode(code, arch, "", library, path)
    if any(not one.text for one in found):
        other = _decode(code, arch, _OTHER_FEATURES, library, path)
        found = min(found, other, key=lambda way: sum(one.length for one in way if not one.text))
    return found


def _decode(code: bytes, arch: str, features: str, library: Path, path: str | None) -> list[Decoded]:
    found: list[Decoded] = []
    at = crashes = 0
    while at + 4 <= len(code):
        status, decoded = _run(code[at:], arch, features, library, path)
        if status:
            status, decoded = _run(code[at:], arch, features, library, path, mark=True)
        found += [Decoded(one.offset + at, one.length, one.text) for one in decoded]
        at = found[-1].offset + found[-1].length if found else at
        if status == 0:
            break
        # LLVM aborted at this position, so it cannot decode this word.
        crashes += 1
        rest = len(code) if crashes >= _MOST_CRASHES else at + 4
        found += [Decoded(word, 4, "") for word in range(at, min(rest, len(code) - 3), 4)]
        at = rest
    return found


def _run(
    code: bytes, arch: str, features: str, library: Path, path: str | None, *, mark: bool = False
) -> tuple[int, list[Decoded]]:
    """Return the child's exit status, which is negative if LLVM aborted, and the instructions that it wrote."""
    with tempfile.TemporaryDirectory(prefix="kprof-") as folder:
        stubs = []
        if not library.is_relative_to("/opt/rocm"):
            for name in _NEEDED:
                stub = Path(folder) / name
                stub.write_bytes(stub_library(name))
                stubs.append(str(stub))
        command = [
            sys.executable,
            "-I",
            "-S",
            str(_CHILD),
            str(library),
            arch,
            features,
            "mark" if mark else "",
            *stubs,
        ]
        try:
            ran = children.run(command, input=code, capture_output=True, timeout=_TIMEOUT_SECONDS, check=False)
        except (subprocess.TimeoutExpired, OSError) as error:
            raise InputError(f"LLVM's library cannot be run: {error}", path=path) from error
    if ran.returncode == _NO_PROCESSOR:
        raise InputError(f"LLVM's library ({library}) does not know {arch}", path=path)
    decoded = list(_read(ran.stdout.decode("utf-8", "replace")))
    if ran.returncode and not ran.stderr.startswith(b"loaded"):
        why = ran.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = why[-1][:200] if why else f"exit status {ran.returncode}"
        raise InputError(f"LLVM's library cannot be used: {reason}", path=path)
    return ran.returncode, decoded


def _read(text: str) -> list[Decoded]:
    found = []
    for line in text.split("\n")[:-1]:
        offset, _, rest = line.partition(" ")
        length, _, said = rest.partition(" ")
        found.append(Decoded(int(offset), int(length), said.replace("\t", " ").strip()))
    return found
