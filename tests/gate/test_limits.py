"""What the gate's own findings say: rule, severity, place, words and evidence."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from kprof.document import Prediction
from kprof.findings import Advice, Finding, Location, Severity, Suppressed
from kprof.gate.baseline import BaselineEntry
from kprof.gate.config import Budget
from kprof.gate.limits import cannot_launch, cannot_tell, compared_cost, over_budget, place_of, refused, worse
from kprof.gate.rules import METRIC_WORDS
from kprof.gate.subject import CheckSubject
from tests.gate.test_judge import subject
from tests.gate.test_without_baseline import LIMIT, tile

OWN = Location(file="/repo/k.py", line=7)
SPILL = Finding(
    rule="KP301",
    name="spill-in-loop",
    severity=Severity.WARNING,
    message="m",
    location=Location(file="/repo/k.py", line=12),
    advice=[Advice(knob="BLOCK_M", from_=128, to=64, note="smaller")],
)


def fields(finding):
    """All that a finding says but its advice."""
    return finding.rule, finding.name, finding.severity, finding.message, finding.location, finding.evidence


def test_what_is_over_its_budget():
    """Metric, value, budget and words; large numbers with commas; advice of the rule that explains the metric."""
    found = list(over_budget(subject(lds_bytes=70_000, waves=1.5), Budget(max_lds_bytes=65_536, min_waves_per_simd=2)))
    lds, waves = sorted(found, key=lambda f: f.message, reverse=True)
    assert fields(lds) == (
        "KP011",
        "over-budget",
        Severity.ERROR,
        "70,000 bytes of LDS per workgroup, the budget is max_lds_bytes = 65,536",
        OWN,
        {"gate": "fails", "metric": "lds_bytes", "value": 70_000, "budget": 65_536},
    )
    assert waves.message == "1.5 waves per SIMD, the budget is min_waves_per_simd = 2"
    assert waves.evidence == {"gate": "fails", "metric": "waves_per_simd", "value": 1.5, "budget": 2}
    assert lds.advice == waves.advice == []
    (spills,) = over_budget(subject(vgpr_spills=3, findings=[SPILL]), Budget(max_vgpr_spills=0))
    assert (spills.location, spills.advice) == (SPILL.location, SPILL.advice)


def test_what_is_not_known_cannot_be_over_its_budget():
    """The finding names the metric and the limit."""
    (found,) = over_budget(subject(lds_bytes=None), Budget(max_lds_bytes=1))
    assert fields(found) == (
        "KP013",
        "cannot-tell",
        Severity.WARNING,
        "lds_bytes is not known, so max_lds_bytes cannot be checked",
        OWN,
        {"gate": "cannot tell", "metric": "lds_bytes"},
    )


SAID = {
    "vgpr_spills": "VGPRs spilled",
    "sgpr_spills": "SGPRs spilled",
    "scratch_bytes": "bytes of scratch per lane",
    "lds_bytes": "bytes of LDS per workgroup",
    "vgpr_allocated": "vector registers allocated",
    "sgpr": "SGPRs",
    "waves_per_simd": "waves per SIMD",
}
UNLIMITED_SAID = {"code_instructions": "instructions of code"}
COSTS_SAID = {
    "time_us": "predicted",
    "cycles_per_element": "cycles per element predicted",
    "executed_instructions": "instructions executed by a wavefront",
    "executed_bytes": "bytes of global memory moved by a lane",
    "executed_matrix": "matrix instructions executed by a wavefront",
}


@pytest.mark.parametrize("metric", sorted(SAID))
def test_every_metric_has_words_and_a_budget(metric):
    """One more than allowed is too much; of waves one less."""
    few = metric == "waves_per_simd"
    budget = Budget(**{f"{'min' if few else 'max'}_{metric}": 9 if few else 1})
    made = subject(waves=8) if few else subject(**{metric: 2})
    (found,) = over_budget(made, budget)
    value, limit = (8, 9) if few else (2, 1)
    assert not list(over_budget(subject(waves=9) if few else subject(**{metric: 1}), budget))
    assert {**SAID, **COSTS_SAID, **UNLIMITED_SAID} == METRIC_WORDS
    assert found.message == f"{value} {SAID[metric]}, the budget is {'min' if few else 'max'}_{metric} = {limit}"


def test_what_cannot_be_launched():
    """LDS with what it was, threads without; where the numbers are the same nothing has changed."""
    before = BaselineEntry(metrics={"lds_bytes": LIMIT}, findings={})
    (lds,) = cannot_launch(tile(lds=LIMIT + 1), before, "BK 32 → 64")
    assert fields(lds) == (
        "KP014",
        "cannot-launch",
        Severity.ERROR,
        "BK 32 → 64: cannot be launched; 65,536 → 65,537 B of LDS, gfx942 has 65,536",
        OWN,
        {"gate": "fails", "value": 65_537, "limit": 65_536},
    )
    (same,) = cannot_launch(tile(lds=LIMIT + 1), BaselineEntry(metrics={"lds_bytes": LIMIT + 1}, findings={}))
    assert same.message == "cannot be launched; 65,537 B of LDS, gfx942 has 65,536"
    (threads,) = cannot_launch(tile(warps=17), before)
    assert threads.message == "cannot be launched; 1,088 work-items per workgroup, gfx942 has 1,024"
    assert threads.evidence == {"gate": "fails", "value": 1088, "limit": 1024}
    assert len(list(cannot_launch(tile(warps=17, lds=LIMIT + 1)))) == 2
    assert list(cannot_launch(tile(lds=LIMIT + 1, optional=True))) == []
    bare = tile(lds=LIMIT + 1)
    assert list(cannot_launch(CheckSubject(bare.entry, replace(bare.report, resources=UNSET)))) == []


def test_what_the_compiler_refuses():
    """In its own words, at the kernel's line."""
    assert fields(refused(subject(), "no such thing")) == (
        "KP015",
        "does-not-compile",
        Severity.ERROR,
        "no such thing",
        OWN,
        {"gate": "fails"},
    )


