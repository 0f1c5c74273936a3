"""Parse assembly text into an :class:`Assembly`."""

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.amdgcn import expressions, metadata, objdump, resources
from kprof.inputs.amdgcn.high_registers import name_high
from kprof.inputs.amdgcn.isa import generation_of
from kprof.inputs.amdgcn.model import Assembly, AssemblyKernel
from kprof.inputs.amdgcn.private_memory import mark_scratch
from kprof.inputs.amdgcn.scan import AssemblyScanner, Body

_HEAD_CHARACTERS = 65536
_SIGNS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"^\s*\.(?:target\s+sm_|visible\s+\.(?:entry|func)|address_size\s+\d)", re.MULTILINE),
        "this is PTX for NVIDIA, not AMDGCN",
        "Compile for an AMD target, for example --arch gfx942.",
    ),
    (
        re.compile(r"\.headerflags\s+@|\.nv\.info|EF_CUDA_SM|^\s*/\*[0-9a-f]{4}\*/\s+[A-Z]", re.MULTILINE),
        "this is SASS for NVIDIA, not AMDGCN",
        "Compile for an AMD target, for example --arch gfx942.",
    ),
    (
        re.compile(r"^(?:; ModuleID = |target triple = |target datalayout = |define [^\n]*@[^\n]*\{)", re.MULTILINE),
        "this is LLVM IR, not AMDGCN assembly",
        "Pass the .amdgcn file next to the .llir.",
    ),
    (
        re.compile(
            r"^\s*(?:module(?: attributes)? ?\{|module @\w+|tt\.func |#\w+ = #(?:ttg|triton_gpu|loc)\b)", re.MULTILINE
        ),
        "this is MLIR, not AMDGCN assembly",
        "Pass the .amdgcn file next to the .ttgir; kprof ingest mlir reads the .ttgir itself.",
    ),
    (
        re.compile(r"\A\s*\{\s*\"(?:kprof\": ?\"\d|schema\": ?\"kprof\.)"),
        "this is a document that kprof wrote, not a kernel",
        "kprof report FILE -o page.html shows a saved report, kprof diff OLD NEW compares two.",
    ),
    (
        re.compile(r"\A\s*[\[{]\s*[\"{\[]"),
        "this is JSON, not AMDGCN assembly",
        "Pass the .amdgcn file next to it.",
    ),
)
_MNEMONIC = re.compile(
    r"^\s+(?:s_(?:endpgm|waitcnt|load_|mov_|branch|and_)|v_(?:mov|add|mul|lshl)|global_(?:load|store))", re.MULTILINE
)


def refuse_foreign(text: str, path: str | None) -> None:
    """Raise an error if the text is clearly not AMDGCN assembly.

    Raises:
        KprofError: if the text is empty, binary, PTX, SASS, LLVM IR, MLIR or JSON; the message names the format.
    """
    if not text.strip():
        raise InputError("the file is empty", path=path)
    if text.startswith(("\x7fELF", "__CLANG_OFFLOAD_BUNDLE__", "CCOB")):
        raise InputError("this is a code object, not assembly text", path=path, hint="Read it as a .hsaco.")
    head = text[:_HEAD_CHARACTERS]
    # Clang may write a zero byte into a comment, so a zero byte alone does not prove binary data.
    if _MNEMONIC.search(head):
        return
    zero = head.find("\0")
    if zero >= 0:
        raise InputError("this is binary data, not assembly text", path=path, place=f"byte {zero}")
    for pattern, message, hint in _SIGNS:
        match = pattern.search(head)
        if match is not None:
            line = head.count("\n", 0, match.end()) + 1
            raise InputError(message, path=path, place=f"line {line}", hint=hint)


_TARGET = re.compile(
    r'\.amdgcn_target\s+"([^"\n]*)"|^amdhsa\.target:\s*\'?([^\s\']+)|^\s*\.amdgpu_target\s+"([^"]*)"', re.MULTILINE
)
_OLD_ISA = re.compile(r"\.hsa_code_object_isa\s+(\d+),(\d+),(\d+)")
_ARCH = re.compile(r"(gfx[0-9][0-9a-f]*(?:-[0-9]+)*(?:-generic)?)((?::\w+[+-])*)$")
_KERNEL_NAME = re.compile(r"^\s*\.(?:amdhsa_kernel|amdgpu_hsa_kernel)\s+(?:\"([^\"\n]+)\"|([\w.$@]+))", re.MULTILINE)
_KERNEL_ALIGNMENT = 8
_MAX_BYTES = 1 << 30
_SYMBOLS = ("num_vgpr", "num_agpr", "numbered_sgpr", "private_seg_size")


