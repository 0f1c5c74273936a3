"""Figures that a comparison reads from a kernel's report."""

import pytest
from msgspec import UNSET

from kprof.diffing import facts
from kprof.document import Occupancy, Prediction
from kprof.findings import Coverage, Unjudged


def test_the_figures_of_a_kernel(made) -> None:
    """Each is the entry's own number, or a sum over it."""
    loops = [
        made.loop(spill_accesses=3),
        made.loop(depth=2, spill_accesses=2, hot=False),
        made.loop(40, 50, spill_accesses=1, hot=False),
    ]
    kernel = made.kernel(vgpr_spills=7, sgpr_spills=2, scratch_bytes=28, agpr=5, loops=loops)
    assert facts.figures(kernel) == {
        "vgpr_spills": 7,
        "loop_spills": 4,
        "scratch_bytes": 28,
        "lds_bytes": 32768,
        "waves_per_simd": 4.0,
        "vgpr_allocated": 104,
        "agpr": 5,
        "sgpr": 30,
        "loop_instructions": 24,
        "instructions": 55,
        "hot_cycles": None,
        "model_us": None,
        "model_low_us": None,
        "model_high_us": None,
    }


def test_the_predicted_time_is_a_figure(made) -> None:
    """Where there is one, and it is finite."""
    model = Prediction(time_us=47.5, low_us=40.0, high_us=50.0, cycles=1.0, bound="issue", shares={}, loops=[])
    assert facts.figures(made.kernel(model=model))["model_us"] == 47.5
    endless = Prediction(time_us=float("inf"), low_us=1.0, high_us=1.0, cycles=1.0, bound="issue", shares={}, loops=[])
    assert facts.figures(made.kernel(model=endless))["model_us"] is None


def test_what_is_not_known_is_no_number(made) -> None:
    kernel = made.without(made.kernel(loops=[], instructions={}), resources=UNSET, occupancy=UNSET)
    assert set(facts.figures(kernel).values()) == {None}
    assert facts.over_limit(kernel) is None
    assert facts.hot(kernel) is None
    assert facts.location_of(made.without(kernel, source=UNSET)) == ""
    assert facts.location_of(kernel) == "gemm.py:10"
    endless = made.without(kernel, occupancy=Occupancy(float("inf"), 8, 1, "vgpr", {}))
    assert facts.waves(endless) is None


@pytest.mark.parametrize(
    ("used", "limit", "over"), [(65536, 65536, 0), (65537, 65536, 1), (10, 65536, 0), (5, None, None)]
)
def test_lds_above_the_limit(made, used, limit, over) -> None:
    assert facts.over_limit(made.kernel(lds_bytes=used, lds_limit_bytes=limit)) == over


def test_waits_for_all_that_is_in_flight(made) -> None:
    waits = {"vmcnt(0)": 1, "loadcnt(0)": 2, "storecnt(0)": 4, "vscnt(0)": 8, "vmcnt(1)": 16, "lgkmcnt(0)": 32}
    assert facts.drains(made.loop(waits=waits)) == 15


def test_the_work_of_an_iteration(made) -> None:
    """Matrix operations, else what is loaded by any way; never less than nothing."""
    moved = {"global_load": 1, "flat_load": 2, "global_to_lds": 4, "global_store": 8, "lds_load": 16}
    assert facts.work(made.loop(flops=1024, bytes_per_wave=moved)) == 1024
    assert facts.work(made.loop(flops=0, bytes_per_wave=moved)) == 7
    assert facts.work(made.loop(flops=0, bytes_per_wave={})) == 0
    assert facts.work(made.loop(flops=-5, bytes_per_wave=moved)) == 0


def test_widths_of_loads_and_stores() -> None:
    """By kind, the widest first; what moves nothing to or from a lane's registers has none."""
    found = facts.widths(
        {
            "global_load_dwordx4": 2,
            "buffer_load_dword": 6,
            "flat_load_dwordx2": 1,
            "global_store_short": 3,
            "ds_read_b64": 4,
            "ds_write_b128": 5,
            "global_atomic_add_f32": 9,
            "s_load_dwordx4": 7,
            "v_add_f32": 8,
            "global_load_dwordx3": 0,
        }
    )
    assert found == {
        "global load": {16: 2, 8: 1, 4: 6},
        "global store": {2: 3},
        "LDS load": {8: 4},
        "LDS store": {16: 5},
    }
    assert list(found["global load"]) == [16, 8, 4]
    assert facts.mean_width(found["global load"]) == 7.11


def test_rules_without_a_verdict(made) -> None:
    """Not checked, and not for this architecture; of an entry without rules nothing is said."""
    kernel = made.kernel(
        rules=Coverage(
            checked=["KP301"],
            not_checked=[Unjudged("KP207", "num-stages", "no TTGIR")],
            does_not_apply=[Unjudged("KP503", "kpack-misfit", "no kpack")],
        )
    )
    assert facts.unchecked(kernel) == {"KP207": "no TTGIR"}
    assert facts.unjudged(kernel) == {"KP207", "KP503"}
    assert facts.unjudged(made.kernel()) == set()
    findings = [made.finding("KP301"), made.finding("KP207"), made.finding("KP301")]
    assert {rule: len(found) for rule, found in facts.rules(findings).items()} == {"KP301": 2, "KP207": 1}


def test_the_grid_and_what_was_not_recorded(made) -> None:
    assert facts.grid(made.kernel(launch={"grid": [8, 2]})) == (8, 2)
    assert facts.grid(made.kernel(launch={"grid": None})) is None
    assert facts.grid(made.kernel()) is None
    kernels = [made.kernel(unrecorded="a call"), made.kernel(unrecorded="a call"), made.kernel()]
    assert facts.unrecorded(kernels) == ["a call"]
