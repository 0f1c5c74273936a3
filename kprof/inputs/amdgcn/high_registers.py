"""Add the full numbers of vector registers above 255 (gfx1250) to a disassembly, in the compiler's notation.

An instruction encodes eight bits of a register number. Two more bits for each operand come from the wavefront's mode,
which ``s_set_vgpr_msb`` sets: bits 0 and 1 are for the first source, the next pairs of bits for the second source, the
third source and the destination. The compiler writes ``v5 /*v261*/``. A disassembler does not know the mode, because it
looks at one instruction at a time, and writes only ``v5``.
"""

import re
from collections.abc import Iterator, Sequence

from kprof.inputs.amdgcn.instruction import Instruction
from kprof.inputs.amdgcn.isa import InstructionClass, InstructionKind, MemorySpace, Opcode
from kprof.inputs.amdgcn.model import AssemblyKernel

_SET = "s_set_vgpr_msb"
_FIRST, _SECOND, _THIRD, _RESULT = 0, 2, 4, 6
_BITS = 0xFF
_REGISTER = re.compile(r"(?<![\w/])v(?:(\d+)|\[(\d+):(\d+)\])(\.[lh])?")
_VECTOR = (InstructionClass.VALU, InstructionClass.MATRIX)
_MEMORY = (InstructionClass.VMEM, InstructionClass.SCRATCH, InstructionClass.LDS)


def name_high(kernel: AssemblyKernel) -> str | None:
    """Write the full numbers of high registers behind their names, as the compiler does.

    Args:
        kernel: kernel of a disassembly; its instructions are changed in place.

    Returns:
        One sentence about the registers that could not be resolved, or ``None`` if all were resolved.
    """
    if not any(_mode(instruction) for instruction in kernel.instructions):
        return None
    states = _states(kernel)
    for block in kernel.blocks:
        state = states.get(block.index, 0)
        if state is None:
            continue
        for instruction in kernel.instructions[block.start : block.end]:
            set_to = _mode(instruction)
            if set_to is not None:
                state = set_to
            elif state and instruction.opcode.cls in {*_VECTOR, *_MEMORY}:
                instruction.rewrite(_with_full_numbers(instruction, state))
    lost = sum(state is None for state in states.values())
    return f"the registers of {lost} blocks are unknown: their predecessors differ in {_SET}" if lost else None


def _mode(instruction: Instruction) -> int | None:
    """Return the mode bits that an instruction sets, or ``None`` if it sets none."""
    if instruction.opcode.name != _SET:
        return None
    operands = instruction.operands
    try:
        return int(operands[0], 0) & _BITS if operands else None
    except ValueError:
        return None


def _states(kernel: AssemblyKernel) -> dict[int, int | None]:
    """Return the mode bits at the start of each reachable block; ``None`` if its predecessors disagree."""
    blocks = kernel.blocks
    found: dict[int, int | None] = {0: 0}
    waiting = [0]
    while waiting:
        block = blocks[waiting.pop()]
        state = found[block.index]
        for instruction in kernel.instructions[block.start : block.end]:
            set_to = _mode(instruction)
            state = state if set_to is None else set_to
        for following in block.successors:
            known = found.get(following, state)
            merged = known if known == state else None
            if following not in found or merged != found[following]:
                found[following] = merged
                waiting.append(following)
    return found


def _with_full_numbers(instruction: Instruction, state: int) -> str:
    """Return an instruction's text with the full number as a comment behind each register above 255."""
    written = []
    for half, (name, operands) in zip(instruction.text.split(" :: "), instruction.halves, strict=False):
        mnemonic, _, words = half.partition(" ")
        written.append(
            f"{mnemonic} {_raise_registers(words, operands, _mode_positions(instruction, name, operands), state)}"
        )
    return " :: ".join(written)


def _raise_registers(text: str, operands: Sequence[str], places: Sequence[int | None], state: int) -> str:
    at = 0
    for operand, place in zip(operands, places, strict=False):
        found = text.find(operand, at)
        if found < 0:
            break
        full = operand if place is None else _full_register(operand, 256 * ((state >> place) & 3))
        text = text[:found] + full + text[found + len(operand) :]
        at = found + len(full)
    return text


def _full_register(operand: str, more: int) -> str:
    def with_comment(match: "re.Match[str]") -> str:
        number, first, last, half = match.groups()
        full = f"v{int(number) + more}" if number else f"v[{int(first) + more}:{int(last) + more}]"
        return f"{match[0]} /*{full}{half or ''}*/"

    return _REGISTER.sub(with_comment, operand) if more else operand


def _mode_positions(instruction: Instruction, name: str, operands: Sequence[str]) -> list[int | None]:
    """Return the position of each operand's two mode bits, or ``None`` for operands without such bits."""
    opcode = instruction.opcode
    if opcode.cls in _VECTOR:
        return list(_arithmetic_positions(name, opcode, operands))
    if opcode.space is MemorySpace.BUFFER:
        return [_RESULT, _FIRST, *[None] * len(operands)]
    # The LDS address of a load to LDS is encoded as a destination.
    result = opcode.is_load or opcode.kind is InstructionKind.PERMUTE or instruction.returns
    return [*([_RESULT] if result else []), _FIRST, _SECOND, _THIRD, *[None] * len(operands)]


def _arithmetic_positions(name: str, opcode: Opcode, operands: Sequence[str]) -> Iterator[int | None]:
    constant_inside = "fmamk" in name or "madmk" in name
    sources: list[int | None] = [_FIRST, None, _SECOND] if constant_inside else [_FIRST, _SECOND, _THIRD]
    if "_ld_scale" not in name:
        # The mask written by a comparison, or a second result, is scalar.
        if opcode.kind is InstructionKind.COMPARE:
            yield from [None] * (len(operands) - 2)
        else:
            yield _RESULT
            yield from [None] * _scalar_results(name, operands)
        yield from sources
    yield from [None] * len(operands)


def _scalar_results(name: str, operands: Sequence[str]) -> int:
    two = len(operands) > 3 and re.search(r"_co_|div_scale|mad_[iu]64", name) is not None
    return int(two and operands[1].startswith(("s", "vcc", "null", "ttmp", "exec")))