def split_target(target: str) -> tuple[str, dict[str, bool]]:
    """Return architecture and features of a target string in its old or new form.

    Both ``amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-`` and ``amdgpu9.42-amd-amdhsa-unknown-gfx942:xnack-`` yield
    ``gfx942``. The architecture is empty if the string contains none.
    """
    match = _ARCH.search(target.strip())
    if match is None:
        return "", {}
    features = {part[:-1]: part.endswith("+") for part in match[2].split(":") if part}
    return match[1], features


def _target(text: str) -> str:
    match = _TARGET.search(text)
    if match is not None:
        return str(match[1] or match[2] or match[3] or "")
    old = _OLD_ISA.search(text)
    return f"amdgcn-amd-amdhsa--gfx{old[1]}{old[2]}{int(old[3][:2]):x}" if old else ""


def _values(raw: Mapping[str, str], symbols: Mapping[str, str], arch: str) -> dict[str, int | str]:
    values: dict[str, int | str] = {}
    for name, text in raw.items():
        number = int(text) if text.isdecimal() and len(text) < 19 else expressions.evaluate(text, symbols, arch)
        values[name] = text if number is None else number
    return values


def _comment_values(raw: Mapping[str, str], symbols: Mapping[str, str], arch: str) -> dict[str, int | str]:
    """Parse comment values, ignoring a trailing unit as in ``0 bytes/workgroup (compile time only)``."""
    plain = {}
    for name, text in raw.items():
        first = text.split(" ", 1)[0]
        plain[name] = first if first.isdecimal() else text.strip()
    return _values(plain, symbols, arch)


