"""What an ok has not looked at: each setting that takes something out has its words, and only then."""

import datetime as dt

import pytest

from kprof.document import KernelReport, Specialization
from kprof.findings import Finding, Severity, Suppressed
from kprof.gate.baseline import Baseline, BaselineEntry
from kprof.gate.config import WATCHED, Allowance, Budget, Config, GateProgram, KernelEntry
from kprof.gate.coverage_gaps import coverage_gaps, unknown
from kprof.gate.rules import ALLOWED, KNOWN, MARK
from kprof.gate.subject import CheckSubject

ENTRY = KernelEntry(target="k.py", arch=["gfx942"])
SUBJECT, CDNA4 = (CheckSubject(ENTRY, KernelReport(name="add", arch=a, triton="3.9.0")) for a in ("gfx942", "gfx950"))


def words(baseline=None, marks=(), unused=0, subjects=(SUBJECT,), **config):
    """All that is said; the configuration names an architecture unless something else is said."""
    silenced = [
        Suppressed(
            finding=Finding(rule="KP301", name="r", severity=Severity.NOTE, message="", evidence={MARK: mark}),
            reason="x",
        )
        for mark in marks
    ]
    kernels = [KernelReport(name="add", arch="gfx942", suppressed=silenced)]
    made = Config(**{"arch": ["gfx942"], "kernel": [ENTRY], **config})
    named = {*made.arch, *(arch for entry in made.kernel for arch in entry.arch)}
    if named & {"gfx950", "MI355X"} and subjects == (SUBJECT,):
        subjects = (SUBJECT, CDNA4)
    return list(coverage_gaps(made, baseline, subjects, kernels, unused))


def accepted(*archs):
    state = BaselineEntry(metrics={}, findings={})
    return Baseline(kernels={"k.py::add": {"as found": {arch: {"Triton 3.9.0": state} for arch in archs}}})


def test_nothing_is_said_where_everything_counts():
    """Without a baseline what it watches does not matter."""
    assert words() == []
    assert words(accepted("gfx942")) == []
    assert words(watch=[]) == []
    assert words(marks=[KNOWN]) == []


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"arch": [], "kernel": [KernelEntry(target="k.py")]}, True),
        ({"arch": [], "kernel": [ENTRY, KernelEntry(target="k.py")]}, True),
        ({"arch": [], "kernel": [ENTRY]}, False),
        ({"arch": ["gfx950"], "kernel": [KernelEntry(target="k.py")]}, False),
        ({"arch": [], "kernel": [], "program": [GateProgram(command=["x"])]}, True),
        ({"arch": [], "kernel": [], "program": [GateProgram(command=["x"], arch=["gfx942"])]}, False),
        ({"arch": [], "kernel": []}, False),
    ],
)
def test_an_architecture_that_was_taken_for_want_of_a_name(config, said):
    """Of any kernel or program that has none of its own, where there is no general one."""
    assert words(**config) == (["no arch is named, so MI300X was used"] if said else [])


def test_findings_that_do_not_count():
    """By the one value that lets all of them pass."""
    assert words(fail_on="never") == ['findings do not count (fail_on = "never")']
    assert [words(fail_on=level) for level in ("note", "warning", "error")] == [[], [], []]


def test_metrics_that_are_not_compared():
    """In the order of the usual ones; more than those are no loss."""
    assert words(accepted("gfx942"), watch=["scratch_bytes", "lds_bytes"]) == [
        "vgpr_spills, sgpr_spills, waves_per_simd, time_us not compared (watch)"
    ]
    assert words(accepted("gfx942"), watch=[*WATCHED, "sgpr"]) == []


def test_architectures_that_only_the_baseline_has():
    """In order, without those that were looked at."""
    assert words(accepted("gfx950", "gfx942", "gfx1100")) == ["the baseline also has gfx1100, gfx950, not checked"]
    assert words(accepted("gfx942"), subjects=[]) == [
        "the baseline also has gfx942, not checked",
        "gfx942 of the configuration not checked",
    ]


def test_compilers_that_only_the_baseline_has():
    """Of an architecture that is looked at; of another, the architecture says it."""
    state = BaselineEntry(metrics={}, findings={})
    archs = {"gfx942": {"Triton 3.9.0": state, "Triton 3.4.0": state}, "gfx950": {"Triton 3.2.0": state}}
    baseline = Baseline(kernels={"k.py::add": {"as found": archs}})
    assert words(baseline) == ["the baseline also has gfx950, Triton 3.4.0, not checked"]


