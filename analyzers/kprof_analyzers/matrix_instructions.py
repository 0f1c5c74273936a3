"""Look up the facts of a matrix instruction; for ``f8f6f4`` instructions, they depend on the operands' format."""

from kprof.hardware.model import Architecture, MatrixInstruction
from kprof.inputs.amdgcn import Instruction

_FORMATS = {"0": "fp8", "1": "fp8", "2": "fp6", "3": "fp6", "4": "fp4"}


def matrix_instruction(arch: Architecture, instruction: Instruction) -> MatrixInstruction | None:
    """Return the facts of a matrix instruction, or ``None`` if it is unknown or not a matrix instruction."""
    return arch.matrix_instruction(instruction.opcode.name, operand_format(instruction))


def operand_format(instruction: Instruction) -> str | None:
    """Return the format of an ``f8f6f4`` instruction's wider operand, as its modifiers ``cbsz`` and ``blgp`` say."""
    if "f8f6f4" not in instruction.opcode.name:
        return None
    formats = {_FORMATS.get(instruction.modifiers.get(name, "0"), "fp8") for name in ("cbsz", "blgp")}
    return next(f for f in ("fp8", "fp6", "fp4") if f in formats)
