"""Disassemble a code object with LLVM's library or llvm-objdump, if either is installed."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from kprof import children
from kprof.errors import InputError, KprofError
from kprof.hardware.machine import load as load_architecture
from kprof.inputs import amdgcn
from kprof.inputs.code_object.elf import Elf
from kprof.inputs.code_object.line_table import LineTable, SourcePlace, read_line_table
from kprof.inputs.code_object.llvm_library import PACKAGE, find_library, listing
from kprof.inputs.code_object.model import CodeObject

_ROCM = ("/opt/rocm/llvm/bin/llvm-objdump", "/opt/rocm/lib/llvm/bin/llvm-objdump")
_VERSIONS = range(26, 14, -1)
_TIMEOUT_SECONDS = 120
_HINT = f"pip install {PACKAGE} installs one; or pass the .amdgcn file or a folder that contains it."
_LABEL = re.compile(r"^([0-9a-f]+) <(.+)>:$")
_ADDRESS = re.compile(r"// ([0-9A-F]+):")
_NO_TYPE, _FUNCTION = 0, 2


@cache
def _objdumps() -> tuple[str, ...]:
    """Return the installed llvm-objdump programs: ROCm's, ``llvm-objdump-N`` (newest first), then ``llvm-objdump``."""
    names = (*_ROCM, *(f"llvm-objdump-{version}" for version in _VERSIONS), "llvm-objdump")
    return tuple(found for found in map(shutil.which, names) if found is not None)


def find_objdump() -> str | None:
    """Return the path of the llvm-objdump that is tried first, or ``None`` if none is installed."""
    return next(iter(_objdumps()), None)


