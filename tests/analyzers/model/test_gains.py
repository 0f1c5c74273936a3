"""What findings cost: compared with the same kernel compiled without what they name."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kprof.analysis import ModelChange
from kprof.findings import Finding, Gain, Severity, by_cost
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.model.gains import costs_of, without
from kprof_analyzers.model.kernel import build, predict_model
from kprof_analyzers.pipeline import analyze, facts_of

FILE = Path(__file__).parents[2] / "rules" / "ab_kernels" / "elementwise.py"
SWIGLU = CompileOptions(
    arch=("MI300X",),
    signature="*fp16:16,*fp16:16,8192",
    constexpr={"BLOCK": 1024, "FORM": "interleaved"},
    config={"num_warps": 4},
    grid=(4096, 8, 1),
)
SCALED = CompileOptions(
    arch=("MI300X",),
    signature="*fp16:16,*fp16:16,fp32,32",
    constexpr={"BLOCK": 32},
    config={"num_warps": 4},
    grid=(262144, 1, 1),
)
SHORT = CompileOptions(
    arch=("MI300X",),
    signature="*fp16:16,*fp16:16,64,64",
    constexpr={"BLOCK": 1024},
    config={"num_warps": 4},
    grid=(65536, 1, 1),
)
NORM = CompileOptions(arch=("MI300X",), shape={"M": 2048, "N": 16380})


@cache
def report(target, key):
    """The whole of a kernel, made once."""
    (kernel,) = load(target, OPTIONS[key])
    return analyze(kernel, model=True)


OPTIONS = {}


def of(target, options):
    """See :func:`report`."""
    OPTIONS[repr(options)] = options
    return report(target, repr(options))


PAIRS = {
    "narrow loads": ("layernorm", NORM, {"shape": {"M": 2048, "N": 16384}}, "KP101"),
    "alternating": (f"{FILE}::swiglu", SWIGLU, {"constexpr": {"BLOCK": 1024, "FORM": "halves"}}, "KP103"),
    "idle lanes": (f"{FILE}::scaled", SCALED, {"config": {"num_warps": 1}}, "KP408"),
    "masked lanes": (f"{FILE}::normed", SHORT, {"constexpr": {"BLOCK": 64}, "config": {"num_warps": 1}}, "KP410"),
}


@pytest.mark.triton
@pytest.mark.parametrize("name", PAIRS)
def test_a_gain_is_what_the_repaired_kernel_gains(name):
    """Within a factor of 1.5 of the difference between both kernels' times; it is the first finding."""
    target, options, repaired, rule = PAIRS[name]
    before, after = of(target, options), of(target, replace(options, **repaired))
    finding = before.findings[0]
    assert finding.rule == rule
    difference = before.model.time_us - after.model.time_us
    assert difference / 1.5 <= finding.gain.us <= 1.5 * difference
    assert finding.gain.low_us <= finding.gain.us <= finding.gain.high_us
    assert finding.gain.share == pytest.approx(finding.gain.us / before.model.time_us, abs=1e-3)


@pytest.mark.triton
def test_findings_stand_in_the_order_of_what_they_cost():
    """Strided loads before exponentials and divisions, which memory hides; what is left far from light says so."""
    found = of(f"{FILE}::swiglu", SWIGLU).findings
    assert [f.rule for f in found] == ["KP103", "KP509", "KP506"]
    assert "KP409" not in {f.rule for f in found}
    last = of(f"{FILE}::scaled", replace(SCALED, config={"num_warps": 1})).findings
    assert [f.rule for f in last] == ["KP408", "KP409"]


@pytest.mark.triton
def test_without_a_launch_nothing_has_a_price():
    """No grid, no time, no gain; and none where the model was not asked."""
    (kernel,) = load("layernorm", NORM)
    assert all(f.gain is None for f in analyze(replace(kernel, grid=None), model=True).findings)
    assert all(f.gain is None for f in analyze(kernel).findings)


@pytest.mark.triton
def test_changes_change_what_they_say():
    """Nothing gone is nothing gained; without anything only the launch, or the speed of light, is left."""
    (kernel,) = load("layernorm", NORM)
    facts, _ = facts_of(kernel)
    model = build(facts)
    prediction = predict_model(model)
    finding = Finding(rule="KP101", name="x-y", severity=Severity.NOTE, message="")

    def gain(change):
        return costs_of(model, prediction, [(finding, change)])[id(finding)]

    assert gain(ModelChange()).us == 0
    everything = tuple(i.index for i in facts.program.instructions)
    rest = prediction.time_us - gain(ModelChange(gone=everything)).us
    assert rest == pytest.approx(
        prediction.time_us - prediction.time_us * gain(ModelChange(gone=everything)).share, rel=1e-2
    )
    assert rest < 0.6 * prediction.time_us
    assert 0 < gain(ModelChange(cycles=dict.fromkeys(everything, 0.5))).us <= gain(ModelChange(gone=everything)).us
    idle = gain(ModelChange(idle_share=0.75, at_most=True))
    assert idle.low_us == 0
    assert idle.us <= 0.75 * prediction.time_us
    assert costs_of(model, prediction, [(finding, None)]) == {}
    assert without(model, ModelChange(workgroups_per_cu=1.0)).where.resident == 1


def test_the_dearest_comes_first():
    """By what is known, then what is not, then what costs next to nothing."""

    def cost(us, share):
        return Gain(us=us, low_us=us, high_us=us, share=share)

    gains = [cost(0.1, 0.001), None, cost(5.0, 0.05), cost(20.0, 0.2), cost(1.0, 0.01)]
    assert [g.us if g else None for g in sorted(gains, key=by_cost)] == [20.0, 5.0, 1.0, None, 0.1]
