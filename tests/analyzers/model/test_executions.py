"""How often code is executed, and which code is worth a rule's look."""

from dataclasses import replace

import msgspec
import pytest

from kprof.inputs import mlir
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.model.executions import executions, is_significant, regions, significant_regions
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


LOADS = """
module attributes {{"ttg.num-warps" = 4 : i32}} {{
  tt.func public @k(%p: !tt.ptr<f16>, %n: i32, %m: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %a = tt.load %p : tensor<64x!tt.ptr<f16>>
    scf.for %i = %c0 to %n step %c1 : i32 {{
      %b = tt.load %p : tensor<{inside}x!tt.ptr<f16>>
      scf.for %j = %c0 to %m step %c1 : i32 {{
        %c = tt.load %p : !tt.ptr<f16>
        scf.for %k = %c0 to %m step %c1 : i32 {{
          %d = tt.load %p : !tt.ptr<f16>
        }}
      }}
    }}
    tt.return
  }}
}}
"""


def loaded(inside=64, **arguments):
    """Facts of a kernel that loads outside its two loops, in them, and in a third one that its assembly has not."""
    known = replace(facts(NESTED), ttgir=mlir.parse(LOADS.format(inside=inside)), grid=(1, 1, 1), arguments=arguments)
    return known, [op for op in known.ttgir.operations if op.name == "tt.load"]


def test_an_operation_is_executed_as_often_as_the_loops_around_it():
    """Three times five iterations; sixteen are assumed of a loop that is not in the assembly."""
    known, loads = loaded(n=3, m=5)
    assert [executions(known, load) for load in loads] == [1.0, 3.0, 15.0, 15.0 * 16]
    # The wavefronts' size need not be known.
    lanes = msgspec.structs.replace(known.resources, wavefront_size=None)
    assert [executions(replace(known, resources=lanes), load) for load in loads] == [1.0, 3.0, 15.0, 15.0 * 16]


@pytest.mark.parametrize(
    ("inside", "times", "significant"), [(64, 7, True), (64, 8, False), (128, 3, True), (128, 4, False)]
)
def test_an_eighth_of_the_loaded_bytes_is_significant(inside, times, significant):
    """One tile of 64 outside against seven in the loop is exactly an eighth; loads of no tile move nothing."""
    known, (first, second, third, _) = loaded(inside, n=times, m=2)
    assert is_significant(known, first) is significant
    assert is_significant(known, second)
    assert not is_significant(known, third)
