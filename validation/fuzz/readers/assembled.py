"""Assembly against the object made of it: Triton's assembler and LLVM's disassembler stand between the two readings.

Where the assembler takes the text, both have the same instructions, and the same loops around them. It needs Triton 3.9
or later and the extra ``disasm``; without them every input is refused.
"""

import random
import re
from pathlib import Path

from kprof.errors import InputError
from kprof.inputs import amdgcn, code_object
from kprof.inputs.code_object.llvm_library import find_library
from validation.fuzz import assembler
from validation.fuzz.target import Target, check

_INSTRUCTION = re.compile(r"\t(?:[sv]_|ds_|global_|buffer_|flat_)")
_NUMBER = re.compile(r"(?<=[\sv,s])[0-9]{1,2}(?![0-9x\w:])")


def _can() -> bool:
    return assembler.available() and find_library() is not None


def shape(kernel: amdgcn.AssemblyKernel) -> tuple[list[str], list[list[str]]]:
    """Mnemonics in order, and those of each loop; without what only fills up to an alignment."""
    names = [i.opcode.name for i in kernel.instructions]
    return _plain(names), [_plain([names[i] for i in loop.instructions]) for loop in kernel.loops]


def _plain(names: list[str]) -> list[str]:
    return [name for name in names if name not in {"s_nop", "s_code_end"}]


def read(data: bytes, folder: Path) -> None:
    """One reading against the other."""
    del folder
    text = data.decode(errors="replace")
    written = amdgcn.parse(text, "k.s")
    if not written.kernels or not written.arch:
        raise InputError("no kernel of a known architecture")
    if not _can():
        raise InputError("there is no assembler, or no disassembler")
    made = assembler.assembled(text, written.arch)
    if not made:
        raise InputError("LLVM does not take it")
    for item in code_object.read(made, "k.o").objects:
        found = {kernel.name: kernel for kernel in code_object.disassemble(item).kernels}
        for kernel in written.kernels:
            if kernel.name in found:
                one, other = shape(kernel), shape(found[kernel.name])
                check(same=one == other, what=f"{kernel.name}: {_difference(one, other)}")


def _difference(one: tuple[list[str], list[list[str]]], other: tuple[list[str], list[list[str]]]) -> str:
    at = next((n for n, (a, b) in enumerate(zip(one[0], other[0], strict=False)) if a != b), None)
    if at is not None:
        return f"instruction {at} is {one[0][at]} and {other[0][at]}"
    loops = next((n for n, (a, b) in enumerate(zip(one[1], other[1], strict=False)) if a != b), None)
    if loops is not None:
        return f"loop {loops} has {len(one[1][loops])} and {len(other[1][loops])} instructions"
    return f"{len(one[0])} and {len(other[0])} instructions, {len(one[1])} and {len(other[1])} loops"


def rearranged(chance: random.Random, data: bytes) -> bytes:
    """Instructions gone, doubled or moved, and other registers and constants in them: mostly LLVM takes that."""
    lines = data.decode(errors="replace").split("\n")
    for turn in range(chance.choice((1, 2, 4, 8))):
        at = [number for number, line in enumerate(lines) if _INSTRUCTION.match(line)]
        if not at:
            break
        one, other, how = chance.choice(at), chance.choice(at), chance.random()
        numbers = list(_NUMBER.finditer(lines[one]))
        if how < 0.2:
            del lines[one]
        elif how < 0.4:
            lines.insert(other, lines[one])
        elif how < 0.5:
            lines.insert(other, f".Lfuzz_{turn}:")
            lines.insert(one, f"\ts_cbranch_scc{chance.randrange(2)} .Lfuzz_{turn}")
        elif numbers:
            found = chance.choice(numbers)
            lines[one] = f"{lines[one][: found.start()]}{2 * chance.randrange(24)}{lines[one][found.end() :]}"
    return "\n".join(lines).encode()


TARGET = Target(
    read,
    damage=rearranged,
    words=("s_cbranch_scc1", "s_branch", "v_add_u32_e32", "s_waitcnt", "v[0:3]", "s_nop 0"),
    runs=30,
)
