"""Compare the ISA reader with LLVM's assembler and disassembler on many kernels.

Every kernel is compiled for every architecture by every named Triton, and its assembly is read. LLVM assembles and
disassembles the same text: each function must contain the same instructions in the same order, and each mnemonic must
be known. Clang's output for the C-like corpus is checked in the same way.

    python validation/check_isa_reader.py --triton python3.11 --triton other/bin/python --clang clang-19

An LLVM older than the one that wrote the text does not know all its instructions. Such a file is assembled inside
its own Triton instead (3.9 and later): each instruction that was read gets its own line number, and the line table
of the object must contain each number once, in order, without a gap, up to the function's end. Files that neither
method can check count as "undecided", never as equal.
"""

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kprof.errors import KprofError  # noqa: E402
from kprof.inputs import amdgcn  # noqa: E402
from kprof.inputs.amdgcn.opcodes import split_encoding  # noqa: E402
from kprof.inputs.amdgcn.operands import registers  # noqa: E402
from kprof.inputs.code_object.elf import Elf  # noqa: E402

CORPUS = ROOT / "tests" / "inputs" / "amdgcn" / "corpus"
ARCHITECTURES = [
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100",
    "gfx1101",
    "gfx1102",
    "gfx1103",
    "gfx1150",
    "gfx1151",
    "gfx1200",
    "gfx1201",
    "gfx1250",
]
_TARGET = re.compile(r'(\.amdgcn_target\s+")[^"]*?(gfx[0-9a-f]+(?:-[\w-]*generic)?)((?::\w+[+-])*)(")')
_METADATA_TARGET = re.compile(
    r"^(amdhsa\.target:\s+).*?(gfx[0-9a-f]+(?:-[\w-]*generic)?)((?::\w+[+-])*)'?$", re.MULTILINE
)
_LISTED = re.compile(r"^\s+([a-z]\S*).*?//\s*([0-9A-F]{8,16}):")
_FUNCTION = re.compile(r"^([0-9a-f]{8,16}) <(.+)>:$")

_SIZES = frozenset({4, 8, 12, 16, 20})


@dataclass
class Outcome:
    """Result of comparing one file.

    Attributes:
        name: file.
        instructions: instructions read.
        unknown: instructions with an unknown mnemonic.
        equal: whether the disassembly agrees; ``None`` if there is none.
        reason: first difference, or why there is no disassembly.
        tool: LLVM used.
        registers: difference between the registers named by instructions and LLVM's count.
    """

    name: str
    instructions: int = 0
    unknown: int = 0
    equal: bool | None = None
    reason: str = ""
    tool: str = ""
    registers: str = ""


@dataclass
class Tools:
    """Pairs of (llvm-mc, llvm-objdump), in the order in which they are tried."""

    pairs: list[tuple[str, str]] = field(default_factory=list)


def tools(names: list[str]) -> Tools:
    """Return the pairs whose assembler is installed; each name is that of an llvm-mc."""
    pairs = []
    for name in names:
        found = shutil.which(name)
        dump = shutil.which(name.replace("llvm-mc", "llvm-objdump"))
        if found and dump:
            pairs.append((found, dump))
    return Tools(pairs)


def _old_spelling(text: str) -> str:
    text = _TARGET.sub(r"\1amdgcn-amd-amdhsa--\2\3\4", text)
    return _METADATA_TARGET.sub(r"\1'amdgcn-amd-amdhsa--\2\3'", text)


def for_assembler(text: str, *, old_target: bool = True) -> str:
    """Return the code for an older assembler: the target in the old spelling, no alignment inside functions."""
    if old_target:
        text = _old_spelling(text)
    lines = []
    inside = False
    for line in text.split("\n"):
        word = line.strip().split(None, 1)[0] if line.strip() else ""
        if word.endswith(":") and not word.startswith("."):
            inside = True
        elif word == ".size" or word.startswith(".Lfunc_end"):
            inside = False
        # The first directive pads with s_nop, which the text does not contain; the second does not affect instructions.
        drop = (inside and word in {".p2align", ".p2alignl"}) or word == ".amdhsa_inst_pref_size"
        lines.append("" if drop else line)
    return "\n".join(lines)


