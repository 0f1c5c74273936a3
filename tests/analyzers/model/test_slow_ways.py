"""Slow ways of sine, cosine and tanh, recognised in blocks that are written out by hand.

The reduction of a large angle multiplies it by seven words of 2/pi, the last of which is 0xfe5163ab (2/pi in binary,
as ``libclc`` and ``ocml`` have it), and shifts the products into place with ``v_alignbit_b32``.
"""

import pytest

from kprof.inputs import amdgcn
from kprof_analyzers.model.outline import outline
from kprof_analyzers.model.slow_ways import large_angles, large_soft_caps, slow_blocks

BITS = "s_mov_b32 s3, 0xfe5163ab"
ALIGN = "v_alignbit_b32 v8, v9, v10, v11"
SKIP = "s_cbranch_execz .LBB0_9"
TEXT = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
{body}
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 32
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
\t.text
.Lfunc_end0:
\t.size\tk, .Lfunc_end0-k
"""


def program(*lines):
    """The kernel that consists of these lines."""
    body = "\n".join(line if line.endswith(":") else f"\t{line}" for line in lines)
    return amdgcn.parse(TEXT.format(body=body)).kernels[0]


def skipped(*inside, before=(BITS,), branch=SKIP):
    """A kernel whose second block may be skipped; the block starts with the branch's successor."""
    return program(*before, branch, *inside, ".LBB0_9:", "s_endpgm")


def products(count, name="v_mad_u64_u32"):
    """So many products, with the shift of a reduction."""
    operands = "v2, v3, v4" if name == "v_mul_hi_u32" else "v[2:3], s[0:1], v4, s3, v[2:3]"
    return [*[f"{name} {operands}"] * count, ALIGN]


@pytest.mark.parametrize("name", ["v_mad_u64_u32", "v_mad_co_u64_u32", "v_mad_nc_u64_u32", "v_mul_hi_u32"])
def test_six_wide_products_are_a_reduction_and_five_are_not(name):
    """Seven words of 2/pi less the last one, whose product needs no high half."""
    assert slow_blocks(skipped(*products(6, name))) == {1}
    assert slow_blocks(skipped(*products(5, name))) == frozenset()


def test_products_without_the_shift_or_the_bits_are_ordinary_arithmetic():
    assert slow_blocks(skipped(*products(8)[:-1])) == frozenset()
    assert slow_blocks(skipped(*products(8), before=("s_nop 0",))) == frozenset()
    # 64-bit products of another kind.
    assert slow_blocks(skipped(*products(8, "v_mad_i64_i32"))) == frozenset()


def test_the_table_of_double_precision_is_a_reduction_by_itself():
    """``v_trig_preop_f64`` looks a part of 2/pi up, which nothing else needs."""
    lookup = "v_trig_preop_f64 v[2:3], v[4:5], 0"
    assert slow_blocks(skipped(lookup, before=("s_nop 0",))) == {1}
    # Whatever else belongs to the reduction.
    assert slow_blocks(skipped("v_mul_f64 v[2:3], v[4:5], v[6:7]", lookup)) == {1}


@pytest.mark.parametrize(
    "other",
    [
        "global_load_dword v1, v[2:3], off",
        "ds_read_b32 v1, v2",
        "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]",
        "s_barrier",
    ],
)
def test_a_block_that_does_anything_else_is_kept(other):
    """What follows is needed for small angles, too."""
    assert slow_blocks(skipped(*products(6), other)) == frozenset()
    assert slow_blocks(skipped(*products(6), "v_add_f32_e32 v1, v2, v3")) == {1}


@pytest.mark.parametrize(
    ("branch", "found"),
    [("s_cbranch_execz .LBB0_9", {1}), ("s_cbranch_vccnz .LBB0_9", {1}), ("s_cbranch_scc1 .LBB0_9", {1})],
)
def test_the_block_stands_right_behind_a_branch_that_may_skip_it(branch, found):
    assert slow_blocks(skipped(*products(6), branch=branch)) == found


def test_a_block_that_nothing_skips_is_kept():
    """Its beginning is a label that is only fallen into or jumped to from elsewhere."""
    fallen = program(BITS, "s_nop 0", ".LBB0_5:", *products(6), SKIP, "s_nop 0", ".LBB0_9:", "s_endpgm")
    assert slow_blocks(fallen) == frozenset()
    # The first block has no branch before it, whatever the last instruction of the kernel is.
    first = program(".LBB0_1:", BITS, *products(6), "s_cbranch_scc1 .LBB0_1")
    assert slow_blocks(first) == frozenset()