def test_architectures_that_only_the_configuration_has():
    """``--arch`` has left them out: those of a kernel of its own, too."""
    own = KernelEntry(target="l.py", arch=["MI355X", "gfx1100"])
    assert words(subjects=[SUBJECT], kernel=[ENTRY, own]) == ["gfx1100, gfx950 of the configuration not checked"]
    assert words(kernel=[KernelEntry(target="l.py")], subjects=[CDNA4]) == ["gfx942 of the configuration not checked"]


@pytest.mark.parametrize(
    ("marks", "said"),
    [([ALLOWED], ["1 is worse and allowed"]), ([ALLOWED, KNOWN, ALLOWED], ["2 are worse and allowed"])],
)
def test_what_is_allowed(marks, said):
    """What is known is no worse."""
    assert words(marks=marks) == said


def test_allowances_that_nothing_needs():
    """As many as there are; those that are there and needed are not meant."""
    assert words(unused=1) == ["1 allowance is not needed"]
    assert words(unused=2) == ["2 allowances are not needed"]
    allowance = Allowance(what="sgpr", reason="x", until=dt.date(2030, 1, 1))
    assert words(allow=[allowance]) == []


def test_all_of_it_in_one_order():
    """First what was not looked at, then what was looked away from."""
    found = words(
        accepted("gfx950"), [ALLOWED], 1, arch=[], kernel=[KernelEntry(target="k.py")], fail_on="never", watch=[]
    )
    assert [text.split()[0] for text in found] == ["no", "findings", "vgpr_spills,", "the", "1", "1"]


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"arch_budget": {"gfx950": Budget()}}, "gfx950"),
        ({"arch_budget": {"MI355X": Budget(), "gfx942": Budget()}}, "MI355X"),
        ({"arch_budget": {"MI300X": Budget()}}, None),
        (
            {"arch_budget": {"gfx950": Budget()}, "kernel": [ENTRY, KernelEntry(target="l.py", arch=["MI355X"])]},
            None,
        ),
        ({"kernel": [KernelEntry(target="k.py", arch_budget={"gfx950": Budget()})]}, "gfx950 of k.py"),
        ({"arch": ["gfx950"], "kernel": [KernelEntry(target="k.py", arch_budget={"gfx950": Budget()})]}, None),
    ],
)
def test_a_budget_for_an_architecture_that_nothing_is_checked_on(config, said):
    """It reads as a limit and is none."""
    assert words(**config) == ([f"arch_budget limits nothing for {said}, which is not checked"] if said else [])


def test_metrics_that_neither_side_knows():
    """Unknown on both sides is equal, and was not compared; one that nobody watches is not told of."""
    state = BaselineEntry(metrics={"vgpr_spills": 0}, findings={})
    held = Baseline(kernels={"k.py::add": {"as found": {"gfx942": {"Triton 3.9.0": state}}}})

    def said(*watch, baseline=held):
        return unknown(Config(watch=list(watch)), baseline, [SUBJECT])

    assert said("vgpr_spills", "waves_per_simd") == ["not known here or in the baseline: waves_per_simd"]
    assert said("vgpr_spills") == []
    assert said("waves_per_simd", baseline=accepted("gfx950")) == []
    assert said("waves_per_simd", baseline=None) == []


def test_a_compiler_switch_of_this_environment(monkeypatch):
    """It decides the code and is no part of what a kernel is known by, unless its entry sets it."""
    spec = Specialization(signature={}, constexprs={}, options={}, environment={})
    entry = KernelEntry(target="k.py", arch=["gfx942"], env={"DISABLE_LLVM_OPT": "1"})
    compiled = KernelReport(name="add", arch="gfx942", specialization=spec)
    monkeypatch.setenv("DISABLE_LLVM_OPT", "1")
    said = ["compiled with DISABLE_LLVM_OPT from the environment"]
    assert words(subjects=[CheckSubject(ENTRY, compiled)]) == said
    assert words(subjects=[CheckSubject(entry, compiled)]) == []
    assert words(subjects=[CheckSubject(ENTRY, compiled, recorded="cap::1")]) == []
    assert words(subjects=[SUBJECT]) == []
    monkeypatch.delenv("DISABLE_LLVM_OPT")
    assert words(subjects=[CheckSubject(ENTRY, compiled)]) == []
