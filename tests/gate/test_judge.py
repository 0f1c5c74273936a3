"""Budgets, baseline and allowances on reports made by hand."""

import datetime as dt

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.document import KernelReport, Occupancy, Prediction, Resources, Specialization
from kprof.errors import KprofError
from kprof.findings import Finding, Location, Severity
from kprof.gate.anchors import relative
from kprof.gate.baseline import Baseline, encode, new_findings, read, updated
from kprof.gate.config import Allowance, Budget, Config, KernelEntry
from kprof.gate.judge import Gate
from kprof.gate.subject import CheckSubject

TODAY = dt.date(2026, 6, 15)


def subject(
    arch="gfx942", triton="3.9.0", block=64, entry=None, findings=(), problem=None, types=None, notes=(), **resources
):
    """One analysed kernel."""
    known = {
        "vgpr_spills": 0,
        "sgpr_spills": 0,
        "scratch_bytes": 0,
        "lds_bytes": 1024,
        "vgpr_allocated": 64,
        "sgpr": 32,
    }
    waves = resources.pop("waves", 8)
    report = KernelReport(
        name="add",
        arch=arch,
        triton=triton,
        source=Location(file="/repo/k.py", line=7),
        specialization=Specialization(signature=types or {}, constexprs={"BLOCK": block}),
        resources=Resources(**{**known, **resources}),
        occupancy=None if waves is None else Occupancy(waves, 8, 2, "vgpr", {}),
        findings=list(findings),
        notes=list(notes),
    )
    return CheckSubject(entry or KernelEntry(target="k.py"), report, problem=problem)


def judge(tmp_path, subjects, baseline=None, **config):
    """The document for these kernels."""
    return Gate(Config(**config), baseline, TODAY, tmp_path).judge(subjects)


def errors(document):
    """Messages of what fails."""
    return [f.message for k in document.kernels for f in k.findings if f.severity is Severity.ERROR]


def baseline_of(*subjects):
    """The baseline that these kernels make."""
    return updated(Baseline(), subjects)


@pytest.mark.parametrize(
    ("budget", "resources", "fails"),
    [
        ({"max_vgpr_spills": 0}, {"vgpr_spills": 1}, True),
        ({"max_vgpr_spills": 1}, {"vgpr_spills": 1}, False),
        ({"min_waves_per_simd": 2}, {"waves": 1.5}, True),
        ({"min_waves_per_simd": 2}, {"waves": 2}, False),
        ({"max_lds_bytes": 1024}, {"lds_bytes": 1025}, True),
        ({"max_scratch_bytes": 0, "max_sgpr": 10}, {"sgpr": 11}, True),
    ],
)
def test_budget_is_kept_or_broken(tmp_path, budget, resources, fails):
    """A limit itself is still within the budget."""
    document = judge(tmp_path, [subject(**resources)], budget=Budget(**budget))
    assert document.verdict.status == ("regression" if fails else "ok")
    assert len(errors(document)) == int(fails)


@pytest.mark.parametrize(("metric", "budget"), [("lds_bytes", "max_lds_bytes"), ("waves", "min_waves_per_simd")])
def test_unknown_is_neither_good_nor_bad(tmp_path, metric, budget):
    """A metric that is not known cannot be determined, and says so."""
    document = judge(tmp_path, [subject(**{metric: None})], budget=Budget(**{budget: 1}))
    assert document.verdict.status == "cannot_tell"
    (finding,) = document.kernels[0].findings
    assert "is not known" in finding.message


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        ({"triton": "3.6.0"}, "the baseline has this kernel for Triton 3.9.0, not for Triton 3.6.0"),
        ({"arch": "gfx950"}, "the baseline has this kernel for gfx942, not for gfx950"),
        ({"block": 128, "types": {"x": "*fp16"}}, "the baseline has this kernel, but not BLOCK=128"),
    ],
)
def test_only_the_comparable_is_compared(tmp_path, now, reason):
    """Another Triton, architecture or specialisation gives the reason and no comparison."""
    document = judge(tmp_path, [subject(vgpr_spills=99, **now)], baseline_of(subject()))
    assert document.verdict.status == "cannot_tell"
    assert document.kernels[0].findings[0].message.startswith(reason)