def _entries(scanner: AssemblyScanner) -> tuple[dict[str, Any], list[dict[str, Any]], bool]:
    """Return the metadata document, its kernel entries, and whether part of it could not be read."""
    document: dict[str, Any] = {}
    entries: list[dict[str, Any]] = []
    broken = False
    for lines in scanner.metadata:
        part = metadata.read(lines)
        if part is None:
            broken = broken or any(line.strip() for line in lines)
            continue
        document |= part
        found = part.get("amdhsa.kernels")
        entries += [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    return document, entries, broken


def _kernel(
    body: Body, arch: str, scanner: AssemblyScanner, entry: Mapping[str, Any] | None, *, is_kernel: bool
) -> AssemblyKernel:
    directives = _values(scanner.descriptors.get(body.name, {}), scanner.symbols, arch)
    comments = _comment_values(body.comments, scanner.symbols, arch)
    symbols = {}
    for name in _SYMBOLS:
        for symbol in (f".L{body.name}.{name}", f"{body.name}.{name}"):
            value = expressions.evaluate(scanner.symbols.get(symbol, ""), scanner.symbols, arch)
            if value is not None:
                symbols[name] = value
    registers = resources.registers(arch, directives, entry or {}, comments, symbols)
    if registers.scratch_bytes:
        mark_scratch(body.instructions)
    return AssemblyKernel(
        name=body.name,
        arch=arch,
        instructions=body.instructions,
        labels=body.labels,
        registers=registers,
        directives=directives,
        metadata=entry or {},
        comments=comments,
        is_kernel=is_kernel,
        line=body.line,
        complete=body.ended,
    )


def _notes(
    scanner: AssemblyScanner, arch: str, unknown: Mapping[str, int], *, broken: bool, truncated: bool
) -> list[str]:
    notes = [f"the file ends inside {what}" for what in scanner.unfinished]
    if truncated and not notes:
        notes.append("the file ends too early: " + ("its metadata is missing" if scanner.bodies else "no code"))
    if not arch:
        notes.append("the file names no architecture; gfx9 is assumed for wait counters")
    if broken:
        notes.append("the metadata could not be read")
    if scanner.odd_lines:
        first = ", ".join(map(str, scanner.odd_lines[:5]))
        notes.append(f"{len(scanner.odd_lines)} lines are not assembly (line {first} ...)")
    if unknown:
        names = ", ".join(f"{name} ({count})" for name, count in sorted(unknown.items())[:8])
        notes.append(f"{sum(unknown.values())} instructions are unknown: {names}")
    return notes + scanner.notes


def _check(scanner: AssemblyScanner, path: str | None, *, last_line: int) -> None:
    known = sum(instruction.opcode.known for body in scanner.bodies for instruction in body.instructions)
    if known:
        return
    if scanner.written_by_llvm or scanner.descriptors or scanner.metadata:
        raise InputError("the file is cut off: it contains no instruction", path=path, place=f"line {last_line}")
    raise InputError(
        "this is not AMDGCN assembly: no line is an instruction of an AMD GPU",
        path=path,
        place="line 1",
        hint="Give a .amdgcn file of Triton's cache, or the output of clang -S.",
    )


def _source(text: str) -> str:
    if '"triton"' in text:
        return "triton"
    return "clang" if "clang version" in text else "unknown"


def parse(text: str, path: str | None = None, *, arch: str | None = None, strict: bool = False) -> Assembly:
    """Read assembly text from Triton, clang or llvm-objdump.

    Args:
        text: text of the complete file.
        path: path that the text was read from, for messages.
        arch: architecture to assume if the text names none (llvm-objdump's output does not).
        strict: whether to raise an error for a file that ends too early instead of returning what could be read.

    Returns:
        Everything that could be read. Check :attr:`Assembly.truncated` and :attr:`Assembly.notes`.

    Raises:
        KprofError: if the text is empty, binary, for another machine, in another language, without a single known
            instruction, or (with ``strict``) truncated.
    """
    refuse_foreign(text, path)
    # LLVM's assembler also replaces zero bytes by spaces.
    text = text.replace("\0", " ")
    target = _target(text)
    found_arch, features = split_target(target)
    found_arch = found_arch or arch or ""
    normalized = objdump.normalize(text)
    lines = normalized.text.split("\n")
    names = frozenset(first or second for first, second in _KERNEL_NAME.findall(text)) | normalized.kernels
    scanner = AssemblyScanner(generation_of(found_arch), names | normalized.functions)
    scanner.written_by_llvm = bool(target) or "; -- Begin function" in text
    scanner.run(lines)
    _check(scanner, path, last_line=len(lines))
    document, entries, broken = _entries(scanner)
    by_name = {str(entry.get(".name", "")): entry for entry in entries}
    by_name |= {str(entry[".symbol"]).removesuffix(".kd"): entry for entry in entries if ".symbol" in entry}
    cut = scanner.written_by_llvm and not scanner.metadata_ended and not normalized.disassembly
    truncated = bool(scanner.unfinished) or cut
    kernels: list[AssemblyKernel] = []
    functions: list[AssemblyKernel] = []
    for body in scanner.bodies:
        described = body.name in scanner.descriptors or body.name in by_name or body.name in names
        is_kernel = described or (truncated and body.alignment == _KERNEL_ALIGNMENT)
        kernel = _kernel(body, found_arch, scanner, by_name.get(body.name), is_kernel=is_kernel)
        (kernels if is_kernel else functions).append(kernel)
        lost = name_high(kernel) if normalized.disassembly else None
        if lost is not None:
            scanner.notes.append(f"{kernel.name}: {lost}")
    unknown = Counter(i.opcode.mnemonic for body in scanner.bodies for i in body.instructions if not i.opcode.known)
    notes = _notes(scanner, found_arch, unknown, broken=broken, truncated=truncated)
    if strict and truncated:
        raise InputError(f"the file is cut off: {notes[0]}", path=path, place=f"line {len(lines)}")
    return Assembly(
        target=target or str(document.get("amdhsa.target", "")),
        arch=found_arch,
        features=features,
        kernels=tuple(kernels),
        functions=tuple(functions),
        unknown=dict(unknown),
        notes=tuple(notes),
        truncated=truncated,
        source="objdump" if normalized.disassembly else _source(text),
        path=path,
    )


def read_file(path: str | Path, *, arch: str | None = None, strict: bool = False) -> Assembly:
    """Read an assembly file; see :func:`parse`.

    Raises:
        KprofError: if the file is missing, a directory, unreadable or over 1 GiB, or if :func:`parse` rejects its
            content.
    """
    name = str(path)
    data = boundary.read_bytes(path)
    return parse(data.decode("utf-8", "replace"), name, arch=arch, strict=strict)