def test_a_block_behind_a_branch_at_the_very_beginning():
    """The branch is instruction 0, and the bits stand in the block itself."""
    assert slow_blocks(program(SKIP, BITS, *products(6), ".LBB0_9:", "s_endpgm")) == {1}


def test_the_sentence_counts_the_instructions_of_all_slow_blocks():
    """Six products and a shift in one block, seven and a shift in the other."""
    assert large_angles(skipped("v_add_f32_e32 v1, v2, v3")) == []
    both = program(
        BITS, SKIP, *products(6), ".LBB0_9:", "s_nop 0", "s_cbranch_execz .LBB0_10", *products(7), ".LBB0_10:",
        "s_endpgm",
    )  # fmt: skip
    (sentence,) = large_angles(both)
    assert sentence == (
        "sin and cos: angles are assumed to be small, below 2^17 (2^30 in double precision); "
        "large angles cost a wavefront up to 15 instructions more"
    )


LIMIT = "s_mov_b32 s0, 0x3f200000"
"""0.625 in single precision."""
CAP = ["v_mul_f32_e32 v1, 0x3d088889, v1", "v_cmp_nlt_f32_e64 s[0:1], |v1|, s0", "s_and_saveexec_b64 s[2:3], s[0:1]"]
"""A value divided by 30, and compared."""
LARGE = ["v_exp_f32_e32 v8, v8", "v_add_f32_e32 v8, 1.0, v8", "v_rcp_f32_e32 v8, v8"]


def capped(*before, inside=LARGE):
    """A kernel with tanh as the device library has it: the second block is for large values, the third for small."""
    small = ["s_andn2_saveexec_b64 s[0:1], s[0:1]", "v_fma_f32 v6, v6, v7, |v1|", "s_or_b64 exec, exec, s[0:1]"]
    return program(*before, SKIP, *inside, ".LBB0_9:", *small, "s_endpgm")


def test_logits_are_assumed_to_stay_below_their_cap():
    found = capped(LIMIT, *CAP)
    assert slow_blocks(found) == {1}
    # The path through the kernel goes around the block: five instructions before it, four from the label on.
    assert [list(part) for part in outline(found)] == [[0, 1, 2, 3, 4], [8, 9, 10, 11]]
    (sentence,) = large_soft_caps(found)
    assert sentence == (
        "tanh: values that a constant scales down are assumed to be below 16; "
        "large values cost a wavefront up to 3 instructions more"
    )
    assert large_angles(found) == []


@pytest.mark.parametrize(
    ("scale", "found"),
    # 1/25.6 is the largest scale: 16 times it are 0.625. 1 / 25.5, -1/30, 1/50, and 0.7978 of GELU.
    [("0x3d200000", {1}), ("0x3d20a0a1", set()), ("0xbd088889", {1}), ("0x3ca3d70a", {1}), ("0x3f4c422a", set())],
)
def test_a_cap_counts_by_its_scale(scale, found):
    assert slow_blocks(capped(LIMIT, CAP[0].replace("0x3d088889", scale), *CAP[1:])) == found


@pytest.mark.parametrize(
    "before",
    [
        # Any value: both ways may be taken.
        (LIMIT, *CAP[1:]),
        # An argument of the kernel scales it, another operation follows, another limit, another value.
        (LIMIT, "v_mul_f32_e32 v1, s9, v1", *CAP[1:]),
        (LIMIT, CAP[0], "v_add_f32_e32 v1, v1, v2", *CAP[1:]),
        ("s_mov_b32 s0, 0x3f800000", *CAP, "s_mov_b32 s5, 0x3f200000"),
        (LIMIT, "s_add_i32 s0, s0, s1", *CAP),
        (LIMIT, CAP[0].replace("v1", "v2"), *CAP[1:]),
        (LIMIT, CAP[0], CAP[1].replace("|", ""), CAP[2]),
    ],
)
def test_both_ways_of_other_values_are_kept(before):
    assert slow_blocks(capped(*before)) == frozenset()
    assert large_soft_caps(capped(*before)) == []


def test_a_block_without_tanh_s_exponential_and_reciprocal_is_kept():
    assert slow_blocks(capped(LIMIT, *CAP, inside=LARGE[1:])) == frozenset()
    assert slow_blocks(capped(LIMIT, *CAP, inside=LARGE[:-1])) == frozenset()
    assert slow_blocks(capped(LIMIT, *CAP, inside=[*LARGE, "s_barrier"])) == frozenset()
    # The limit may stand in the comparison itself.
    assert slow_blocks(capped(CAP[0], CAP[1].replace("s0", "0x3f200000"), CAP[2])) == {1}
