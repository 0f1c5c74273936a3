"""Detect slow paths of library functions: sine, cosine and tangent of large angles, and tanh of large soft caps.

For angles from 2^17 on in single precision, and 2^30 in double precision, the device library takes the slow path. The
slow path multiplies the angle by many bits of 2/pi, which no other code does. The bits may be loaded before a loop that
contains the multiplications.

For magnitudes from 0.625 on, tanh takes an exponential and a reciprocal instead of a polynomial. A wavefront with lanes
of both kinds executes both. A soft cap of logits, ``tanh(x / 30) * 30``, has small arguments unless logits reach the
cap.
"""

from collections.abc import Callable, Sequence

from kprof.inputs.amdgcn import AssemblyKernel, Block, Instruction, InstructionClass
from kprof_analyzers.lane_execution.arithmetic import float_of

# The last 32-bit word of 2/pi by which the library multiplies a float.
_BITS_OF_TWO_OVER_PI = "0xfe5163ab"
_PRODUCTS = ("v_mad_u64_u32", "v_mad_co_u64_u32", "v_mad_nc_u64_u32", "v_mul_hi_u32")
# Number of words of 2/pi by which the library multiplies the angle, without the last one.
_WORDS = 6
_TABLE = "v_trig_preop_f64"
_POLYNOMIAL_BELOW = 0.625
_POLYNOMIAL_BITS = "0x3f200000"
_USUAL = 16.0
"""Assumed upper bound of the magnitude of values that a constant scales down before they become arguments of tanh."""
_OTHERS = {
    InstructionClass.VMEM,
    InstructionClass.LDS,
    InstructionClass.MATRIX,
    InstructionClass.BARRIER,
}


def slow_blocks(program: AssemblyKernel) -> frozenset[int]:
    """Return the blocks of slow paths. The program skips them if no lane has a large argument."""
    return _of_large_angles(program) | _of_soft_caps(program)


def _of_large_angles(program: AssemblyKernel) -> frozenset[int]:
    if not any(_BITS_OF_TWO_OVER_PI in i.text or i.opcode.mnemonic.startswith(_TABLE) for i in program.instructions):
        return frozenset()
    return frozenset(b.index for b in program.blocks if _can_be_skipped(program, b) and _reduces(program, b))


def _of_soft_caps(program: AssemblyKernel) -> frozenset[int]:
    if not any(_POLYNOMIAL_BITS in i.text for i in program.instructions):
        return frozenset()
    return frozenset(b.index for b in program.blocks if _can_be_skipped(program, b) and _is_soft_cap_path(program, b))


def _can_be_skipped(program: AssemblyKernel, block: Block) -> bool:
    """Return whether a branch before the block may skip it, depending on a lane mask or a condition."""
    return block.start > 0 and program.instructions[block.start - 1].opcode.mnemonic.startswith("s_cbranch_")


def _reduces(program: AssemblyKernel, block: Block) -> bool:
    """Return whether a block only performs the range reduction of an angle for sine, cosine or tangent."""
    inside = program.instructions[block.start : block.end]
    names = [i.opcode.mnemonic for i in inside]
    wide = sum(name.startswith(_PRODUCTS) for name in names)
    reduces = wide >= _WORDS and any(name.startswith("v_alignbit_b32") for name in names)
    reduces = reduces or any(name.startswith(_TABLE) for name in names)
    return reduces and all(i.opcode.cls not in _OTHERS for i in inside)


def large_angles(program: AssemblyKernel) -> list[str]:
    """Return one sentence on the slow paths that predictions leave out, or an empty list if there are none."""
    blocks = _of_large_angles(program)
    if not blocks:
        return []
    count = _instructions(program, blocks)
    why = "angles are assumed to be small, below 2^17 (2^30 in double precision)"
    return [f"sin and cos: {why}; large angles cost a wavefront up to {count} instructions more"]


def large_soft_caps(program: AssemblyKernel) -> list[str]:
    """Return one sentence on the paths of tanh that predictions leave out, or an empty list if there are none."""
    blocks = _of_soft_caps(program)
    if not blocks:
        return []
    why = f"values that a constant scales down are assumed to be below {_USUAL:g}"
    return [f"tanh: {why}; large values cost a wavefront up to {_instructions(program, blocks)} instructions more"]


def _instructions(program: AssemblyKernel, blocks: frozenset[int]) -> int:
    return sum(b.end - b.start for b in program.blocks if b.index in blocks)


def _is_soft_cap_path(program: AssemblyKernel, block: Block) -> bool:
    """Return whether a block is the large-argument path of tanh, for arguments that a constant has scaled down."""
    inside = program.instructions[block.start : block.end]
    names = {i.opcode.name for i in inside}
    if not {"v_exp_f32", "v_rcp_f32"} <= names or any(i.opcode.cls in _OTHERS for i in inside):
        return False
    start = next((b.start for b in program.blocks if b.end == block.start), block.start)
    before = program.instructions[start : block.start]
    compare = _last(before, lambda i: i.opcode.name.startswith("v_cmp_") and len(i.operands) > 2)
    if compare is None:
        return False
    value, limit = before[compare].operands[1:3]
    earlier = program.instructions[: start + compare]
    if not (value.startswith("|") and _constant(earlier, limit) == _POLYNOMIAL_BELOW):
        return False
    made = _last(earlier[start:], lambda i: i.operands[:1] == (value.strip("|"),))
    scale = None
    if made is not None and earlier[start + made].opcode.name == "v_mul_f32":
        scale = next((c for each in earlier[start + made].operands[1:] if (c := _bits(each)) is not None), None)
    return scale is not None and abs(scale) * _USUAL <= _POLYNOMIAL_BELOW


def _last(instructions: Sequence[Instruction], wanted: Callable[[Instruction], bool]) -> int | None:
    return next((n for n in reversed(range(len(instructions))) if wanted(instructions[n])), None)


def _constant(earlier: Sequence[Instruction], operand: str) -> float | None:
    """Return the value of a constant operand, or of a register whose last write is a move of a constant."""
    if (found := _bits(operand)) is not None:
        return found
    at = _last(earlier, lambda i: i.operands[:1] == (operand,))
    made = None if at is None else earlier[at]
    return _bits(made.operands[1]) if made is not None and made.opcode.name == "s_mov_b32" else None


def _bits(operand: str) -> float | None:
    """Return the single-precision number whose bits a hexadecimal literal contains; ``None`` for other operands."""
    return float_of(int(operand, 0)) if operand.startswith("0x") else None