def disassemble(text: str, arch: str, pair: tuple[str, str], folder: Path) -> dict[str, list[str]]:
    """Return the mnemonics of each function as LLVM decodes its own encoding.

    Raises:
        ValueError: the text cannot be assembled or decoded; the message is LLVM's first complaint.
    """
    source, target = folder / "in.s", folder / "out.o"
    source.write_text(for_assembler(text), "utf-8", "surrogateescape")
    command = [pair[0], "-triple=amdgcn-amd-amdhsa", f"-mcpu={arch}", "-filetype=obj", str(source), "-o", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if result.returncode:
        raise ValueError(result.stderr.partition("error:")[2].strip().split("\n")[0] or "llvm-mc failed")
    command = [pair[1], "-d", "--triple=amdgcn-amd-amdhsa", f"--mcpu={arch}", str(target)]
    listing = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    sizes = {symbol.name: symbol.size for symbol in Elf(target.read_bytes()).symbols() if symbol.kind == 2}
    functions: dict[str, list[str]] = {}
    current: list[str] = []
    end = 0
    for line in listing.split("\n"):
        label = _FUNCTION.match(line)
        if label is not None:
            if label[2] in sizes:
                current = functions.setdefault(label[2], [])
                end = int(label[1], 16) + sizes[label[2]]
            continue
        listed = _LISTED.match(line)
        if ".long 0x" in line and "//" in line:
            raise ValueError("llvm-objdump cannot decode what llvm-mc encoded")
        if listed is not None and int(listed[2], 16) < end:
            current.append(listed[1])
    return functions


def difference(assembly: amdgcn.Assembly, functions: dict[str, list[str]]) -> str:
    """Return the first difference between the read and the disassembled instructions; empty if there is none."""
    read = {kernel.name: kernel for kernel in (*assembly.kernels, *assembly.functions)}
    if set(read) != set(functions):
        return f"functions {sorted(set(read) ^ set(functions))}"
    for name, listed in functions.items():
        mine = [instruction.opcode.name for instruction in read[name].instructions]
        theirs = [split_encoding(mnemonic)[0] for mnemonic in listed]
        if len(mine) != len(theirs):
            return f"{name}: {len(mine)} instructions, llvm-objdump {len(theirs)}"
        for position, (left, right) in enumerate(zip(mine, theirs, strict=True)):
            if left != right:
                return f"{name}: instruction {position} is {left}, llvm-objdump {right}"
    return ""


def with_line_numbers(text: str, assembly: amdgcn.Assembly) -> str:
    """Return the same code with each instruction's position as its line number."""
    numbers: dict[int, int] = {}
    for kernel in (*assembly.kernels, *assembly.functions):
        numbers |= {instruction.line: len(numbers) + 1 + n for n, instruction in enumerate(kernel.instructions)}
    lines = ['\t.file 1 "numbered.s"']
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith((".loc", ".file")):
            continue
        if number in numbers:
            lines.append(f"\t.loc 1 {numbers[number]} 0")
        lines.append(line)
    return "\n".join(lines)


def line_table_difference(data: bytes, count: int) -> str:
    """Check that a line table contains the lines 1 to ``count``, one instruction each; return the problem, or ""."""
    from elftools.elf.elffile import ELFFile

    dwarf = ELFFile(io.BytesIO(data)).get_dwarf_info(relocate_dwarf_sections=False)
    rows: list[tuple[int, int]] = []
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        states = [entry.state for entry in program.get_entries()] if program is not None else []
        rows.extend((state.line, state.address) for state in states if state is not None and not state.end_sequence)
    if [line for line, _ in rows] != list(range(1, count + 1)):
        return f"{count} instructions, {len(rows)} in the line table"
    end = max(symbol.value + symbol.size for symbol in Elf(data).symbols() if symbol.kind == 2)
    for (line, at), (_, following) in pairwise([*rows, (0, end)]):
        if following - at not in _SIZES:
            return f"instruction {line} has {following - at} bytes"
    return ""


def check_with_triton(outcome: Outcome, text: str, python: str) -> None:
    """Decide an undecided file with the assembler of the Triton that compiled it."""
    assembly = amdgcn.parse(text, outcome.name)
    numbered = with_line_numbers(for_assembler(text, old_target=False), assembly)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.s", Path(folder) / "out.o"
        source.write_text(numbered, "utf-8", "surrogateescape")
        command = [
            python,
            str(ROOT / "validation" / "assemble_with_triton.py"),
            assembly.arch,
            str(source),
            str(target),
        ]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        if result.returncode:
            return
        outcome.reason = line_table_difference(target.read_bytes(), outcome.instructions)
    outcome.tool = "Triton's assembler"
    outcome.equal = not outcome.reason


def register_difference(assembly: amdgcn.Assembly) -> str:
    """Return the first kernel whose number of registers differs from LLVM's count.

    The counted registers are those that instructions read or write. An operand may name one more: the half of a pair
    that ``op_sel`` does not read. LLVM counts it only if another instruction defines it.
    """
    for kernel in assembly.kernels:
        if any(instruction.opcode.kind is amdgcn.InstructionKind.CALL for instruction in kernel.instructions):
            continue  # LLVM adds the registers of the called function.
        used = {n for i in kernel.instructions for n in i.effects.reads | i.effects.writes}
        named = used | {n for i in kernel.instructions for operand in i.operands for n in registers(operand)}
        for letter, counted in (("v", kernel.registers.vgpr), ("a", kernel.registers.agpr or 0)):
            least, most = (
                max((int(n[1:]) + 1 for n in names if n[0] == letter and n[1:].isdecimal()), default=0)
                for names in (used, named)
            )
            if counted is not None and not least <= counted <= most:
                return f"{kernel.name}: {letter}0 to {letter}{most - 1} are named, LLVM counted {counted}"
    return ""


def check(name: str, text: str, available: Tools) -> Outcome:
    """Read one file and compare it with the first LLVM that can assemble and decode it."""
    try:
        assembly = amdgcn.parse(text, name)
    except KprofError as error:
        return Outcome(name, equal=False, reason=str(error))
    count = sum(len(kernel.instructions) for kernel in (*assembly.kernels, *assembly.functions))
    outcome = Outcome(name, count, sum(assembly.unknown.values()), registers=register_difference(assembly))
    for pair in available.pairs:
        with tempfile.TemporaryDirectory() as folder:
            try:
                functions = disassemble(text, assembly.arch, pair, Path(folder))
            except (ValueError, subprocess.SubprocessError) as error:
                outcome.reason = outcome.reason or f"{Path(pair[0]).name}: {error}"
                continue
        outcome.tool = Path(pair[0]).name
        outcome.reason = difference(assembly, functions)
        outcome.equal = not outcome.reason
        return outcome
    return outcome


def triton_version(python: str) -> str:
    """Return the version of an interpreter's Triton."""
    command = [python, "-c", "import triton; print(triton.__version__)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def compile_triton(python: str, architectures: list[str], folder: Path, *, bundled: bool) -> str:
    """Compile the corpus, and the bundled kernels, with one interpreter's Triton and return its version."""
    version = triton_version(python)
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    linker = shutil.which("ld.lld") or shutil.which("ld.lld-19")
    if linker is not None:
        environment.setdefault("TRITON_HIP_LLD_PATH", linker)
    out = folder / f"triton-{version}"
    for arch in architectures:
        command = [python, str(CORPUS / "compile_triton.py"), str(out), arch]
        result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        for line in result.stderr.splitlines():
            if line.startswith("not compiled:"):
                print(f"  triton {version} {line}", file=sys.stderr)
    if bundled:
        worker = str(ROOT / "validation" / "compile_bundled.py")
        command = [python, worker, str(folder / f"triton-{version}-kernels"), ",".join(architectures)]
        subprocess.run(command, env=environment, check=False)
    return version


def compile_clang(clang: str, architectures: list[str], folder: Path) -> None:
    """Compile the C-like corpus with clang at two optimisation levels."""
    out = folder / Path(clang).name
    out.mkdir(parents=True, exist_ok=True)
    languages = {
        "kernels.cl": [
            "-x",
            "cl",
            "-cl-std=CL2.0",
            "-Xclang",
            "-finclude-default-header",
            "-target",
            "amdgcn-amd-amdhsa",
        ],
        "hip_kernels.hip": ["-x", "hip", "--cuda-device-only", "-nogpuinc"],
    }
    for arch in architectures:
        for file, options in languages.items():
            cpu = f"--offload-arch={arch}" if file.endswith(".hip") else f"-mcpu={arch}"
            for level in ("-O1", "-O3"):
                target = out / f"{file.partition('.')[0]}{level}.{arch}.s"
                command = [clang, *options, cpu, "-nogpulib", "-g", level, "-S", str(CORPUS / file), "-o", str(target)]
                subprocess.run(command, capture_output=True, check=False)


def report(outcomes: dict[str, list[Outcome]]) -> str:
    """Return the results as a Markdown table."""
    columns = "compiler|files|instructions|classified|same as the assembler|undecided|registers as counted|oracle"
    lines = [f"| {columns.replace('|', ' | ')} |", "|---" * 8 + "|"]
    for compiler, found in sorted(outcomes.items()):
        total = sum(outcome.instructions for outcome in found)
        unknown = sum(outcome.unknown for outcome in found)
        equal = sum(outcome.equal is True for outcome in found)
        undecided = sum(outcome.equal is None for outcome in found)
        used = Counter(outcome.tool for outcome in found if outcome.tool)
        counted = sum(not outcome.registers for outcome in found)
        share = 100 * (total - unknown) / total if total else 0
        names = ", ".join(f"{tool} {count}" for tool, count in sorted(used.items()))
        lines.append(
            f"| {compiler} | {len(found)} | {total:,} | {share:.2f} % | {equal} of {len(found) - undecided} "
            f"| {undecided} | {counted} of {len(found)} | {names} |"
        )
    return "\n".join(lines)


def arguments_of() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triton", action="append", default=[], help="interpreter with a Triton; may be repeated")
    parser.add_argument("--clang", action="append", default=[], help="clang to compile the C-like corpus with")
    parser.add_argument("--arch", default=",".join(ARCHITECTURES), help="comma-separated architectures")
    parser.add_argument("--corpus-only", action="store_true", help="leave the bundled kernels out")
    parser.add_argument("--no-compile", action="store_true", help="only check what lies in --folder")
    names = ",".join(f"llvm-mc-{version}" for version in range(26, 18, -1))
    parser.add_argument("--llvm-mc", default=f"{names},llvm-mc", help="tried in order")
    parser.add_argument("--folder", type=Path, help="keep (and reuse) the compiled files here")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    return parser.parse_args()


def check_file(file: Path, available: Tools, pythons: dict[str, str]) -> Outcome:
    """Check one file; a file too new for llvm-mc is checked with the Triton whose version the folder's name gives."""
    text = file.read_text("utf-8", "surrogateescape")
    outcome = check(file.name, text, available)
    version = file.parent.name.removeprefix("triton-").removesuffix("-kernels")
    if outcome.equal is None and version in pythons:
        check_with_triton(outcome, text, pythons[version])
    return outcome


def main() -> int:
    """Compile, compare and print; the exit code is 1 if a file differs or contains an unknown instruction."""
    arguments = arguments_of()
    architectures = arguments.arch.split(",")
    available = tools(arguments.llvm_mc.split(","))
    if not available.pairs:
        print("no llvm-mc with its llvm-objdump is installed", file=sys.stderr)
        return 2
    pythons = {triton_version(python): python for python in arguments.triton}
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        if not arguments.no_compile:
            for python in arguments.triton:
                compile_triton(python, architectures, folder, bundled=not arguments.corpus_only)
            for clang in arguments.clang:
                compile_clang(clang, architectures, folder)
        files = sorted([*folder.glob("*/*.amdgcn"), *folder.glob("*/*.s")])
        with ThreadPoolExecutor(arguments.jobs) as pool:
            results = list(pool.map(lambda file: check_file(file, available, pythons), files))
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for file, outcome in zip(files, results, strict=True):
        outcomes[file.parent.name].append(outcome)
        if outcome.equal is not True or outcome.unknown or outcome.registers:
            complaint = f"{outcome.reason} {outcome.registers} ({outcome.unknown} unknown)"
            print(f"{file.parent.name} {outcome.name}: {complaint}", file=sys.stderr)
    print(report(outcomes))
    bad = sum(outcome.equal is False or outcome.unknown > 0 or outcome.registers != "" for outcome in results)
    print(f"{len(results)} files, {bad} with a difference or an unknown instruction")
    return 1 if bad or not results else 0


if __name__ == "__main__":
    sys.exit(main())
