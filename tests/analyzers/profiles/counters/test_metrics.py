"""Metrics by hand, missing counters, impossible values, what to collect next."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError
from kprof.hardware import machine as hardware
from kprof.hardware.machine import architectures, load
from kprof_analyzers.profiles.counters import catalogue, formula_language, planning
from kprof_analyzers.profiles.counters.machine import MeasuredGpu, _constants
from kprof_analyzers.profiles.counters.metrics import all_metrics, counters_of, metrics


def test_bandwidth_by_hand(gpu, kernel):
    """10 reads of 128 bytes, 3 of 64, 2 of 32 in 1,000 ns; 4 full and 1 half write."""
    counters = {"TCC_BUBBLE_sum": 10, "TCC_EA0_RDREQ_sum": 15, "TCC_EA0_RDREQ_32B_sum": 2, "TCC_EA0_WRREQ_sum": 5,
                "TCC_EA0_WRREQ_64B_sum": 4}  # fmt: skip
    found = metrics(kernel(counters), gpu())
    assert found["hbm_read_bytes"].value == 10 * 128 + 3 * 64 + 2 * 32
    assert found["hbm_read_bandwidth"].value == pytest.approx(1.536)
    assert found["hbm_write_bytes"].value == 4 * 64 + 32
    assert found["hbm_percent_of_peak"].value == pytest.approx(100 * (1.536 + 0.288) / 5300)


def test_utilisation_and_occupancy_by_hand(gpu, kernel):
    """GRBM_GUI_ACTIVE is summed over 8 XCDs; 304 CUs of 4 SIMDs; 32 wavefronts a CU."""
    counters = {
        "GRBM_GUI_ACTIVE": 8000,
        "SQ_VALU_MFMA_BUSY_CYCLES": 304 * 4 * 500,
        "SQ_LEVEL_WAVES_ACCUM": 1000 * 304 * 8,
    }
    found = metrics(kernel(counters), gpu())
    assert found["gui_cycles"].value == 1000
    assert found["mfma_utilization"].value == 50
    assert found["wavefronts_in_flight"].value == 2432
    assert found["occupancy"].value == 25


def test_mfma_operations_are_counted_in_512_flop(gpu, kernel):
    """Each type on its own, and all of them in flop."""
    counters = {f"SQ_INSTS_VALU_MFMA_MOPS_{t}": 2.0 for t in ("F8", "F16", "BF16", "F32", "F64")}
    found = metrics(kernel(counters), gpu())
    assert found["mfma_fp16_rate"].value == pytest.approx(1.024)
    assert found["mfma_flop"].value == 5 * 1024


def test_a_missing_counter_is_named_and_no_value_is_made_up(gpu, kernel):
    """No L2 hit rate without misses."""
    metric = metrics(kernel({"TCC_HIT_sum": 5}), gpu())["l2_hit_rate"]
    assert metric.value is None
    assert metric.missing in {("TCC_MISS_sum",), ("L2CacheHit",)}


def test_many_kernels_have_the_metrics_of_each_alone(gpu, kernel):
    """Whatever they have been counted in: other passes, no time, zeros, nothing."""
    one = {"GRBM_GUI_ACTIVE": 8000.0, "TCC_HIT_sum": 5.0, "TCC_MISS_sum": 3.0, "SQ_LDS_BANK_CONFLICT": 4.0}
    counted = [
        kernel(one),
        kernel(one | {"TCC_MISS_sum": 0.0, "TCC_HIT_sum": 0.0}),
        kernel(one, nanoseconds=None),
        kernel({"GRBM_GUI_ACTIVE": 16000.0}, {"GRBM_GUI_ACTIVE": 8000.0, "SQ_LEVEL_WAVES_ACCUM": 4000.0}),
        kernel(one | {"TCC_HIT_sum": 45.0}, nanoseconds=3000.0),
        kernel(),
    ]
    assert all_metrics(counted, lambda _: gpu()) == [metrics(each, gpu()) for each in counted]
    rates = [found["l2_hit_rate"].value for found in all_metrics(counted, lambda _: gpu())]
    assert rates == [pytest.approx(62.5), None, pytest.approx(62.5), None, pytest.approx(93.75), None]


COUNTERS = sorted(
    {
        name
        for arch in ("gfx90a", "gfx942")
        for formula in catalogue.formulas_of(load(arch)).values()
        for text in formula.formulas
        for name in formula_language.parse(text).names
        if not name.islower() and name != "ns"
    }
)
COUNTED = st.dictionaries(
    st.sampled_from(COUNTERS), st.sampled_from([0.0, 1.0, 0.1, 3.0, 12345.678, 8e6, 2.5e15]), max_size=30
)


@given(
    patterns=st.lists(st.lists(COUNTED, max_size=3), min_size=1, max_size=3),
    chosen=st.lists(
        st.tuples(
            st.integers(0, 2),
            st.sampled_from([None, 1.0, 1000.0, 33333.3]),
            st.sampled_from([1.0, 0.0, 7.3]),
            st.sampled_from(["MI300X", "MI250X"]),
            st.sampled_from([(), ("TCC_HIT_sum",), ("SQ_WAVES",)]),
        ),
        min_size=1,
        max_size=6,
    ),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_columns_have_the_metrics_of_each_kernel_alone(gpu, kernel, patterns, chosen):
    """Any counters of any formula, kernels that share them, two GPUs, counters not to be trusted."""
    gpus = {name: gpu(name) for name in ("MI300X", "MI250X")}
    kernels, of = [], {}
    for pattern, nanoseconds, factor, product, doubted in chosen:
        passes = [
            {name: value * factor for name, value in one.items() if name not in doubted}
            for one in patterns[pattern % len(patterns)]
        ]
        made = replace(kernel(*passes, nanoseconds=nanoseconds), untrusted=dict.fromkeys(doubted, "always 0"))
        kernels.append(made)
        of[id(made)] = gpus[product]
    together = all_metrics(kernels, lambda one: of[id(one)])
    assert together == [metrics(one, of[id(one)]) for one in kernels]


def test_unknown_time_and_unknown_product_are_told(gpu, kernel):
    """No rate without a time, no share of peak without a product."""
    counters = {"TCC_REQ_sum": 100}
    assert metrics(kernel(counters, nanoseconds=None), gpu())["l2_bandwidth"].unknown == ("ns",)
    arch = hardware.load("gfx942")
    bare = MeasuredGpu(arch, None, None, None, _constants(arch, None, None, None, None), "test")
    assert metrics(kernel(counters), bare)["l2_percent_of_peak"].unknown == ("l2_peak",)


def test_impossible_percentages_are_flagged(gpu, kernel):
    """More L2 bandwidth than the hardware has."""
    metric = metrics(kernel({"TCC_REQ_sum": 1e9}), gpu())["l2_percent_of_peak"]
    assert metric.value > 100
    assert "impossible" in metric.flag


@pytest.mark.parametrize(("cycles", "flagged"), [(2_100 * 8, False), (2_180 * 8, False), (2_500 * 8, True)])
def test_a_clock_above_the_gpu_s_own_is_flagged(gpu, kernel, cycles, flagged):
    """Then what was counted and what was timed are different runs, and rates are of neither."""
    metric = metrics(kernel({"GRBM_GUI_ACTIVE": float(cycles)}, nanoseconds=1000.0), gpu())["clock"]
    assert metric.value == pytest.approx(cycles / 8)
    assert ("above 2,100 MHz" in metric.flag) == flagged


def test_division_by_zero_has_no_value_but_a_reason(gpu, kernel):
    """No LDS access: no conflicts an access."""
    metric = metrics(kernel({"SQ_LDS_BANK_CONFLICT": 0, "SQ_LDS_IDX_ACTIVE": 0}), gpu())["lds_conflicts_per_access"]
    assert metric.value is None
    assert "the counter in the denominator is 0" in metric.flag


def test_counters_of_one_formula_come_from_one_pass(gpu, kernel):
    """The cycles of the pass that has the wavefronts, not those of the first pass."""
    found = metrics(kernel({"GRBM_GUI_ACTIVE": 8000}, {"GRBM_GUI_ACTIVE": 16000, "SQ_LEVEL_WAVES_ACCUM": 4000}), gpu())
    assert found["wavefronts_in_flight"].value == 2
    assert found["wavefronts_in_flight"].confidence == "one pass"


def test_counters_of_different_passes_lower_the_confidence(gpu, kernel):
    """Hits of one run and misses of another."""
    metric = metrics(kernel({"TCC_HIT_sum": 50}, {"TCC_MISS_sum": 50}), gpu())["l2_hit_rate"]
    assert (metric.value, metric.confidence) == (50, "several passes")


def test_derived_counters_stand_in_for_raw_ones(gpu, kernel):
    """FETCH_SIZE in KiB when the raw counters were not collected."""
    metric = metrics(kernel({"FETCH_SIZE": 2.0}), gpu())["hbm_read_bytes"]
    assert (metric.value, metric.used) == (2048, "1024 * FETCH_SIZE")


def test_channels_and_totals_have_either_name(gpu, kernel):
    """TCC_HIT (summed by the tool) is TCC_HIT_sum."""
    assert metrics(kernel({"TCC_HIT": 3, "TCC_MISS_sum": 1}), gpu())["l2_hit_rate"].value == 75


@pytest.mark.parametrize("arch", architectures())
def test_every_formula_is_of_known_names(arch):
    """Lower-case names are metrics or constants; every metric has a source; nothing refers to itself."""
    formulas = catalogue.formulas_of(load(arch))
    constants = {"ns", "cus", "xcds", "max_waves_per_cu", "lds_banks", "l1_line", "l2_line", "lds_peak", "vl1d_peak",
                 "l2_peak", "hbm_peak"}  # fmt: skip
    for formula in formulas.values():
        assert formula.source
        for text in formula.formulas:
            for name in formula_language.parse(text).names:
                assert not name.islower() or name in formulas or name in constants, (formula.id, name)
            counters_of(text, formulas)


def test_gfx90a_uses_its_own_counter_names():
    """TCC_EA_ on MI200, TCC_EA0_ on MI300."""
    old, new = (
        counters_of(f["hbm_read_bytes"].formulas[0], f)
        for f in map(catalogue.formulas_of, map(load, ("gfx90a", "gfx942")))
    )
    assert "TCC_EA_RDREQ_sum" in old
    assert "TCC_EA0_RDREQ_sum" in new


def test_an_architecture_without_formulas_is_refused():
    """With those that have some."""
    arch = load("gfx942")
    with pytest.raises(KprofError, match="no counter formulas for gfx942") as error:
        catalogue.formulas_of(replace(arch, counter_formulas=""))
    assert "gfx90a" in str(error.value.hint)
    with pytest.raises(KprofError, match="no counter formulas called 'gfx940'"):
        catalogue.formulas_of(replace(arch, counter_formulas="gfx940"))


def test_passes_respect_the_limits_of_each_block():
    """All counters of all metrics of MI300, each exactly once."""
    formulas = catalogue.formulas_of(load("gfx942"))
    wanted = {counter for f in formulas.values() for counter in counters_of(f.formulas[0], formulas)}
    found = planning.passes(sorted(wanted))
    asked = [counter for one in found for counter in one.counters]
    assert len(asked) == len(set(asked)) == len(wanted)
    for one in found:
        for block, limit in planning.LIMITS.items():
            used = sum(need for c in one.counters for b, need in planning._cost(c) if b == block)
            assert used <= limit, (block, one.counters)
    assert all(re.fullmatch(r"--pmc [A-Za-z0-9_ ]+", one.option) for one in found)


def test_accumulators_are_asked_for_by_a_name_that_exists():
    """SQ_LEVEL_WAVES_ACCUM is our name; rocprofv3 knows MeanOccupancyPerCU."""
    assert planning.passes(["SQ_LEVEL_WAVES_ACCUM"])[0].option == "--pmc MeanOccupancyPerCU"


def test_formula_files_are_in_the_package():
    """A data file that is not beside the code would be missing from the wheel."""
    folder = Path(catalogue.__file__).parent / "formulas"
    assert {path.stem for path in folder.glob("*.toml")} >= {"cdna", "gfx90a", "gfx942", "gfx950", "rdna"}
