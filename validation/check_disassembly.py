"""Compare code objects, disassembled by LLVM's library, with the text that Triton wrote in the same compile.

    python validation/check_disassembly.py [--arch gfx942,gfx1201] [--write docs/validation/isa_reader.md]

Every bundled kernel is compiled for every architecture. The code object is read like any ``.hsaco`` that a user
names (the extra ``disasm``); the compiler's own assembly is the oracle. Two things are compared for each
instruction. The first is its text, with numbers compared by value; branch targets, symbol addresses, and ``op_sel``
of operands that name their halves are ignored. The second is what kprof derives from it: name, registers that are
read and written, waits, counters and enclosing loops. The exit code is 1 if a derived fact differs or an instruction
is not decoded; differences of the text are only printed.
"""

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from kprof.compiler.compile import compile_many  # noqa: E402
from kprof.compiler.request import CompileRequest  # noqa: E402
from kprof.errors import KprofError  # noqa: E402
from kprof.hardware import machine  # noqa: E402
from kprof.inputs import amdgcn, code_object  # noqa: E402
from kprof.inputs.code_object import llvm_library  # noqa: E402
from kprof.options.groups import CompileOptions  # noqa: E402
from kprof.targets import library  # noqa: E402
from kprof.targets.jobs import jobs_of  # noqa: E402

ARCHITECTURES = "gfx90a,gfx942,gfx950,gfx1100,gfx1201,gfx1250"
_WORDS = re.compile(r"[\s,]+")
_SELECTED = re.compile(r"\bop_sel:\[[01,]*\]")
_HALF = re.compile(r"v\d+\.[hl]\b")
_HEX = re.compile(r"-?0x[0-9a-f]+|-?\d+")
BEGIN, END = "<!-- disassembly -->", "<!-- end of disassembly -->"


@dataclass
class Row:
    """Results for one architecture."""

    kernels: int = 0
    instructions: int = 0
    undecoded: int = 0
    words: int = 0
    facts: int = 0
    loops: int = 0
    differences: Counter[tuple[str, str]] = field(default_factory=Counter)


def words(instruction: amdgcn.Instruction) -> tuple[str, ...]:
    """Return an instruction's words, with numbers as values and without references to symbols or code positions.

    LLVM 23 also writes the halves of registers as ``op_sel``, and the barrier's number with 16 bits.
    """
    name, *operands = _WORDS.split(instruction.text.strip())
    if _HALF.search(instruction.text):
        operands = _WORDS.split(_SELECTED.sub("", instruction.text).strip())[1:]
    if name == "s_barrier_wait":
        return name, f"{int(operands[0], 0) & 0xFFFF:#x}"
    if name.startswith(("s_branch", "s_cbranch", "s_call")):
        return (name,)
    return name, *("symbol" if "@" in word or word.startswith(".L") else number(word) for word in operands)


def number(word: str) -> str:
    """Return a number as 32 bits, and any other word unchanged."""
    return f"{int(word, 0) & 0xFFFFFFFF:#x}" if _HEX.fullmatch(word) else word


def facts(instruction: amdgcn.Instruction) -> tuple[object, ...]:
    """Return the facts about an instruction that the analyzers use."""
    effects = instruction.effects
    return (
        instruction.opcode.name,
        sorted(effects.reads),
        sorted(effects.writes),
        dict(instruction.waits),
        instruction.counters,
        instruction.to_lds,
    )


def compare(row: Row, binary: bytes, text: str, arch: str) -> None:
    """Compare both readings of one compile; padding by nops is ignored."""
    (item,) = code_object.read(binary, arch).objects
    read, written = code_object.disassemble(item), amdgcn.parse(text)
    row.undecoded += sum(read.unknown.values())
    for kernel in written.kernels:
        other = read.kernel(kernel.name)
        mine, theirs = ([i for i in k.instructions if i.opcode.name != "s_nop"] for k in (other, kernel))
        row.kernels += 1
        row.instructions += len(theirs)
        row.loops += len(other.loops) == len(kernel.loops)
        if len(mine) != len(theirs):
            row.differences[f"{kernel.name}: {len(theirs)} instructions", str(len(mine))] += 1
        for one, two in zip(mine, theirs, strict=False):
            row.words += words(one) == words(two)
            row.facts += facts(one) == facts(two)
            if words(one) != words(two) or facts(one) != facts(two):
                row.differences[two.text, one.text] += 1


def requests(arch: str) -> list[CompileRequest]:
    """Return the compile requests of every bundled kernel that the architecture can run, with its default launch."""
    found = []
    for name in library.bundled():
        try:
            found += [job.request for job in jobs_of(library.load(name), machine.load(arch), CompileOptions())]
        except KprofError as error:
            print(f"left out: {name} on {arch}: {error.message[:100]}", file=sys.stderr)
    return found


def table(rows: dict[str, Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        "| architecture | kernels | instructions | not decoded | same words | same facts | same loops |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for arch, row in rows.items():
        counts = (row.instructions, row.undecoded, row.words, row.facts)
        said = " | ".join(f"{count:,}" for count in counts)
        lines.append(f"| {arch} | {row.kernels} | {said} | {row.loops} of {row.kernels} |")
    names = ("instructions", "undecoded", "words", "facts")
    totals = [sum(getattr(row, name) for row in rows.values()) for name in names]
    kernels, loops = (sum(getattr(row, name) for row in rows.values()) for name in ("kernels", "loops"))
    lines.append(f"| all | {kernels} | {' | '.join(f'{count:,}' for count in totals)} | {loops} of {kernels} |")
    return "\n".join(lines)


def main() -> int:
    """Compile and compare all kernels, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default=ARCHITECTURES, help="comma-separated")
    parser.add_argument("--write", type=Path, help="put the table into this page, between its marks")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if llvm_library.find_library() is None:
        print(f"{llvm_library.PACKAGE} is not installed", file=sys.stderr)
        return 2
    rows: dict[str, Row] = {}
    for arch in arguments.arch.split(","):
        row = rows[arch] = Row()
        for outcome in compile_many(requests(arch), arguments.jobs):
            try:
                stages = outcome.result().stages
            except KprofError as error:
                print(f"left out: {arch}: {error.message[:100]}", file=sys.stderr)
                continue
            compare(row, stages["hsaco"], stages["amdgcn"], arch)
        for (theirs, mine), count in row.differences.most_common(20):
            print(f"{arch} {count:4}  {theirs}  |  {mine}", file=sys.stderr)
    made = table(rows)
    print(made)
    if arguments.write is not None:
        page = arguments.write.read_text("utf-8")
        before, _, rest = page.partition(BEGIN)
        arguments.write.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}", "utf-8")
    alike = all(
        row.facts == row.instructions and not row.undecoded and row.loops == row.kernels for row in rows.values()
    )
    return 0 if rows and alike else 1


if __name__ == "__main__":
    sys.exit(main())
