"""The predicted clock of an MI355X, against published clocks of programs."""

import pytest

from kprof.hardware.machine import find_product
from kprof_analyzers.profiles.timeline.operators.arguments import Work
from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of_product, matrix_us
from kprof_analyzers.whole_step.clock import clock_figures, clock_mhz, shares_of_peaks
from kprof_analyzers.whole_step.timing import TimedCall

MI355X = find_product("MI355X")


def product(m, n, k, us, unit="matrix_fp16", size=2):
    work = Work(2 * m * n * k, size * (m * k + k * n + m * n), unit)
    light = matrix_us(work, limits_of_product(MI355X))
    return TimedCall("aten::mm", "", "product", us, us, us, unit, memory_bytes=work.bytes, matrix_us=light)


@pytest.mark.parametrize(
    ("calls", "us", "measured"),
    [
        # One product in fp16, two in fp32 with a GELU, and an addition that memory limits.
        ([product(16384, 2048, 4096, 204.0)], 209.0, 1902),
        ([product(8192, 12288, 3072, 4095.0, "matrix_fp32", 4)] * 2, 8226.0, 2390),
        ([TimedCall("aten::add", "", "elementwise", 10.0, 8.0, 12.0, "HBM", memory_bytes=1e6)], 14.8, 2390),
    ],
)
def test_products_of_16_bits_lower_the_clock(calls, us, measured):
    assert clock_mhz(MI355X, calls, us) == pytest.approx(measured, rel=0.06)


def test_the_clock_is_told_where_clocks_are_published():
    assert clock_figures("MI300X") is None
    assert clock_mhz(find_product("MI300X"), [product(4096, 4096, 4096, 100.0)], 100.0) is None
    assert clock_mhz(MI355X, [], 0.0) is None


def test_shares_of_peaks_do_not_exceed_them():
    fast = [product(8192, 8192, 8192, 1.0)]
    assert shares_of_peaks(MI355X, fast, 1.0) == (1.0, 1.0)
    assert shares_of_peaks(MI355X, [], 1.0) == (0.0, 0.0)
    figures = clock_figures("MI355X")
    lowest = figures.light_mhz - figures.matrix_mhz - figures.memory_mhz
    assert 500 < lowest == pytest.approx(clock_mhz(MI355X, fast, 1.0))


def test_only_products_of_narrow_numbers_count():
    limits = limits_of_product(MI355X)
    assert matrix_us(Work(10**12, 1, "matrix_fp32"), limits) == 0.0
    assert matrix_us(Work(None, 1 << 30), limits) == 0.0
    assert matrix_us(Work(10**12, 1, "matrix_bf16"), limits) == pytest.approx(1e18 / limits.peaks["matrix_bf16"])