def _run(tool: str, arch: str, file: Path, path: str | None) -> str:
    command = [tool, "--disassemble", "--triple=amdgcn-amd-amdhsa", f"--mcpu={arch}", str(file)]
    try:
        result = children.run(command, capture_output=True, timeout=_TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{tool} took over {_TIMEOUT_SECONDS} s", path=path) from error
    except OSError as error:
        raise InputError(f"{tool} cannot be run: {error.strerror}", path=path) from error
    errors = result.stderr.decode("utf-8", "replace").strip()
    if result.returncode != 0 or "is not a recognized processor" in errors:
        reason = errors.splitlines()[0][:200] if errors else f"exit status {result.returncode}"
        hint = f"{tool} may be too old for {arch}."
        raise InputError(f"{tool} cannot disassemble the code object: {reason}", path=path, hint=hint)
    return str(result.stdout, "utf-8", "replace")


def disassemble_text(code: CodeObject, *, tool: str | None = None, path: str | None = None) -> str:
    """Return a code object's instructions in llvm-objdump's output format.

    Args:
        code: code object to disassemble.
        tool: llvm-objdump to use. By default, LLVM's library is tried first if it is installed
            (:mod:`kprof.inputs.code_object.llvm_library`), then every llvm-objdump that is new enough for the
            architecture, from the newest.
        path: path of the object, for messages.

    Raises:
        InputError: if no disassembler is installed, none supports the architecture, or all of them fail or time out.
    """
    failures: list[KprofError] = []
    library = find_library() if tool is None else None
    if library is not None:
        try:
            return listing(code, library, path)
        except KprofError as error:
            failures.append(error)
    tools = (tool,) if tool is not None else _objdumps()
    oldest = _oldest(code.arch)
    fitting = [found for found in tools if tool is not None or oldest is None or (_version(found) or 0) >= oldest]
    with tempfile.TemporaryDirectory(prefix="kprof-") as folder:
        file = Path(folder) / "code.o"
        file.write_bytes(code.data)
        for candidate in fitting:
            try:
                return _run(candidate, code.arch, file, path)
            except KprofError as error:
                failures.append(error)
    if failures:
        raise failures[0]
    said = "no disassembler is installed"
    if tools:
        said = (
            f"llvm-objdump {_version(tools[0]) or '(of unknown version)'} misreads "
            f"{code.arch}: version {oldest} is needed"
        )
    raise InputError(f"{said}, so this code object cannot be disassembled", path=path, hint=_HINT)


def _oldest(arch: str) -> int | None:
    """Return the minimum llvm-objdump release for an architecture, or ``None`` if no minimum is known."""
    try:
        return load_architecture(arch).llvm.oldest_objdump
    except KprofError:
        return None


@cache
def _version(tool: str) -> int | None:
    """Return the major version of an llvm-objdump, or ``None`` if it does not print one."""
    try:
        said = children.run([tool, "--version"], capture_output=True, timeout=20, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(rb"version (\d+)\.", said)
    return int(found[1]) if found else None


def _without_padding(text: str, code: CodeObject) -> str:
    """Blank out the padding after a function's end, which exists so that the instruction cache can read ahead."""
    sizes = {s.name: s.size for s in Elf(code.data).symbols() if s.kind == _FUNCTION and s.size}
    lines = text.split("\n")
    end: int | None = None
    for number, line in enumerate(lines):
        label = _LABEL.match(line)
        if label is not None:
            end = int(label[1], 16) + sizes[label[2]] if label[2] in sizes else None
        elif end is not None:
            address = _ADDRESS.search(line)
            if address is not None and int(address[1], 16) >= end:
                lines[number] = ""
    return "\n".join(lines)


def _without_labels(text: str, code: CodeObject) -> str:
    """Blank out headings that are labels inside a function, and rewrite branches to them as function offsets.

    Hand-written kernels keep their labels as untyped symbols, and llvm-objdump prints each of them like a function.
    """
    symbols = list(Elf(code.data).symbols())
    functions = {kernel.name for kernel in code.kernels} | {s.name for s in symbols if s.kind == _FUNCTION}
    labels = {s.name for s in symbols if s.kind == _NO_TYPE} - functions
    if not labels:
        return text
    lines = text.split("\n")
    inside: dict[str, tuple[str, int]] = {}
    function: tuple[str, int] | None = None
    for number, line in enumerate(lines):
        heading = _LABEL.match(line)
        if heading is None:
            continue
        name, address = heading[2], int(heading[1], 16)
        if name in labels and function is not None:
            inside[name] = (function[0], address - function[1])
            lines[number] = ""
        else:
            function = (name, address)

    return "\n".join(_with_target(line, inside) for line in lines)


def _with_target(line: str, inside: Mapping[str, tuple[str, int]]) -> str:
    """Append the target of a branch to a label, in the form of llvm-objdump's other targets: ``<function+0x40>``."""
    code, comment, _ = line.partition("//")
    words = code.split()
    if not comment or len(words) != 2 or words[1] not in inside or not words[0].startswith(("s_branch", "s_cbranch")):
        return line
    function, distance = inside[words[1]]
    return f"{line} <{function}+{distance:#x}>"


def _with_lines(text: str, code: CodeObject) -> tuple[str, str]:
    """Insert ``.loc`` directives before instructions, as compilers do; return the text and a note about problems."""
    try:
        table = read_line_table(code.data)
    except ValueError as error:
        return text, f"the debug information cannot be read, so no source lines are known: {str(error)[:200]}"
    if not table.rows:
        return text, ""
    lines: list[str] = []
    before: tuple[SourcePlace, ...] = ()
    for line in text.split("\n"):
        address = _ADDRESS.search(line)
        if address is not None and (frames := table.at(int(address[1], 16))) != before:
            before = frames
            lines.append(_directive(frames, table))
        lines.append(line)
    # The .file directives go to the end, because a disassembly is recognised by its beginning.
    lines += [f'.file {n} "{_quoted(folder)}" "{_quoted(name)}"' for n, (folder, name) in enumerate(table.files, 1)]
    return "\n".join(lines), ""


def _quoted(name: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", re.sub(r"[\x00-\x1f]", "?", name))


def _directive(frames: tuple[SourcePlace, ...], table: LineTable) -> str:
    """Write a ``.loc`` directive with the inlining calls in a comment; line 0 if the source position is unknown."""
    if not frames:
        return ".loc 1 0 0"
    innermost = frames[0]
    calls = " @[ ".join(f"{_quoted(table.files[f.file][1])}:{f.line}:{f.column}" for f in frames)
    closed = " ]" * (len(frames) - 1)
    return f".loc {innermost.file + 1} {innermost.line} {innermost.column} ; {calls}{closed}"


def disassemble(code: CodeObject, *, tool: str | None = None, path: str | None = None) -> amdgcn.Assembly:
    """Disassemble a code object, adding the resources from its descriptors and metadata.

    Padding after the end of a function is left out. For arguments and errors see :func:`disassemble_text`.
    """
    from dataclasses import replace

    text = _without_labels(_without_padding(disassemble_text(code, tool=tool, path=path), code), code)
    text, amiss = _with_lines(text, code)
    assembly = amdgcn.parse(text, path, arch=code.arch)
    known = {kernel.name: kernel for kernel in code.kernels}
    kernels = []
    functions = []
    for part in (*assembly.kernels, *assembly.functions):
        if part.name in known:
            kernel = known[part.name]
            kernels.append(replace(part, registers=kernel.registers, metadata=kernel.metadata, is_kernel=True))
        else:
            functions.append(replace(part, is_kernel=False))
    notes = (*assembly.notes, *([amiss] if amiss else []))
    return replace(assembly, kernels=tuple(kernels), functions=tuple(functions), target=code.target, notes=notes)
