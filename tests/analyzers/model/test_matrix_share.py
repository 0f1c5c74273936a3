"""How full a loop's matrix unit is, as the benchmark compares it with thread traces."""

import pytest

from kprof_analyzers.model.kernel import build
from kprof_analyzers.model.runs import matrix_cycles
from validation.benchmarks.model import tiles


def test_a_loop_of_matrix_instructions_is_nearly_full(kernel):
    """Eight of 16 cycles each, and the loop's own scalar instructions and branch beside them."""
    body = [f"v_mfma_f32_16x16x32_f16 v[{4 * n}:{4 * n + 3}], v[100:103], v[104:107], v[{4 * n}:{4 * n + 3}]"
            for n in range(8)]  # fmt: skip
    lines = ["s_mov_b32 s0, 0", ".LBB0_1:", *body, "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
    facts = kernel(lines, product="MI355X", grid=(256,))
    full = tiles.matrix_share(facts)
    assert 0.8 < full <= 1
    # As much again of vector work that waits for the results halves it or more.
    waits = [f"v_add_f32_e32 v{4 * n}, v{4 * n}, v{4 * n}" for n in range(8)]
    slow = kernel([*lines[:-2], *waits, *lines[-2:]], product="MI355X", grid=(256,))
    assert tiles.matrix_share(slow) < 0.9 * full


def test_a_slower_clock_fills_a_loop_that_waits_for_memory(kernel):
    """Memory has a clock of its own."""
    loop = [".LBB0_1:", "buffer_load_dwordx4 v[0:3], v20, s[4:7], 0 offen", "s_waitcnt vmcnt(0)",
            "v_mfma_f32_16x16x32_f16 v[4:7], v[0:3], v[0:3], v[4:7]", "s_cmp_lt_i32 s0, 64",
            "s_cbranch_scc1 .LBB0_1"]  # fmt: skip
    facts = kernel(["s_mov_b32 s0, 0", *loop], product="MI355X", grid=(256,))
    assert tiles.matrix_share(facts, 1200) > 1.3 * tiles.matrix_share(facts, 2400)


def test_power_holds_fp16_back_more_than_bf16_on_the_mi300x_alone(kernel):
    """Products of both types, timed with one code: 1.05 in the median on an MI300X; no other GPU's are known."""

    def sustained(name, product):
        found = kernel([f"{name} v[0:3], v[4:5], v[6:7], v[0:3]"], product=product)
        peak, powered = matrix_cycles(build(found))
        return peak / powered

    for product, ratio in (("MI300X", 0.95), ("MI355X", 1.0)):
        types = [sustained(f"v_mfma_f32_16x16x16_{name}", product) for name in ("f16", "bf16")]
        assert types[0] / types[1] == pytest.approx(ratio)