def test_regression_goes_before_cannot_tell(tmp_path):
    """What is certainly worse fails, whatever else is not known."""
    document = judge(tmp_path, [subject(vgpr_spills=3), subject(arch="gfx950")], baseline_of(subject()))
    assert document.verdict.status == "regression"
    assert document.verdict.summary == (
        "regression: 1 of 2 checks fail, 1 cannot be determined: add on gfx942: 3 VGPRs spilled, the baseline has 0"
    )
    assert errors(document) == ["3 VGPRs spilled, the baseline has 0"]


@pytest.mark.parametrize(
    ("watch", "status"), [({}, "cannot_tell"), ({"watch": ["vgpr_spills"]}, "ok")], ids=["time", "spills alone"]
)
def test_a_baseline_without_a_time_cannot_say_that_nothing_is_slower(tmp_path, watch, status):
    """Unless time is not watched."""
    model = Prediction(100.0, 80.0, 130.0, 1000.0, "matrix", {"matrix": 1.0})
    before = subject()
    now = CheckSubject(before.entry, msgspec.structs.replace(before.report, model=model))
    document = judge(tmp_path, [now], baseline_of(before), **watch)
    assert document.verdict.status == status
    if status != "ok":
        reason = "time_us is not known in the baseline, so it cannot be compared (kprof check --update-baseline)"
        assert [finding.message for finding in document.kernels[0].findings] == [reason]
    assert judge(tmp_path, [now], baseline_of(now), **watch).verdict.status == "ok"


def test_only_watched_metrics_must_not_get_worse(tmp_path):
    """More LDS at the same occupancy is no harm unless it is asked for; fewer waves are."""
    base = baseline_of(subject())
    assert judge(tmp_path, [subject(lds_bytes=9000)], base).verdict.status == "ok"
    assert judge(tmp_path, [subject(lds_bytes=9000)], base, watch=["lds_bytes"]).verdict.status == "regression"
    assert judge(tmp_path, [subject(waves=7)], base).verdict.status == "regression"
    assert judge(tmp_path, [subject(vgpr_spills=0, waves=8)], baseline_of(subject(waves=7))).verdict.status == "ok"


FINDING = Finding(
    rule="KP204", name="full-drain", severity=Severity.WARNING, message="m", location=Location("/a/k.py", 3)
)


def test_severity_decides_what_fails(tmp_path):
    """``fail_on`` draws the line; forbidden rules fail below it, and even when the baseline has them."""
    found = subject(findings=[FINDING])
    assert judge(tmp_path, [found]).verdict.status == "regression"
    assert judge(tmp_path, [found], fail_on="error").verdict.status == "ok"
    assert judge(tmp_path, [found], fail_on="never").verdict.status == "ok"
    assert judge(tmp_path, [found], baseline_of(found)).verdict.status == "ok"
    assert judge(tmp_path, [found], baseline_of(found), forbid=["full-drain"]).verdict.status == "regression"
    assert judge(tmp_path, [found], fail_on="never", forbid=["KP204"]).verdict.status == "regression"


@pytest.mark.parametrize(
    ("allowance", "status"),
    [
        ({}, "ok"),
        ({"until": dt.date(2026, 6, 14)}, "regression"),
        ({"limit": 4}, "regression"),
        ({"limit": 5}, "ok"),
        ({"kernel": "k.py::a*"}, "ok"),
        ({"kernel": "other"}, "regression"),
        ({"arch": "gfx95?"}, "regression"),
        ({"what": "sgpr_spills"}, "regression"),
    ],
)
def test_allowances_cover_what_they_say(tmp_path, allowance, status):
    """Kernel, architecture, metric, limit and date all have to fit."""
    given_ = {"what": "vgpr_spills", "reason": "soon", "until": TODAY, **allowance}
    document = judge(tmp_path, [subject(vgpr_spills=5)], baseline_of(subject()), allow=[Allowance(**given_)])
    assert document.verdict.status == status
    if status == "ok":
        assert document.kernels[0].suppressed[0].reason == "allowed until 2026-06-15: soon"


