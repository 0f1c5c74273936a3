"""Scratch behind buffer instructions: recognised by the compiler's comments, and without them by the entry."""

import re

import pytest

from kprof.inputs import amdgcn
from kprof.inputs.amdgcn import InstructionClass, MemorySpace
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load

CODE = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
{entry}
\tbuffer_store_dword v1, off, s[{first}:{last}], 0 offset:8{comment}
\tbuffer_load_dword v2, v3, s[16:19], 0 offen
\tbuffer_load_dword v1, off, s[{first}:{last}], 0 offset:8
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_private_segment_fixed_size {size}
\t\t.amdhsa_next_free_vgpr 8
\t\t.amdhsa_next_free_sgpr 96
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""
IN_PLACE = "\ts_add_u32 s0, s0, s19\n\ts_addc_u32 s1, s1, 0"
COPIED = "\ts_mov_b64 s[94:95], s[2:3]\n\ts_mov_b64 s[92:93], s[0:1]\n\ts_add_u32 s92, s92, s19"


def classes(entry, first, comment="", size=16):
    """Class of each buffer instruction."""
    text = CODE.format(entry=entry, first=first, last=first + 3, comment=comment, size=size)
    found = amdgcn.parse(text).kernels[0].instructions
    return [i.opcode.cls.value for i in found if i.mnemonic.startswith("buffer_")]


@pytest.mark.parametrize(
    ("entry", "first", "comment"),
    [(IN_PLACE, 0, ""), (COPIED, 92, ""), ("", 40, " ; 4-byte Folded Spill"), (COPIED, 40, " ; 4-byte Folded Spill")],
)
def test_accesses_through_the_scratch_descriptor_are_scratch(entry, first, comment):
    """In place, copied, or where a comment says so; other buffers stay what they are."""
    assert classes(entry, first, comment) == ["scratch", "vmem", "scratch"]


@pytest.mark.parametrize(("entry", "first", "size"), [(IN_PLACE, 0, 0), ("", 0, 16), (COPIED, 0, 16)])
def test_other_buffers_are_not(entry, first, size):
    """Without scratch memory, without an offset added at the entry, and once the descriptor has moved."""
    assert classes(entry, first, size=size) == ["vmem", "vmem", "vmem"]


FAR = "\n".join(["\ts_nop 0"] * 199)


@pytest.mark.parametrize(
    ("entry", "first"),
    [
        (f"{FAR}\n\ts_nop 0\n\ts_add_u32 s0, s0, s19", 0),
        ("\ts_add_u32 s0, s1, s19", 0),
        ("\ts_add_u32 s8, s8, s19", 8),
        ("\ts_mov_b64 s[92:93], s[2:3]\n\ts_add_u32 s92, s92, s19", 92),
    ],
)
def test_what_adds_no_offset_to_the_descriptor(entry, first):
    """Beyond the first 200 instructions, into another register, and to what is no copy of it."""
    assert classes(entry, first) == ["vmem", "vmem", "vmem"]


def test_the_last_instruction_of_the_entry_counts():
    """The 200th."""
    assert classes(f"{FAR}\n\ts_add_u32 s0, s0, s19", 0) == ["scratch", "vmem", "scratch"]


def test_scratch_accesses_are_so_in_every_respect():
    """Class, path and what they are counted as."""
    text = CODE.format(entry=IN_PLACE, first=0, last=3, comment="", size=16)
    (store, other, load_) = (i for i in amdgcn.parse(text).kernels[0].instructions if i.mnemonic.startswith("buffer_"))
    for each in (store, load_):
        assert each.opcode.cls is each.opcode.likely is InstructionClass.SCRATCH
        assert each.opcode.space is MemorySpace.SCRATCH
    assert other.opcode.space is MemorySpace.BUFFER
    assert (store.opcode.is_store, load_.opcode.is_load) == (True, True)


@pytest.mark.triton
def test_the_entry_tells_the_same_as_the_comments():
    """All of the spill traffic of a real kernel, and nothing else, with the comments and without them."""
    options = CompileOptions(arch=("gfx90a",), config={"waves_per_eu": 4})
    (kernel,) = load("flash_attention", options)
    text = kernel.stages["amdgcn"]
    text = text if isinstance(text, str) else text.decode()
    bare = amdgcn.parse(re.sub(r" +; \d+-byte Folded \w+", "", text)).kernels[0]
    marked = [i.line for i in kernel.program.instructions if i.opcode.cls is InstructionClass.SCRATCH]
    assert len(marked) > 100
    assert marked == [i.line for i in bare.instructions if i.opcode.cls is InstructionClass.SCRATCH]
    assert marked == [i.line for i in kernel.program.instructions if i.spill]
