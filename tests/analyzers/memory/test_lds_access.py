"""LDS accesses from layouts, against the instructions that the compiler made of them."""

from collections import Counter

import pytest

from kprof.inputs.amdgcn import InstructionClass
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.memory.lds_access import lds_accesses

pytestmark = pytest.mark.triton


@pytest.mark.parametrize("kernel", ["gemm", "flash_attention"])
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
def test_widths_and_numbers_are_those_of_the_assembly(kernel, arch):
    """Reads and writes by bytes at an address: the same number from the layouts and from the assembly."""
    (loaded,) = load(kernel, CompileOptions(arch=(arch,)))
    expected: Counter[tuple[bool, int]] = Counter()
    for access in lds_accesses(loaded.ttgir, loaded.arch):
        expected[access.write, access.width] += access.instructions
    found: Counter[tuple[bool, int]] = Counter()
    for instruction in loaded.program.instructions:
        opcode = instruction.opcode
        if opcode.cls is InstructionClass.LDS and (opcode.is_load or opcode.is_store) and "permute" not in opcode.name:
            if "_tr_" in opcode.name:
                # Four lanes exchange their 2-byte elements: one instruction does the work of four.
                found[False, 2] += 4
            else:
                found[opcode.is_store, opcode.bytes_per_lane // opcode.parts] += opcode.parts
    # The assembler may repeat a loop's body, never drop an access.
    assert set(found) == set(expected)
    assert all(found[key] >= number for key, number in expected.items())
    # Only Triton 3.4's assembler was seen to repeat one.
    if kernel == "gemm" or not loaded.triton.startswith("3.4."):
        assert found == expected
