"""Compare the ISA reader with LLVM's assembler and disassembler on many kernels.

Every kernel is compiled for every architecture by every Triton given, its assembly is read, and the same text is
assembled and disassembled again by LLVM: each function must hold the same instructions in the same order, and each
mnemonic must be known. Clang's output for the C-like corpus is checked in the same way.

    python scripts/check_isa_reader.py --triton python3.11 --triton other/bin/python --clang clang-19

An LLVM older than the one that wrote the text does not know all of its instructions; such files are counted as
"not assembled", never as equal. LLVM's own ``; codeLenInByte`` is compared with the assembled size as well.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kprof.errors import KprofError  # noqa: E402
from kprof.inputs import amdgcn  # noqa: E402
from kprof.inputs.amdgcn.opcodes import split_encoding  # noqa: E402
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


@dataclass
class Outcome:
    """What the comparison of one file gave.

    Attributes:
        name: file.
        instructions: instructions read.
        unknown: instructions with an unknown mnemonic.
        equal: the disassembly agrees; ``None`` when it could not be made.
        reason: first difference, or why there is no disassembly.
        tool: LLVM used.
    """

    name: str
    instructions: int = 0
    unknown: int = 0
    equal: bool | None = None
    reason: str = ""
    tool: str = ""


@dataclass
class Tools:
    """Pairs of (llvm-mc, llvm-objdump), in the order in which they are tried."""

    pairs: list[tuple[str, str]] = field(default_factory=list)


def tools(names: list[str]) -> Tools:
    """The pairs whose assembler is installed; each name is that of an llvm-mc."""
    pairs = []
    for name in names:
        found = shutil.which(name)
        dump = shutil.which(name.replace("llvm-mc", "llvm-objdump"))
        if found and dump:
            pairs.append((found, dump))
    return Tools(pairs)


def for_assembler(text: str) -> str:
    """The same code as an older assembler takes it: target in the old spelling, no alignment inside functions."""
    text = _TARGET.sub(r"\1amdgcn-amd-amdhsa--\2\3\4", text)
    text = _METADATA_TARGET.sub(r"\1'amdgcn-amd-amdhsa--\2\3'", text)
    lines = []
    inside = False
    for line in text.split("\n"):
        word = line.strip().split(None, 1)[0] if line.strip() else ""
        if word == ".cfi_startproc" or word.startswith(".Lfunc_begin"):
            inside = True
        elif word == ".size" or word.startswith(".Lfunc_end"):
            inside = False
        # Fills with s_nop, which the text does not hold.
        lines.append("" if inside and word in {".p2align", ".p2alignl"} else line)
    return "\n".join(lines)


def disassemble(
    text: str, arch: str, pair: tuple[str, str], folder: Path
) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Mnemonics of each function as LLVM decodes its own encoding, and the function's size in bytes.

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
    return functions, sizes


def difference(assembly: amdgcn.Assembly, functions: dict[str, list[str]], sizes: dict[str, int]) -> str:
    """First difference between what was read and what was disassembled; empty when there is none."""
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
        claimed = read[name].registers.code_bytes
        # LLVM's own estimate is an upper bound where relaxation or literals make instructions shorter.
        if claimed is not None and claimed < sizes[name]:
            return f"{name}: {sizes[name]} bytes, codeLenInByte {claimed}"
    return ""


def check(name: str, text: str, available: Tools) -> Outcome:
    """Read one file and compare it with the first LLVM that can assemble and decode it."""
    try:
        assembly = amdgcn.parse(text, name)
    except KprofError as error:
        return Outcome(name, equal=False, reason=str(error))
    count = sum(len(kernel.instructions) for kernel in (*assembly.kernels, *assembly.functions))
    outcome = Outcome(name, count, sum(assembly.unknown.values()))
    for pair in available.pairs:
        with tempfile.TemporaryDirectory() as folder:
            try:
                functions, sizes = disassemble(text, assembly.arch, pair, Path(folder))
            except (ValueError, subprocess.SubprocessError) as error:
                outcome.reason = outcome.reason or f"{Path(pair[0]).name}: {error}"
                continue
        outcome.tool = Path(pair[0]).name
        outcome.reason = difference(assembly, functions, sizes)
        outcome.equal = not outcome.reason
        return outcome
    return outcome


def compile_triton(python: str, architectures: list[str], folder: Path) -> str:
    """Compile the corpus with one interpreter's Triton and return the Triton version."""
    version = subprocess.run(
        [python, "-c", "import triton; print(triton.__version__)"], capture_output=True, text=True, check=True
    ).stdout.strip()
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
    """The table, in Markdown."""
    lines = ["| compiler | files | instructions | classified | same as llvm-objdump | not assembled | LLVM used |"]
    lines.append("|---|---|---|---|---|---|---|")
    for compiler, found in sorted(outcomes.items()):
        total = sum(outcome.instructions for outcome in found)
        unknown = sum(outcome.unknown for outcome in found)
        equal = sum(outcome.equal is True for outcome in found)
        undecided = sum(outcome.equal is None for outcome in found)
        used = Counter(outcome.tool for outcome in found if outcome.tool)
        share = 100 * (total - unknown) / total if total else 0
        names = ", ".join(f"{tool} {count}" for tool, count in sorted(used.items()))
        lines.append(
            f"| {compiler} | {len(found)} | {total:,} | {share:.2f} % | {equal} of {len(found) - undecided} "
            f"| {undecided} | {names} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Compile, compare, print. Exit code 1 when a file differs or holds an unknown instruction."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triton", action="append", default=[], help="interpreter with a Triton; may be repeated")
    parser.add_argument("--clang", action="append", default=[], help="clang to compile the C-like corpus with")
    parser.add_argument("--arch", default=",".join(ARCHITECTURES), help="comma-separated architectures")
    parser.add_argument(
        "--llvm-mc", default="llvm-mc-22,llvm-mc-21,llvm-mc-20,llvm-mc-19,llvm-mc", help="tried in order"
    )
    parser.add_argument("--folder", type=Path, help="keep (and reuse) the compiled files here")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    arguments = parser.parse_args()
    architectures = arguments.arch.split(",")
    available = tools(arguments.llvm_mc.split(","))
    if not available.pairs:
        print("no llvm-mc with its llvm-objdump is installed", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for python in arguments.triton:
            compile_triton(python, architectures, folder)
        for clang in arguments.clang:
            compile_clang(clang, architectures, folder)
        files = sorted([*folder.rglob("*.amdgcn"), *folder.rglob("*.s")])
        with ThreadPoolExecutor(arguments.jobs) as pool:
            results = list(
                pool.map(lambda file: check(file.name, file.read_text("utf-8", "surrogateescape"), available), files)
            )
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for file, outcome in zip(files, results, strict=True):
        outcomes[file.parent.name].append(outcome)
    for compiler, found in outcomes.items():
        for outcome in found:
            if outcome.equal is not True or outcome.unknown:
                print(f"{compiler} {outcome.name}: {outcome.reason} ({outcome.unknown} unknown)", file=sys.stderr)
    print(report(outcomes))
    bad = sum(outcome.equal is False or outcome.unknown > 0 for outcome in results)
    print(f"{len(results)} files, {bad} with a difference or an unknown instruction")
    return 1 if bad or not results else 0


if __name__ == "__main__":
    sys.exit(main())
