"""Where a launch is under the rooflines: its operations, its bytes by level, and the GPU's peaks."""

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
