"""Where a launch is under the rooflines: its operations, its bytes by level, and the GPU's peaks."""

from dataclasses import replace

import msgspec
import pytest

import kprof
from kprof.hardware.machine import find_product, load
from kprof_analyzers.model.kernel import build
from kprof_analyzers.model.occupancy_gain import roofline
from kprof_analyzers.peaks import arithmetic, bandwidths


def placed(facts):
    found = roofline(build(facts), {})
    assert found is not None
    return found.flops, {level.name: level.bytes for level in found.levels}


@pytest.mark.parametrize(
    ("line", "kind", "flops"),
    [
        ("v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]", "matrix_fp16", 2 * 32 * 32 * 8),
        ("v_fma_f32 v1, v2, v3, v4", "valu_fp32", 2 * 64),
        ("v_pk_mul_f32 v[2:3], v[4:5], v[6:7]", "valu_fp32", 2 * 64),
        ("v_add_f64 v[2:3], v[4:5], v[6:7]", "valu_fp64", 64),
        ("v_exp_f32_e32 v1, v2", "valu_fp32", 64),
        ("v_max_f32_e32 v1, v2, v3", "", 0),
        ("v_cmp_lt_f32_e32 vcc, v1, v2", "", 0),
        ("v_add_u32_e32 v1, v2, v3", "", 0),
    ],
)
def test_operations_are_counted_as_the_counters_do(kernel, line, kind, flops):
    """ADD, MUL and TRANS one, FMA two, MFMA 2 x M x N x K; 304 workgroups of four wavefronts."""
    assert placed(kernel([line]))[0] == ({kind: flops * 4 * 304} if kind else {})


def test_bytes_near_a_cu_are_those_of_all_lanes(kernel):
    flops, moved = placed(kernel(["ds_read_b128 v[0:3], v8", "global_load_dwordx2 v[4:5], v[6:7], off"]))
    assert not flops
    assert moved == {"lds": 16 * 64 * 4 * 304, "l1": 8 * 64 * 4 * 304}


def test_without_a_grid_there_is_none(kernel):
    assert roofline(build(kernel(["s_nop 0"], grid=None)), {}) is None


def test_peaks_are_those_of_the_data_sheet():
    """Those of the CDNA3 white paper: 1307.4 TFLOP/s fp16, 163.4 fp32, HBM 5.3 TB/s, Infinity Cache 17.2 TB/s."""
    arch, product = load("gfx942"), find_product("MI300X")
    assert arithmetic(arch, product, "matrix_fp16") == 1307.4
    assert arithmetic(arch, product, "valu_fp32") == 163.4
    found = bandwidths(arch, product, 304, 8, 2100)
    assert (found["hbm"], found["mall"]) == (5300, 17200)
    assert found["lds"] == pytest.approx(304 * 2.1 * 128)
    assert "l2" not in bandwidths(arch, product, 304, None, 2100)


@pytest.mark.triton
def test_a_product_and_a_copy():
    """2 x M x N x K operations; each byte read and written once, and no operation at all."""
    product = (
        kprof.analyze("gemm", arch="MI300X", shape={"M": 4096, "N": 4096, "K": 4096}, condition="flushed")
        .kernels[0]
        .model.roofline
    )
    assert product.flops["matrix_fp16"] == 2 * 4096**3
    assert [level.name for level in product.levels] == ["lds", "l1", "l2", "mall", "hbm"]
    copy = kprof.analyze("memory_copy", arch="MI300X", condition="flushed").kernels[0]
    assert not copy.model.roofline.flops
    for level in copy.model.roofline.levels:
        assert level.bytes / copy.model.time_us / 1e3 < level.peak_gbs, level.name


LAUNCH = 4 * 304
"""Wavefronts: 304 workgroups of four."""


@pytest.mark.parametrize(
    ("words", "operations"),
    [
        ("add sub subrev mul exp log rcp rsq sqrt sin cos tanh", 1),
        ("fma fmac fmamk fmaak mad mac madmk madak", 2),
        ("max min med3 cvt mov floor ldexp cmp cmpx", 0),
    ],
)
def test_each_word_counts_as_the_counters_have_it(kernel, words, operations):
    """One operation for ADD, MUL and TRANS, two for FMA, none for what compares, converts or moves.

    A packed instruction, of which there are three, does two of each.
    """
    for word in words.split():
        packed = [(f"v_pk_{word}_f32", 2)] if word in {"add", "mul", "fma"} else []
        for name, times in [(f"v_{word}_f32", 1), *packed]:
            found = placed(kernel([f"{name} v[2:3], v[4:5], v[6:7]"]))[0]
            assert found == ({"valu_fp32": times * operations * 64 * LAUNCH} if operations else {}), name


