"""Detect slow paths of library functions: sine, cosine and tangent of large angles.

For angles from 2^17 on in single precision, and 2^30 in double precision, the device library takes the slow path. The
slow path multiplies the angle by many bits of 2/pi, which no other code does. The bits may be loaded before a loop that
contains the multiplications.
"""

from kprof.inputs.amdgcn import AssemblyKernel, Block, InstructionClass

# The last 32-bit word of 2/pi by which the library multiplies a float.
_BITS_OF_TWO_OVER_PI = "0xfe5163ab"
_PRODUCTS = ("v_mad_u64_u32", "v_mad_co_u64_u32", "v_mad_nc_u64_u32", "v_mul_hi_u32")
# Number of words of 2/pi by which the library multiplies the angle, without the last one.
_WORDS = 6
_TABLE = "v_trig_preop_f64"
_OTHERS = {
    InstructionClass.VMEM,
    InstructionClass.LDS,
    InstructionClass.MATRIX,
    InstructionClass.BARRIER,
}


def slow_blocks(program: AssemblyKernel) -> frozenset[int]:
    """Return the blocks of slow paths. The program skips them if no lane has a large angle."""
    if not any(_BITS_OF_TWO_OVER_PI in i.text or i.opcode.mnemonic.startswith(_TABLE) for i in program.instructions):
        return frozenset()
    return frozenset(b.index for b in program.blocks if _can_be_skipped(program, b) and _reduces(program, b))


def _can_be_skipped(program: AssemblyKernel, block: Block) -> bool:
    """Return whether a branch before the block may skip it, depending on a lane mask or a condition."""
    return block.start > 0 and program.instructions[block.start - 1].opcode.mnemonic.startswith("s_cbranch_")


def _reduces(program: AssemblyKernel, block: Block) -> bool:
    """Return whether a block does nothing but reduce an angle to a small one."""
    inside = program.instructions[block.start : block.end]
    names = [i.opcode.mnemonic for i in inside]
    wide = sum(name.startswith(_PRODUCTS) for name in names)
    reduces = wide >= _WORDS and any(name.startswith("v_alignbit_b32") for name in names)
    reduces = reduces or any(name.startswith(_TABLE) for name in names)
    return reduces and all(i.opcode.cls not in _OTHERS for i in inside)


def large_angles(program: AssemblyKernel) -> list[str]:
    """Return one sentence on the slow paths that predictions leave out, or an empty list if there are none."""
    blocks = slow_blocks(program)
    if not blocks:
        return []
    count = sum(b.end - b.start for b in program.blocks if b.index in blocks)
    why = "angles are assumed to be small, below 2^17 (2^30 in double precision)"
    return [f"sin and cos: {why}; large angles cost a wavefront up to {count} instructions more"]