def test_what_is_worse():
    """Value, baseline and words, with the knobs that changed before them; only what is watched and not skipped."""
    now = subject(vgpr_spills=3, scratch_bytes=12, sgpr=40, waves=6, lds_bytes=512)
    before = BaselineEntry(
        metrics={"vgpr_spills": 0, "scratch_bytes": 0, "sgpr": 32, "waves_per_simd": 8, "lds_bytes": 1024}, findings={}
    )
    watch = ["vgpr_spills", "scratch_bytes", "waves_per_simd", "lds_bytes"]
    spills, waves = worse(now, before, watch, {"scratch_bytes"}, "BK 32 → 64")
    assert fields(spills) == (
        "KP012",
        "worse-than-baseline",
        Severity.ERROR,
        "BK 32 → 64: 3 VGPRs spilled, the baseline has 0",
        OWN,
        {"gate": "fails", "metric": "vgpr_spills", "value": 3, "baseline": 0, "change": "BK 32 → 64"},
    )
    assert waves.message == "BK 32 → 64: 6 waves per SIMD, the baseline has 8"
    (plain,) = worse(now, before, ["vgpr_spills"], ())
    assert plain.message == "3 VGPRs spilled, the baseline has 0"
    assert list(worse(now, before, [], ())) == []


def work(**instructions):
    """A kernel without a launch, whose instructions are known."""
    made = subject()
    model = Prediction(time_us=None, low_us=None, high_us=None, cycles=None, bound="issue", shares={})
    return CheckSubject(made.entry, replace(made.report, model=model, instructions=instructions))


@pytest.mark.parametrize(
    ("now", "message"),
    [
        ({"global_load_dwordx4": 10, "v_mfma_f32_16x16x16_f16": 10, "s_nop": 80}, None),
        (
            {"global_load_dwordx4": 40, "v_mfma_f32_16x16x16_f16": 10, "s_nop": 50},
            "640 bytes of global memory moved by a lane, the baseline has 160: 4 times as much",
        ),
        (
            {"global_load_dwordx4": 10, "v_mfma_f32_16x16x16_f16": 40, "s_nop": 50},
            "40.0 matrix instructions executed by a wavefront, the baseline has 10.0: 4 times as much",
        ),
        ({"global_load_dwordx4": 5, "v_mfma_f32_16x16x16_f16": 5, "s_nop": 90}, None),
    ],
)
def test_where_no_time_is_known_bytes_and_matrix_instructions_count_beside_instructions(now, message):
    """As many instructions on both sides: what they do is compared."""
    before = work(global_load_dwordx4=10, v_mfma_f32_16x16x16_f16=10, s_nop=80)
    entry = BaselineEntry(metrics=before.metrics(), findings={})
    found = [f.message for f in worse(work(**now), entry, ["time_us"], ())]
    assert found == ([] if message is None else [message])
    # A baseline that does not have them yet says nothing of them.
    old = BaselineEntry(metrics={"executed_instructions": 100}, findings={})
    assert list(worse(work(**now), old, ["time_us"], ())) == []


def test_times_of_two_products_are_not_compared_and_what_a_wavefront_does_is():
    """For one product the time is compared, for two products the executed instructions."""
    made = work(s_nop=100)
    timed = replace(made.report, product="MI300X", model=replace(made.report.model, time_us=4.0))
    now = CheckSubject(made.entry, timed)
    held = {"time_us": 2.0, "cycles_per_element": 3.0, "executed_instructions": 50}
    assert compared_cost(now, BaselineEntry(metrics=held, findings={}, product="MI300X")) == ("time_us", 4.0, 2.0)
    other = BaselineEntry(metrics=held, findings={}, product="MI325X")
    assert compared_cost(now, other) == ("executed_instructions", 100, 50)
    (found,) = worse(now, other, ["time_us"], ())
    assert found.message == "100 instructions executed by a wavefront, the baseline has 50.0: 2 times as much"


