"""Cycles of the matrix unit in a whole kernel, added up by hand."""

from dataclasses import replace

import pytest

from kprof_analyzers.model.kernel import build
from kprof_analyzers.model.runs import matrix_cycles, matrix_cycles_of

# Passes of four cycles each in the CDNA3 ISA guide: 4 of 16x16x16, 8 of 32x32x8.
SMALL = "v_mfma_f32_16x16x16_{} v[0:3], v[4:5], v[6:7], v[0:3]"
LARGE = "v_mfma_f32_32x32x8_{} a[0:15], v[4:5], v[6:7], a[0:15]"


@pytest.fixture
def limited(kernel):
    """``limited(lines)``: a model whose power limits are 0.5, 0.8 for large products and 0.9 for fp16."""

    def made(lines, **named):
        model = build(kernel(lines, **named))
        return replace(model, machine=replace(model.machine, matrix_sustained=0.5, matrix_large=0.8, matrix_fp16=0.9))

    return made


@pytest.mark.parametrize(
    ("line", "peak", "share"),
    [
        (SMALL.format("bf16"), 16, 0.5),
        (SMALL.format("f16"), 16, 0.5 * 0.9),
        (LARGE.format("bf16"), 32, 0.5 * 0.8),
        (LARGE.format("f16"), 32, 0.5 * 0.8 * 0.9),
        ("v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[6:7], v[0:3]", 8, 0.5 * 0.9),
    ],
)
def test_a_product_takes_its_passes_and_longer_where_it_draws_more_power(limited, line, peak, share):
    assert matrix_cycles(limited([line])) == (peak, pytest.approx(peak / share))


def test_an_instruction_that_the_hardware_file_does_not_have_has_the_usual_limit(limited):
    """Nothing says that it draws more power."""
    model = limited([LARGE.format("f16")])
    arch = replace(model.facts.arch, matrix_instructions={})
    assert matrix_cycles(replace(model, facts=replace(model.facts, arch=arch))) == (32, 32 / 0.5)


def test_only_matrix_instructions_keep_the_matrix_unit(limited):
    assert matrix_cycles(limited(["v_add_f32 v0, v1, v2", "ds_read_b32 v3, v4", "s_nop 0"])) == (0, 0)


def test_products_of_a_loop_count_in_each_iteration(limited):
    """Two before, one in each of 10 iterations of the outer loop, three in each of 7 of the inner one."""
    inner = [".LBB0_2:", *[SMALL.format("bf16")] * 3, "s_cmp_lt_i32 s1, 64", "s_cbranch_scc1 .LBB0_2"]
    outer = [".LBB0_1:", SMALL.format("bf16"), *inner, "s_cmp_lt_i32 s0, 8", "s_cbranch_scc1 .LBB0_1"]
    model = limited([*[SMALL.format("bf16")] * 2, *outer])
    headers = {loop.index: loop.header for loop in model.facts.program.loops}
    means = {".LBB0_1": 10.0, ".LBB0_2": 7.0}
    trips = {number: replace(each, mean=means[headers[number]]) for number, each in model.trips.items()}
    model = replace(model, trips=trips)
    peak = 16 * (2 + 10 * (1 + 7 * 3))
    assert matrix_cycles(model) == (peak, peak / 0.5)
    # A part of the program that is gone through 2.5 times.
    assert matrix_cycles_of(model, model.nodes, 2.5) == (2.5 * peak, 2.5 * peak / 0.5)
