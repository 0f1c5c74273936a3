"""Convert llvm-objdump's disassembly and hand-written comments into text that looks like compiler output."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_HEADER = re.compile(r"^\S.*:\s+file format elf64-amdgpu", re.MULTILINE)
_FUNCTION = re.compile(r"^([0-9a-fA-F]{8,16}) <(.+)>:\s*$")
_ADDRESS = re.compile(r"//\s*([0-9A-Fa-f]{8,16}):")
_TARGET = re.compile(r"<(.+?)(?:\+0x([0-9a-fA-F]+))?>\s*$")
_LONG_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_KERNEL_ALIGNMENT = 256
_JUMPS = ("s_branch", "s_cbranch", "s_call")


@dataclass(frozen=True)
class Normalized:
    """Assembly text in the form in which a compiler writes it, with unchanged line numbers.

    Attributes:
        text: the text.
        functions: names of the functions in a disassembly.
        kernels: names of the functions at a 256-byte boundary, the alignment that kernels require.
        disassembly: whether the text came from llvm-objdump.
    """

    text: str
    functions: frozenset[str] = frozenset()
    kernels: frozenset[str] = frozenset()
    disassembly: bool = False


_DEBUG_DIRECTIVES = frozenset({".loc", ".file"})
"""Directives that kprof adds from the debug information; llvm-objdump writes none."""
_PADDING = frozenset({"s_nop", "s_code_end"})
"""Instructions that an assembler uses as padding."""
_NEVER_FALLS_THROUGH = ("s_endpgm", "s_branch", "s_setpc")


def is_objdump(text: str) -> bool:
    """Return whether the text is llvm-objdump's output."""
    head = text[:4096]
    return _HEADER.search(head) is not None or "\nDisassembly of section" in head


def _strip_comments(text: str) -> str:
    """Blank out ``/* */`` comments that span lines and cut ``//`` comments, keeping line numbers."""
    if "/*" in text:
        text = _LONG_COMMENT.sub(lambda m: "\n" * m[0].count("\n") if "\n" in m[0] else m[0], text)
    if "//" not in text:
        return text
    lines = text.split("\n")
    for number, line in enumerate(lines):
        at = line.find("//")
        if at >= 0 and '"' not in line and ";" not in line[:at]:
            lines[number] = line[:at]
    return "\n".join(lines)


def _labelled(line: str, labels: dict[int, str], addresses: dict[int, int], bases: dict[str, int]) -> str:
    """Return one instruction without its comment; a branch offset is replaced by a label."""
    code, _, comment = line.partition("//")
    code = code.strip()
    if code.startswith(".long"):
        # Instructions that llvm-objdump cannot decode must be counted as unknown instead of being skipped as data.
        return f"undecoded{code[len('.long') :]}"
    target = _TARGET.search(comment)
    if target is None or target[1] not in bases or not code.startswith(_JUMPS):
        return code
    at = addresses.get(bases[target[1]] + int(target[2] or "0", 16))
    if at is None:
        return code
    label = labels.setdefault(at, f".L_{bases[target[1]] + int(target[2] or '0', 16):x}")
    return " ".join([*code.split()[:-1], label])


def _disassembly(text: str) -> Normalized:
    """Add a label for every branch target, keeping line numbers."""
    lines = text.split("\n")
    addresses: dict[int, int] = {}
    bases: dict[str, int] = {}
    for number, line in enumerate(lines):
        match = _ADDRESS.search(line)
        function = _FUNCTION.match(line)
        if match is not None:
            addresses[int(match[1], 16)] = number
        elif function is not None:
            bases[function[2]] = int(function[1], 16)
    labels: dict[int, str] = {}
    out = []
    for line in lines:
        function = _FUNCTION.match(line)
        if function is not None:
            out.append(f'"{function[2]}":')
        else:
            stated = line.partition(" ")[0] in _DEBUG_DIRECTIVES
            out.append(line if stated else _labelled(line, labels, addresses, bases) if "//" in line else "")
    _drop_padding(out, labels)
    for number, label in labels.items():
        out[number] = f"{label}: {out[number]}"
    kernels = frozenset(name for name, base in bases.items() if base % _KERNEL_ALIGNMENT == 0)
    return Normalized("\n".join(out), frozenset(bases), kernels, disassembly=True)


def _drop_padding(lines: list[str], labels: Mapping[int, str]) -> None:
    """Blank the lines of alignment padding after a function's end or an unconditional branch.

    Args:
        lines: lines of the disassembly, changed in place.
        labels: line numbers of branch targets.
    """
    unreachable = False
    for number, line in enumerate(lines):
        name = line.split(maxsplit=1)[0] if line.strip() else ""
        if name in _DEBUG_DIRECTIVES:
            continue
        if number in labels or name.endswith(":"):
            unreachable = False
        if name.startswith(_NEVER_FALLS_THROUGH):
            unreachable = True
        elif unreachable and name in _PADDING:
            lines[number] = ""
        elif name:
            unreachable = False


def normalize(text: str) -> Normalized:
    """Return the text in the form in which a compiler writes it, keeping line numbers."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _disassembly(text) if is_objdump(text) else Normalized(_strip_comments(text))