def timed(microseconds):
    """A kernel whose time and instructions are known."""
    made = work(s_nop=100)
    return CheckSubject(made.entry, replace(made.report, model=replace(made.report.model, time_us=microseconds)))


@pytest.mark.parametrize(
    ("now", "metrics", "words"),
    [
        (timed(4.0), {"time_us": 2.0, "executed_instructions": 100}, ["4.00 µs predicted, the baseline has 2.00 µs"]),
        (timed(2.0), {"time_us": 2.0, "executed_instructions": 10}, []),
        (timed(1.0), {"time_us": 1.8}, []),
        (timed(2.0), {}, ["time_us is not known in the baseline", "(kprof check --update-baseline)"]),
        (
            subject(),
            {"time_us": 2.0, "cycles_per_element": 1.0},
            ["time_us is not known now, so it cannot be compared"],
        ),
        (subject(), {}, []),
    ],
)
def test_the_best_cost_that_both_sides_have_is_compared(now, metrics, words):
    """A time that is known counts alone; one side without any cannot tell; a slowdown would pass otherwise."""
    entry = BaselineEntry(metrics=metrics, findings={})
    found = list(worse(now, entry, ["time_us"], ()))
    assert len(found) == bool(words)
    assert all(one in found[0].message for one in words)
    assert list(worse(now, entry, ["time_us"], ["time_us"])) == list(worse(now, entry, [], ())) == []


def test_the_size_of_the_code_is_compared_where_that_is_watched():
    before, now = work(s_nop=100), work(s_nop=101)
    entry = BaselineEntry(metrics=before.metrics(), findings={})
    (found,) = worse(now, entry, ["code_instructions"], ())
    assert found.message == "101 instructions of code, the baseline has 100"
    assert list(worse(now, entry, ["time_us"], ())) == []


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (None, 3, ["vgpr_spills is not known now, so it cannot be compared"]),
        (3, None, ["vgpr_spills is not known in the baseline, so it cannot be compared"]),
        (None, None, []),
        (3, 3, []),
        (2, 3, []),
    ],
)
def test_what_cannot_be_compared(now, before, words):
    """One side has to know it; where neither does nothing has changed."""
    found = list(worse(subject(vgpr_spills=now), BaselineEntry({"vgpr_spills": before}, {}), ["vgpr_spills"], ()))
    assert [f.message for f in found] == words
    assert all(f.evidence == {"gate": "cannot tell", "metric": "vgpr_spills"} for f in found)


def test_what_cannot_be_told():
    """A capture that is stale has a rule of its own."""
    assert fields(cannot_tell(subject(), "why")) == (
        "KP013",
        "cannot-tell",
        Severity.WARNING,
        "why",
        OWN,
        {"gate": "cannot tell"},
    )
    old = subject()
    found = cannot_tell(CheckSubject(old.entry, old.report, stale=True), "changed")
    assert (found.rule, found.name, found.severity) == ("KP016", "stale-capture", Severity.WARNING)


def test_the_place_of_a_metric():
    """The first finding with a line that explains it, silenced ones behind the others."""
    nowhere = replace(SPILL, location=UNSET)
    elsewhere = replace(SPILL, location=Location(file="/repo/k.py", line=30))
    report = subject(findings=[nowhere, SPILL]).report
    silent = replace(report, findings=[], suppressed=[Suppressed(finding=elsewhere, reason="r")])
    both = replace(report, suppressed=silent.suppressed)
    entry = subject().entry
    assert place_of(CheckSubject(entry, both), "vgpr_spills") == SPILL.location
    assert place_of(CheckSubject(entry, silent), "vgpr_spills") == elsewhere.location
    assert place_of(CheckSubject(entry, both), "lds_bytes") == OWN
    assert place_of(CheckSubject(entry, both), "") == OWN


def test_a_launch_that_fails_is_told_where_its_rule_is():
    """LDS at the line of the rule that explains it, threads at the kernel's own; the same metric is not worse."""
    place = Location(file="/repo/k.py", line=20)
    found = Finding(rule="KP401", name="lds-over-limit", severity=Severity.ERROR, message="m", location=place)
    (lds,) = cannot_launch(tile(lds=LIMIT + 1, findings=[found]))
    (threads,) = cannot_launch(tile(warps=32, findings=[found]))
    assert lds.location == place
    assert threads.location == OWN
    now = subject(waves=6, vgpr_spills=3)
    same = BaselineEntry(metrics={"waves_per_simd": 6, "vgpr_spills": 3}, findings={})
    assert not list(worse(now, same, ["waves_per_simd", "vgpr_spills"], set(), ""))
