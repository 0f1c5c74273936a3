"""Disassembling a code object with LLVM's library, where one is installed: no LLVM tools of the host are needed.

The library is that of ROCm, or the one in the package ``rocm-bindings-compiler`` (the extra ``disasm``), which is found
by its metadata and never imported. It runs in a process of its own: bytes that are no code can end it.
"""

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
from kprof.inputs.code_object.stub_library import stub_library

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
# Compilers before LLVM 22 write 16-bit operands of these architectures in another way.
_OTHER_FEATURES = "-real-true16"


@dataclass(frozen=True)
class Decoded:
    """One instruction.

    Attributes:
        offset, length: bytes in its section.
        text: as LLVM writes it; empty where it knows no such instruction.
    """

    offset: int
    length: int
    text: str


@cache
def find_library() -> Path | None:
    """LLVM's library with an AMDGPU disassembler; ``None`` when there is none."""
    for place in map(Path, IN_ROCM):
        if place.is_file():
            return place
    try:
        place = Path(str(metadata.distribution(PACKAGE).locate_file(IN_PACKAGE)))
    except metadata.PackageNotFoundError:
        return None
    return place if place.is_file() else None


def listing(code: CodeObject, library: Path, path: str | None = None) -> str:
    """A code object's instructions, written as llvm-objdump does.

    What LLVM does not know is written as ``.long``.

    Raises:
        InputError: the library cannot be loaded, or does not know the architecture.
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
    """The instructions of a piece of code, one behind the other, without gaps.

    Of two ways to read 16-bit operands the one that leaves fewer bytes unknown is taken.

    Raises:
        InputError: as :func:`listing`.
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
        # Here it died: the word is none that LLVM can read.
        crashes += 1
        rest = len(code) if crashes >= _MOST_CRASHES else at + 4
        found += [Decoded(word, 4, "") for word in range(at, min(rest, len(code) - 3), 4)]
        at = rest
    return found


def _run(
    code: bytes, arch: str, features: str, library: Path, path: str | None, *, mark: bool = False
) -> tuple[int, list[Decoded]]:
    """The child's exit status, negative when LLVM ended it, and what it wrote."""
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