@pytest.mark.parametrize(
    ("product", "line", "flops"),
    [
        ("MI300X", "v_fma_f16 v0, v1, v2, v3", {"valu_fp16": 2 * 64 * LAUNCH}),
        # Both halves, of 32 lanes: a multiply-add and a multiplication.
        ("RX 7900 XTX", "v_dual_fmac_f32 v0, v1, v2 :: v_dual_mul_f32 v3, v4, v5", {"valu_fp32": 3 * 32 * LAUNCH}),
        ("RX 7900 XTX", "v_dual_mov_b32 v0, v1 :: v_dual_add_f32 v3, v4, v5", {"valu_fp32": 32 * LAUNCH}),
        # bf8 runs at the rate of fp8, which data sheets have under that name.
        (
            "MI300X",
            "v_mfma_f32_16x16x32_bf8_bf8 a[0:3], v[0:1], v[2:3], a[0:3]",
            {"matrix_fp8": 2 * 16 * 16 * 32 * LAUNCH},
        ),
        # Integers are no floating-point operations.
        ("MI300X", "v_mfma_i32_16x16x32_i8 a[0:3], v[0:1], v[2:3], a[0:3]", {}),
        ("MI300X", "v_add_u16 v0, v1, v2", {}),
    ],
)
def test_kinds_of_arithmetic(kernel, product, line, flops):
    assert placed(kernel([line], product=product))[0] == flops


def test_the_kind_with_most_operations_is_first(kernel):
    """And each has the peak that the data sheet gives for it."""
    product = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"
    for lines in (["v_add_f32 v0, v1, v2", product], [product, "v_add_f32 v0, v1, v2"]):
        found = roofline(build(kernel(lines)), {})
        assert list(found.flops) == ["matrix_fp16", "valu_fp32"]
        assert found.peaks_tflops == {"matrix_fp16": 1307.4, "valu_fp32": 163.4}


def test_a_peak_that_is_not_known_is_none_and_not_zero(kernel):
    """Neither published peaks nor a clock: the memory's bandwidth is all that is left."""
    facts = kernel(["v_add_f32 v0, v1, v2", "ds_read_b32 v3, v4"])
    gpu = replace(facts.product, peaks={}, clock_mhz=None)
    found = roofline(build(replace(facts, product=gpu)), {"hbm": 100.0})
    assert found.peaks_tflops == {}
    assert list(found.flops) == ["valu_fp32"]
    assert [(level.name, level.bytes, level.peak_gbs) for level in found.levels] == [
        ("lds", 4 * 64 * LAUNCH, None), ("hbm", 100.0, 5300.0)
    ]  # fmt: skip


def test_levels_stand_in_the_order_from_the_cu_outwards(kernel):
    """Those that nothing is moved through are left out, and so is traffic that is no level's."""
    model = build(kernel(["global_load_dword v0, v[2:3], off", "ds_read_b32 v3, v4"]))
    found = roofline(model, {"hbm": 4.0, "mall": 3.0, "l2": 2.0, "scratch": 1.0})
    assert [level.name for level in found.levels] == ["lds", "l1", "l2", "mall", "hbm"]
    assert [level.bytes for level in found.levels[2:]] == [2, 3, 4]
    assert [level.name for level in roofline(model, {"l2": 2.0, "mall": 0.0}).levels] == ["lds", "l1", "l2"]


@pytest.mark.parametrize(
    ("line", "levels"),
    [
        ("scratch_load_dword v0, off, off offset:16", {"l1"}),
        ("buffer_store_dword v1, v2, s[4:7], 0 offen", {"l1"}),
        ("ds_write_b32 v3, v4", {"lds"}),
        # From memory to LDS without registers: through both.
        ("buffer_load_dword v1, s[4:7], 0 offen lds", {"lds", "l1"}),
        ("s_load_dword s0, s[2:3], 0x0", set()),
    ],
)
def test_an_access_goes_through_the_levels_of_its_kind(kernel, line, levels):
    assert placed(kernel([line]))[1] == dict.fromkeys(levels, 4 * 64 * LAUNCH)


def test_a_loop_counts_as_often_as_it_iterates(kernel):
    """Each of two instructions outside once, the one inside in every iteration."""
    loop = [".LBB0_1:", "v_mul_f32 v1, v1, v2", "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
    model = build(kernel(["v_add_f32 v0, v1, v2", *loop, "v_add_f32 v0, v1, v2"]))
    (number,) = model.trips
    for trips in (0.0, 5.0, 12.5):
        mine = replace(model, trips={number: replace(model.trips[number], mean=trips)})
        assert roofline(mine, {}).flops == {"valu_fp32": (2 + trips) * 64 * LAUNCH}


def test_wavefronts_of_a_workgroup_of_unknown_size_are_four(kernel):
    """Triton's default."""
    facts = kernel(["v_add_f32 v0, v1, v2"], warps=8)
    unknown = replace(facts, resources=msgspec.structs.replace(facts.resources, num_warps=None))
    assert placed(facts)[0] == {"valu_fp32": 2 * 64 * LAUNCH}
    assert placed(unknown)[0] == {"valu_fp32": 64 * LAUNCH}


def test_a_gpu_that_is_not_known_has_no_roofline(kernel):
    model = build(kernel(["v_add_f32 v0, v1, v2"]))
    assert roofline(replace(model, machine=replace(model.machine, product=None)), {}) is None
