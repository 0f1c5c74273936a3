"""gfx1250's registers above 255 in a disassembly: what the compiler says in comments is the oracle elsewhere."""

import pytest

from kprof.inputs import amdgcn

HEAD = "k.hsaco:\tfile format elf64-amdgpu\n\nDisassembly of section .text:\n\n0000000000001000 <k>:\n"


def kernel(*lines, arch="gfx1250"):
    """A disassembled kernel of these instructions; a branch names its target by number of instruction."""
    text = HEAD
    for number, line in enumerate((*lines, "s_endpgm")):
        code, _, target = line.partition(" -> ")
        where = f" <k+{4 * int(target):#x}>" if target else ""
        text += f"\t{code} // {0x1000 + 4 * number:012X}: 00000000{where}\n"
    return amdgcn.parse(text, arch=arch)


def effects(assembly, index):
    """Registers read and written by one instruction."""
    found = assembly.kernels[0].instructions[index].effects
    return sorted(found.reads - {"exec_lo", "vcc_lo"}), sorted(found.writes - {"vcc_lo"})


@pytest.mark.parametrize(
    ("mode", "line", "reads", "writes"),
    [
        ("0x40", "v_mov_b32_e32 v5, v6", ["v6"], ["v261"]),
        ("0x01", "v_mov_b32_e32 v5, v6", ["v262"], ["v5"]),
        ("0x8000", "v_mov_b32_e32 v5, v6", ["v6"], ["v5"]),
        ("0xe4", "v_fma_f32 v1, v1, -v1, |v1|", ["v1", "v257", "v513"], ["v769"]),
        ("0x04", "v_fmamk_f32 v1, v2, 0x40000000, v3", ["v2", "v259"], ["v1"]),
        ("0x05", "v_cmp_gt_f32_e32 vcc_lo, v2, v3", ["v258", "v259"], []),
        ("0x45", "v_add_co_u32 v1, s4, v2, v3", ["v258", "v259"], ["s4", "v257"]),
        ("0x41", "v_mov_b16_e64 v1.l, v2.h", ["v257", "v258"], ["v257"]),
        ("0x40", "v_dual_mov_b32 v1, v2 :: v_dual_add_f32 v3, v4, v5", ["v2", "v4", "v5"], ["v257", "v259"]),
        ("0x40", "ds_load_b64 v[2:3], v4 offset:8", ["v4"], ["v258", "v259"]),
        ("0x04", "ds_store_b32 v4, v5", ["v261", "v4"], []),
        ("0x14", "ds_store_2addr_b32 v4, v5, v6 offset1:1", ["v261", "v262", "v4"], []),
        ("0x41", "global_load_b32 v1, v2, s[2:3]", ["s2", "s3", "v258"], ["v257"]),
        ("0x04", "global_store_b32 v2, v1, s[2:3]", ["s2", "s3", "v2", "v257"], []),
        ("0x40", "buffer_store_b32 v1, v2, s[4:7], null offen", ["s4", "s5", "s6", "s7", "v2", "v257"], []),
    ],
)
def test_each_operand_has_its_bits(mode, line, reads, writes):
    """First, second and third source, and the destination; scalars and constants have none."""
    assembly = kernel(f"s_set_vgpr_msb {mode}", line)
    assert effects(assembly, 1) == (reads, writes)
    assert "/*" not in assembly.kernels[0].instructions[1].text or ("v" in "".join(reads + writes))


def test_the_mode_goes_along_the_branches():
    """A jump takes it with it; behind a jump that is always taken only those count that come from elsewhere."""
    assembly = kernel(
        "s_set_vgpr_msb 0x40",
        "s_branch 3 -> 5",
        "s_sleep 0",
        "v_mov_b32_e32 v1, v2",
        "s_endpgm",
        "v_mov_b32_e32 v3, v4",
        "s_set_vgpr_msb 0x4000",
        "s_branch 1 -> 3",
    )
    assert effects(assembly, 5) == (["v4"], ["v259"])
    assert effects(assembly, 3) == (["v2"], ["v1"])
    assert assembly.notes == ()


def test_two_ways_with_different_modes_are_not_guessed():
    """The compiler never leaves that; it is said, and the rest is followed."""
    assembly = kernel(
        "s_set_vgpr_msb 0x40", "s_cbranch_scc0 1 -> 3", "s_set_vgpr_msb 0x80", "v_mov_b32_e32 v1, v2", "s_endpgm"
    )
    (note,) = assembly.notes
    assert "the registers of 1 block" in note


def test_other_architectures_have_no_such_mode():
    """Nothing changes where nothing sets it."""
    assembly = kernel("v_mov_b32_e32 v5, v6", arch="gfx1201")
    assert effects(assembly, 0) == (["v6"], ["v5"])
