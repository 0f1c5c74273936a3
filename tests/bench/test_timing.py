"""The arithmetic of timing: buffers, percentiles, sizes, rates."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.bench.document import Error, MachinePeaks, Measurement, Timing, flat, rates
from kprof.bench.timing import buffers_needed, copies, percentile, tensor_bytes

GIB = 1 << 30


def timing(milliseconds: float) -> Timing:
    """A timing with this median."""
    return Timing(milliseconds, milliseconds, milliseconds, milliseconds, 20, "events", 1, 1)


@given(st.integers(1, 1 << 34), st.integers(1, 1 << 29), st.integers(0, 1 << 38))
def test_buffers_together_outgrow_the_cache(size: int, cache: int, free: int) -> None:
    """Twice the cache, unless the memory or the number of sets does not allow it."""
    count = buffers_needed(size, cache, free)

    assert 1 <= count <= 1024
    assert (count - 1) * size >= 2 * cache or count == 1024 or (count + 1) * size * 4 > free
    assert count == 1 or count * size * 4 <= free


def test_large_problem_needs_two_buffers() -> None:
    """A gigabyte against 256 MiB: the set before has been driven out by this one's traffic."""
    assert buffers_needed(GIB, 256 << 20, 100 * GIB) == 2
    assert buffers_needed(0, 256 << 20, GIB) == 1


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=40))
def test_percentile_is_the_median_at_one_half(samples: list[float]) -> None:
    """As the standard library computes it."""
    assert percentile(sorted(samples), 0.5) == pytest.approx(statistics.median(samples))


@given(st.lists(st.floats(0, 1e3), min_size=2, max_size=40), st.integers(1, 9))
def test_percentile_agrees_with_quantiles(samples: list[float], tenths: int) -> None:
    """The inclusive method of the standard library."""
    expected = statistics.quantiles(samples, n=10, method="inclusive")[tenths - 1]

    assert percentile(sorted(samples), tenths / 10) == pytest.approx(expected, abs=1e-9)


def test_rates_name_the_limit_that_binds() -> None:
    """1 GB in 1 ms is 1000 GB/s, a quarter of 4000; 1 GFLOP in 1 ms is 1 TFLOP/s, a hundredth of 100."""
    found = rates(timing(1.0), 10**9, 10**9, MachinePeaks(4000.0, {"fp16": 100.0}), "fp16")

    assert found["tflops"] == pytest.approx(1.0)
    assert found["gbs"] == pytest.approx(1000.0)
    assert found["percent"] == pytest.approx(25.0)
    assert found["bound"] == "memory"


def test_unknown_limits_give_no_percentage() -> None:
    """Unknown is not zero, and not invented."""
    found = rates(timing(1.0), 10**9, 10**9, MachinePeaks(), "fp16")

    assert (found["percent"], found["bound"]) == (None, None)
    assert rates(timing(1.0), 0, None, MachinePeaks(4000.0), "fp16")["gbs"] is None


def test_row_of_a_failed_measurement_is_empty_where_nothing_is_known() -> None:
    """A CSV reader must not find zeros."""
    row = flat(Measurement("gemm", "square", {"M": 16, "dtype": "fp16"}, "triton", "out_of_memory", message="too big"))

    assert row["shape"] == "M=16 dtype=fp16"
    assert [row[name] for name in ("ms", "tflops", "gbs", "percent_of_limit", "max_abs_error")] == [None] * 5


def test_row_shows_the_worst_output() -> None:
    """Of several outputs the one furthest from its tolerance."""
    errors = [
        Error(n, [1], r, 0.1, r, [0], 1.0, 2.0, 0.0, 1.0, 0, 1) for n, r in (("y", 0.2), ("mean", 0.9), ("z", 0.1))
    ]

    row = flat(Measurement("k", "c", {}, "triton", "ok", errors=errors, timing=timing(2.0)))

    assert (row["error_in_tolerances"], row["ms"]) == (0.9, 2.0)


def test_copies_reach_into_lists() -> None:
    """A set of inputs may be a list of sequences, each with tensors of its own."""
    torch = pytest.importorskip("torch")
    one = {"sequences": [{"at": 3, "k": torch.ones(4)}]}

    first, second = copies(one, 2)

    assert first["sequences"][0]["k"] is one["sequences"][0]["k"]
    assert second["sequences"][0]["at"] == 3
    assert second["sequences"][0]["k"].data_ptr() != one["sequences"][0]["k"].data_ptr()


def test_copies_are_at_other_addresses() -> None:
    """Equal values in buffers of their own; numbers are passed on."""
    torch = pytest.importorskip("torch", reason="copies of tensors need torch")
    inputs = {"x": torch.arange(6, dtype=torch.float16), "scale": 2}

    sets = copies(inputs, 3)

    assert len({s["x"].data_ptr() for s in sets}) == 3
    assert all(torch.equal(s["x"], inputs["x"]) and s["scale"] == 2 for s in sets)
    assert tensor_bytes([inputs, {"more": (torch.zeros(2, dtype=torch.float64),)}]) == 12 + 16