def test_allowance_that_nothing_needs_is_noted(tmp_path):
    """So that none outlives its cause."""
    document = judge(tmp_path, [subject()], allow=[Allowance(what="KP301", reason="r", until=TODAY)])
    assert document.notes == ["the allowance of KP301 for * on * until 2026-06-15 is not needed"]


def test_baseline_of_other_tritons_and_failed_kernels_stays(tmp_path):
    """An update replaces what was seen, drops what is gone, and keeps what it cannot know."""
    old = baseline_of(subject(), subject(triton="3.6.0"), subject(block=1), subject(arch="gfx950"))
    new = updated(old, [subject(vgpr_spills=2)])
    specs = new.kernels["k.py::add"]
    (now,) = specs.values()
    assert set(now) == {"gfx942", "gfx950"}
    assert set(now["gfx942"]) == {"Triton 3.6.0", "Triton 3.9.0"}
    assert now["gfx942"]["Triton 3.9.0"].metrics["vgpr_spills"] == 2
    failed = subject(problem="did not compile", block=5)
    assert updated(old, [failed]).kernels == old.kernels


def test_baseline_text_is_stable_and_comes_back(tmp_path):
    """The order of the kernels does not matter, and what is written can be read."""
    one, two = subject(), subject(arch="gfx950", findings=[FINDING])
    text = encode(baseline_of(one, two))
    assert text == encode(baseline_of(two, one))
    path = tmp_path / "b.json"
    path.write_text(text)
    assert read(path) == baseline_of(one, two)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": "kprof.baseline/2"}', '{"kernels": {"a": 1}}', "[" * 99999]
)
def test_broken_baseline_is_one_message(tmp_path, text):
    """Cut, foreign and hostile files."""
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(KprofError, match="is not a baseline"):
        read(path)


@given(st.lists(st.tuples(st.sampled_from(["KP101", "KP204"]), st.integers(1, 9)), max_size=12), st.data())
def test_fewer_findings_are_never_news(places, data):
    """Whatever part of the known findings is left, none is new; one more of a rule on any line is exactly one more."""
    known = [
        Finding(rule=r, name="n", severity=Severity.NOTE, message="", location=Location(file=f"/no/{n}.py", line=n))
        for r, n in places
    ]
    (kernel,) = baseline_of(subject(findings=known)).kernels.values()
    state = next(iter(next(iter(kernel.values())).values()))["Triton 3.9.0"]
    left = [finding for finding in known if data.draw(st.booleans())]
    assert not any(new_findings(left, state.findings))
    extra = msgspec.structs.replace(FINDING, rule="KP101", location=Location(file="/no/10.py", line=1))
    assert sum(new_findings([*known, extra], state.findings)) == 1


def test_paths_do_not_depend_on_the_machine(tmp_path):
    """Relative to the repository, or to where a library is installed."""
    assert relative(str(tmp_path / "a" / "k.py"), tmp_path) == "a/k.py"
    assert relative("/usr/lib/python3/site-packages/triton/language/core.py", tmp_path) == "triton/language/core.py"
    assert relative("/elsewhere/k.py", tmp_path) == "/elsewhere/k.py"
    found = msgspec.structs.replace(
        FINDING, location=Location(file=f"{tmp_path}/k.py", line=3), message=f"in {tmp_path}/k"
    )
    document = judge(tmp_path, [subject(findings=[found])])
    (shown,) = document.kernels[0].findings
    assert (shown.location, shown.message, shown.severity) == (Location(file="k.py", line=3), "in k", Severity.ERROR)
