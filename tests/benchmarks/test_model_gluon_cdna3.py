"""Gluon products of CDNA 3: their rows, a loop in another order, and bank conflicts against published counters."""

import csv
from dataclasses import replace

import pytest

from kprof.inputs import amdgcn
from kprof_analyzers.memory.lds_access import lds_accesses
from validation.benchmarks.model import traced
from validation.benchmarks.model.compiling import Facts, Point
from validation.benchmarks.model.data import Row, Rows, later
from validation.benchmarks.model.families import gluon_cdna3

SHAPE = {"M": 4096, "N": 4864, "K": 8256}


def row(variant="inter_wave(8 warps)", table="shapes", us=572.1, cycles="", group="4"):
    config = {"table": table, "GROUP_SIZE_M": group, "cycles_per_iter_wave": cycles}
    return Row("p", gluon_cdna3.KIND, variant, SHAPE, config, "fp16", "", us, "", "", "gemm", "gfx942")


def test_timed_and_traced_rows_are_apart():
    rows = Rows([
        row("intra_wave(4 warps)", us=586.4), row(), row("hipBLASLt"), row(table="sweep-gm", group="8"),
        row(table="att", us=None, cycles="4737"),
    ])  # fmt: skip
    sizes, groups = gluon_cdna3.problems(rows, False)
    assert [one.points[0].config["num_warps"] for one in sizes.candidates] == [4, 8]
    assert [one.points[0].config["GROUP_SIZE_M"] for one in groups.candidates] == [8]
    (traces,) = gluon_cdna3.traces(rows, False)
    assert (traces.name, traces.candidates[0].loop_cycles, traces.candidates[0].time_us) == ("8 wavefronts", 4737, None)
    assert rows.skipped == {("hipBLASLt", "time of a library"): 1}


def test_a_trace_is_no_time_of_the_table(tmp_path):
    names = ("path", "arch", "table", "dtype", "M", "N", "K", "variant", "GROUP_SIZE_M", "time_us",
             "cycles_per_iter_wave")  # fmt: skip
    lines = [
        ("README.md", "gfx942", "shapes", "fp16", 256, 256, 512, "hipBLASLt", 4, 157.6, ""),
        ("README.md", "gfx942", "att", "fp16", 256, 256, 512, "inter_wave(8 warps)", 4, 493, 4737),
    ]
    with (tmp_path / "gfx942_gluon_gemm.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *lines])
    timed, trace = later(tmp_path)
    assert (timed.time_us, trace.time_us) == (157.6, None)
    assert trace.config["cycles_per_iter_wave"] == "4737"


LOOP = """\
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
k:
\ts_mov_b32 s0, 0
.LBB0_1:
\tds_read_b128 v[0:3], v8
\ts_waitcnt lgkmcnt(0)
\tv_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]
\tv_mfma_f32_16x16x16_f16 a[4:7], v[0:1], v[2:3], a[4:7]
\ts_add_i32 s0, s0, 1
\ts_cmp_lt_u32 s0, 8
\ts_cbranch_scc1 .LBB0_1
\ts_endpgm
.Lfunc_end0:
"""


def test_a_loop_in_another_order_keeps_its_instructions_and_the_code_around():
    (program,) = amdgcn.parse(LOOP).functions
    found = traced.in_order(program, "M1 w B R1 M1", ["lgkmcnt(1)"])
    assert [one.text for one in found.instructions] == [
        "s_mov_b32 s0, 0",
        "v_mfma_f32_16x16x16_f16 a[0:3], v[0:1], v[2:3], a[0:3]",
        "s_waitcnt lgkmcnt(1)",
        "s_barrier",
        "ds_read_b128 v[0:3], v8",
        "v_mfma_f32_16x16x16_f16 a[4:7], v[0:1], v[2:3], a[4:7]",
        "s_add_i32 s0, s0, 1",
        "s_cmp_lt_u32 s0, 8",
        "s_cbranch_scc1 .LBB0_1",
        "s_endpgm",
    ]
    assert len(found.loops) == 1
    with pytest.raises(ValueError, match="the order"):
        traced.in_order(program, "M3 R1", [])


@pytest.fixture(scope="module")
def facts():
    return Facts()


def compiled(facts, warps, phase):
    attributes = "amdgpu-agpr-alloc=256" if warps == 4 else "amdgpu-agpr-alloc=0"
    config = {"GROUP_SIZE_M": 4, "PHASE": phase, "num_warps": warps, "llvm_fn_attrs": attributes}
    (found,) = facts.prepare([Point("gluon_gemm_cdna3", SHAPE, config, "MI300X")])
    return found


@pytest.mark.triton
@pytest.mark.parametrize(
    ("warps", "phase", "replays", "registers"),
    [(4, 2, 0.667, 512), (4, 1, 0.0, 512), (8, 2, 0.75, 224), (8, 1, 0.0, 224)],
)
def test_registers_and_bank_conflicts_are_those_of_the_page(facts, warps, phase, replays, registers):
    """SQ_LDS_BANK_CONFLICT over the other cycles: kernels/gemm/gfx942, ROCm/gfx950-gluon-tutorials at 3959e8b6."""
    found = compiled(facts, warps, phase)
    assert found.resources.vgpr_allocated == registers
    assert (found.resources.vgpr_spills, found.resources.lds_bytes) == (0, 65536)
    inside = [one for one in lds_accesses(found.ttgir, found.arch) if one.operation.loop is not None]
    conflicts = sum(one.cost.conflicts for one in inside if one.cost is not None)
    loop = max(found.program.loops, key=lambda one: len(one.instructions))
    names = [found.program.instructions[i].mnemonic for i in loop.instructions]
    accesses = sum(name.startswith("ds_") for name in names)
    assert conflicts / (8 * accesses) == pytest.approx(replays, abs=0.001)


@pytest.mark.triton
def test_the_traced_cycles_are_met_within_eight_percent(facts):
    """Eight wavefronts as ours compile; four in the order that was published: another one costs more."""
    eight, four = compiled(facts, 8, 2), compiled(facts, 4, 2)
    assert traced.loop_cycles(eight, traced.TRACED_MHZ) == pytest.approx((128 * 16, 4737), rel=0.08)
    ordered = replace(four, program=traced.in_order(four.program, traced.PUBLISHED, traced.WAITS))
    assert traced.loop_cycles(ordered, traced.TRACED_MHZ) == pytest.approx((256 * 16, 5877), rel=0.08)
