"""Times of operators from what their kind reaches of the peaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.hardware.machine import find_product
from kprof_analyzers.profiles.timeline.operators.arguments import Work
from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of_product
from kprof_analyzers.whole_step.efficiency import (
    efficiencies,
    efficiencies_of_type,
    fitted_to,
    indexed_us,
    measured_elsewhere,
    operator_time,
)
from kprof_analyzers.whole_step.kinds import tiles_of

MI300X = limits_of_product(find_product("MI300X"))


@pytest.mark.parametrize("gpu", ["", "MI300X", "MI355X", "MI250X"])
def test_fitted_figures_are_possible(gpu):
    for kind, one in efficiencies(gpu).items():
        assert 0 < one.share <= 1, kind
        assert 0 < one.low <= 1 <= one.high, kind
        assert one.rows > 0, kind
        assert all(find_product(name) is not None for name in one.gpus), kind


def test_a_gpu_with_measurements_of_its_own_has_its_own_figures():
    assert efficiencies("MI355X")["product"].gpus == ("MI355X",)
    assert efficiencies("MI355X")["norm"] == efficiencies("MI300X")["norm"]
    assert efficiencies("MI250X") == efficiencies()


def test_what_was_measured_elsewhere_is_told():
    assert measured_elsewhere({"product", "thin product", "copy"}, "MI300X") == ([], [])
    assert measured_elsewhere({"product", "copy", "norm"}, "MI355X") == (["norm"], ["MI300X"])
    assert measured_elsewhere({"copy", "fill"}, "MI210") == (["copy", "fill"], ["MI300X"])


def test_products_of_few_rows_are_limited_by_memory():
    """AITER's llama405B_bf16_tuned_gemm.csv has 33.0 us for 1 x 16384 x 4608 in bfloat16 on an MI355X."""
    limits = limits_of_product(find_product("MI355X"))
    moved = 2 * (16384 + 16384 * 4608 + 4608)
    time = operator_time("product", Work(2 * 16384 * 4608, moved, "matrix_bf16"), limits)
    assert time.bound == "HBM"
    assert time.low_us <= 33.0 <= time.high_us


@pytest.mark.parametrize("kind", sorted(efficiencies()))
@given(moved=st.integers(0, 1 << 36))
def test_no_time_is_below_the_limit(kind, moved):
    """At most the peak is reached, and the range holds the time."""
    time = operator_time(kind, Work(None, moved), MI300X)
    assert time is not None
    assert time.us >= moved / MI300X.hbm * 1e6
    assert time.low_us <= time.us <= time.high_us
    more = operator_time(kind, Work(None, moved + 1024), MI300X)
    assert more is not None
    assert more.us > time.us


def test_a_small_call_is_bound_by_its_launch_and_a_large_one_by_memory():
    assert operator_time("elementwise", Work(None, 64), MI300X).bound == "launch"
    assert operator_time("elementwise", Work(None, 1 << 30), MI300X).bound == "HBM"


def test_no_time_without_the_types_peak():
    assert operator_time("product", Work(1 << 40, 1 << 20, "matrix_unheard"), MI300X) is None


def test_fills_and_gathers_count_as_element_wise():
    work = Work(None, 1 << 28)
    assert operator_time("fill", work, MI300X) == operator_time("elementwise", work, MI300X)


def test_several_passes_widen_the_range_to_all_of_them():
    work = Work(None, 1 << 28)
    once, most = operator_time("sort", work, MI300X), operator_time("sort", work, MI300X, passes=9)
    assert (most.low_us, most.high_us) == (once.low_us, 9 * once.high_us)
    fixed = efficiencies("MI300X")["elementwise"].floor_us
    assert most.us == pytest.approx(fixed + 3 * (once.us - fixed))
    every = operator_time("sort", work, MI300X, passes=9, launches=9)
    assert every.us == pytest.approx(most.us + 8 * fixed)


@pytest.mark.parametrize(
    ("gpu", "rows", "columns", "depth", "measured"),
    [
        # Programs of two products and a GELU, and of one product of joined rows; none of these set a figure.
        ("MI355X", 16384, 12288, 3072, 8020.0),
        ("MI355X", 1024, 12288, 3072, 511.0),
        ("MI355X", 24576, 3072, 3072, 3090.0),
    ],
)
def test_products_of_fp32_reach_another_share_than_those_of_bf16(gpu, rows, columns, depth, measured):
    limits = limits_of_product(find_product(gpu))
    flop = 2 * rows * columns * depth
    moved = 4 * (rows * depth + columns * depth + rows * columns)
    tiles = tiles_of("aten::mm", [(rows, depth), (depth, columns)], flop)
    single = operator_time("product", Work(flop, moved, "matrix_fp32"), limits, tiles)
    half = operator_time("product", Work(flop, moved, "matrix_bf16"), limits, tiles)

    assert single.us == pytest.approx(measured, rel=0.15)
    assert single.low_us <= measured <= single.high_us
    assert flop / single.us / 1e6 > 0.8 * 157.3
    assert flop / half.us / 1e6 < 0.6 * 2516.6


def test_a_share_belongs_to_kind_and_type():
    """What memory bounds has no type."""
    assert set(efficiencies_of_type("fp32")) == {"convolution", "pointwise convolution", "product"}
    assert not efficiencies_of_type("bf16")
    limits = limits_of_product(find_product("MI355X"))
    narrow = Work(2 * 8 * 16384 * 16384, 4 * 16384 * 16384, "matrix_fp32")
    assert operator_time("product", narrow, limits).bound == "HBM"


def test_whole_programs_give_a_kind_of_one_type_its_own_figures():
    """An fp32 product of 1,024 x 1,024 x 1,024 takes less than the 31 us that a sweep over large ones would give."""
    limits = limits_of_product(find_product("MI355X"))
    typed = efficiencies("MI355X")["product fp32"]
    assert fitted_to("product", "MI355X", "matrix_fp32") == typed
    assert fitted_to("product", "MI300X", "matrix_fp32") == efficiencies_of_type("fp32")["product"]
    assert fitted_to("batched product", "MI355X", "matrix_fp32").share == typed.share
    work = Work(2 * 1024**3, 3 * 4 * 1024**2, "matrix_fp32")
    assert operator_time("product", work, limits, tiles_of("aten::mm", [(1024, 1024), (1024, 1024)], work.flop)).us < 31


def test_indexing_is_limited_by_elements():
    """Operators of a public program on an MI355X move 17 and 67 million elements at 270 and 291 a nanosecond."""
    gpu = find_product("MI355X")
    for elements, rate in ((16_777_216, 270), (67_108_864, 291)):
        assert elements / indexed_us(elements, gpu) / 1e3 == pytest.approx(rate, rel=0.1)
    assert indexed_us(10**9, find_product("MI250X")) > indexed_us(10**9, gpu)
    assert indexed_us(0, gpu) == 0.0
