"""How often code is executed, and which code is worth a rule's look."""

from dataclasses import replace

import pytest

from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.model.executions import regions, significant_regions
from tests.rules.literate import assembly, facts_of

NESTED = """
\tv_add_f32_e32 v1, v2, v3
.LBB0_1:
\tv_add_f32_e32 v1, v2, v3
.LBB0_2:
\tv_add_f32_e32 v1, v2, v3
\ts_cmp_lt_i32 s0, s1
\ts_cbranch_scc1 .LBB0_2
\ts_cmp_lt_i32 s2, s3
\ts_cbranch_scc1 .LBB0_1
"""


def facts(body):
    """A kernel for gfx942 without TTGIR."""
    return facts_of(assembly(body))


def test_loops_of_unknown_length_count_sixteen_times():
    """The inner loop 256 times; each instruction is in one region."""
    known = facts(NESTED)
    found = regions(known)
    assert [(r.header, r.times, r.innermost) for r in found] == [
        (".LBB0_1", 16.0, False),
        (".LBB0_2", 256.0, True),
        (None, 1.0, False),
    ]
    indices = sorted(i.index for region in found for i in region.instructions)
    assert indices == [i.index for i in known.program.instructions]
    assert [r.words for r in found] == ["in loop .LBB0_1", "in loop .LBB0_2", "outside loops"]


def test_straight_line_code_is_one_region():
    """Always looked at, whatever is in it."""
    (region,) = regions(facts("\ts_nop 0"))
    assert (region.times, region.words, region.header) == (1.0, "in straight-line code", None)
    assert significant_regions(facts("\ts_nop 0"), InstructionClass.VMEM)


@pytest.mark.parametrize(("outside", "looked"), [(16, True), (15, False)])
def test_an_eighth_is_worth_a_look(outside, looked):
    """Sixteen instructions outside against 7 x 16 in the loop are exactly an eighth."""
    add = "\tv_add_f32_e32 v1, v2, v3\n"
    known = facts(add * outside + ".LBB0_1:\n" + add * 7 + "\ts_cbranch_scc1 .LBB0_1")
    assert (None in [r.header for r in significant_regions(known, InstructionClass.VALU)]) is looked


def test_another_kernel_is_not_taken_for_the_last():
    """Facts that are equal are still others'."""
    one = facts(NESTED)
    other = replace(one, program=facts("\ts_nop 0").program)
    assert len(regions(one)) == 3
    assert len(regions(other)) == 1
    assert len(regions(one)) == 3
