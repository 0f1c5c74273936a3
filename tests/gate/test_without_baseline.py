"""What is true without a baseline, what knobs that changed are compared with, and rules that could not run."""

import math
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from kprof.document import KernelReport, Occupancy, Resources, Specialization
from kprof.errors import KprofError
from kprof.findings import Coverage, Finding, Location, Severity, Unjudged
from kprof.gate.baseline import Baseline, read, updated
from kprof.gate.config import Allowance, Budget, Config, KernelEntry
from kprof.gate.judge import Gate
from kprof.gate.nearest import nearest
from kprof.gate.subject import CheckSubject
from tests.gate.test_command import ASSEMBLY
from tests.gate.test_judge import TODAY, subject

LIMIT = 65_536
"""LDS of a workgroup on gfx942."""
OVER = Finding(rule="KP401", name="lds-over-limit", severity=Severity.ERROR, message="too much LDS")


def tile(bk=32, warps=4, lds=LIMIT, spills=0, types=None, findings=(), rules=UNSET, **fields):
    """A product with one tile."""
    report = KernelReport(
        name="gemm",
        arch="gfx942",
        triton="3.9.0",
        source=Location(file="/repo/k.py", line=7),
        specialization=Specialization(
            signature=types or {"a": "*fp16"}, constexprs={"BK": bk}, options={"num_warps": warps}
        ),
        resources=Resources(
            vgpr_spills=spills,
            sgpr_spills=0,
            scratch_bytes=4 * spills,
            lds_bytes=lds,
            lds_limit_bytes=LIMIT,
            vgpr_allocated=64,
            sgpr=32,
            num_warps=warps,
            wavefront_size=64,
        ),
        occupancy=Occupancy(0.0 if lds > LIMIT else 2.0, 8, 1, "lds", {}),
        findings=list(findings),
        rules=rules,
    )
    return CheckSubject(KernelEntry(target="k.py"), report, **fields)


def judge(folder, subjects, baseline=None, rules=None, **config):
    """The document for these kernels."""
    return Gate(Config(**config), baseline, TODAY, folder, rules or {}).judge(subjects)


def accepted(*subjects):
    """The baseline that these make."""
    return updated(Baseline(), subjects)


def test_a_tile_that_cannot_be_launched_fails_and_names_the_knob(tmp_path):
    """The verdict's line has the change, both sizes and the limit; the occupancy is not told a second time."""
    document = judge(tmp_path, [tile(bk=256, lds=131_072, findings=[OVER])], accepted(tile()))
    assert document.verdict.status == "regression"
    assert document.verdict.summary == (
        "regression: 1 of 1 check fail: gemm on gfx942: BK 32 → 256: cannot be launched; 65,536 → 131,072 B of LDS, "
        "gfx942 has 65,536"
    )
    assert {f.rule for f in document.kernels[0].findings} == {"KP014", "KP401"}
    assert all(f.severity is Severity.ERROR for f in document.kernels[0].findings)


@pytest.mark.parametrize("baseline", [None, Baseline(), accepted(tile(lds=LIMIT + 1, findings=[OVER]))])
@pytest.mark.parametrize("fail_on", ["warning", "never"])
def test_no_baseline_accepts_what_cannot_be_launched(tmp_path, baseline, fail_on):
    """None at all, an empty one, and one that was written when it was so already."""
    document = judge(tmp_path, [tile(lds=LIMIT + 1, findings=[OVER])], baseline, fail_on=fail_on)
    assert document.verdict.status == "regression"
    assert document.kernels[0].findings[0].rule == "KP014"


@pytest.mark.parametrize(("warps", "status"), [(16, "ok"), (17, "regression")])
def test_threads_of_a_workgroup_have_a_limit_too(tmp_path, warps, status):
    """1,024 are the most: 16 wavefronts of 64."""
    assert judge(tmp_path, [tile(warps=warps)]).verdict.status == status


def test_the_limit_itself_can_be_launched(tmp_path):
    """One byte more cannot."""
    assert judge(tmp_path, [tile(lds=LIMIT)]).verdict.status == "ok"
    assert judge(tmp_path, [tile(lds=LIMIT + 1)]).verdict.status == "regression"


def test_an_autotuner_passes_over_a_configuration(tmp_path):
    """One of several that cannot be launched is no failure of its own; a new finding in a known one is."""
    loose = tile(lds=LIMIT + 1, optional=True)
    assert judge(tmp_path, [loose], fail_on="never").verdict.status == "ok"
    document = judge(tmp_path, [tile(lds=LIMIT + 1, optional=True, findings=[OVER])], accepted(tile()))
    assert document.verdict.status == "regression"


def test_an_allowance_is_the_only_way(tmp_path):
    """Until its date, by the gate's own names."""
    allow = [Allowance(what=what, reason="r", until=TODAY) for what in ("cannot-launch", "KP401")]
    assert judge(tmp_path, [tile(lds=LIMIT + 1, findings=[OVER])], allow=allow).verdict.status == "ok"


def test_what_the_compiler_refuses_fails_and_what_it_dies_of_cannot_be_told(tmp_path):
    """The refusal is the same everywhere, and stands in the verdict's line."""
    document = judge(tmp_path, [tile(problem="does not compile: no such thing", refused=True)], accepted(tile()))
    assert document.verdict.summary.endswith("gemm on gfx942: does not compile: no such thing")
    assert document.verdict.status == "regression"
    assert judge(tmp_path, [tile(problem="crashed: signal 6")]).verdict.status == "cannot_tell"
    assert judge(tmp_path, [tile(problem="no", refused=True, optional=True)]).verdict.status == "cannot_tell"


def test_changed_knobs_are_compared_with_the_nearest_entry(tmp_path):
    """Worse than that is a regression; no worse is ok, and the line says what it was compared with."""
    base = accepted(tile(), tile(bk=512, warps=8))
    document = judge(tmp_path, [tile(bk=64, spills=3)], base)
    assert [f.message for f in document.kernels[0].findings if f.evidence.get("metric") == "vgpr_spills"] == [
        "BK 32 → 64: 3 VGPRs spilled, the baseline has 0"
    ]
    document = judge(tmp_path, [tile(bk=64)], base)
    assert document.verdict.summary.startswith(
        "ok: 1 check, nothing is worse than the baseline (1 compared with other knobs); "
        "time not compared in all checks (no time is known); k.py::gemm BK=512 num_warps=8 #"
    )
    assert document.notes[0] == "k.py::gemm on gfx942: BK 32 → 64: compared with its nearest entry in the baseline"
    assert document.notes[1].endswith(" on gfx942 is in the baseline but no longer exists")


def test_an_entry_that_is_still_there_is_nobody_elses(tmp_path):
    """A configuration that came beside the old one is new: it cannot be determined."""
    document = judge(tmp_path, [tile(), tile(bk=64)], accepted(tile()))
    assert document.verdict.status == "cannot_tell"


def test_other_types_are_another_kernel(tmp_path):
    """No comparison across argument types."""
    document = judge(tmp_path, [tile(bk=64, types={"a": "*fp8e4nv"})], accepted(tile()))
    assert document.verdict.status == "cannot_tell"


@given(st.lists(st.integers(1, 4096), min_size=1, max_size=6, unique=True), st.integers(1, 4096))
def test_the_nearest_entry_has_the_nearest_value(known, now):
    """Doublings count; an entry with another second knob as well is never nearer."""
    base = accepted(*(tile(bk=bk) for bk in known), tile(bk=now, warps=8), tile(bk=now + 1, warps=2))
    taken = {tile(bk=now, warps=8).specialization}
    found = nearest(base, tile(bk=now), taken)
    others = [bk for bk in known if bk != now]
    if others:
        best = min(abs(doublings(bk, now)) for bk in others)
        chosen = found.state.knobs["BK"]
        assert found.state.knobs["num_warps"] == 4
        assert abs(doublings(chosen, now)) == pytest.approx(best)
        assert found.change == f"BK {chosen} → {now}"
    else:
        assert found.state.knobs["num_warps"] == 2


def doublings(one, other):
    """Doublings from one to the other."""
    return math.log2(one / other)


GRID = "the launch's grid is not known"
LACKING = Coverage(
    checked=["KP301"],
    not_checked=[
        Unjudged(rule="KP404", name="fewer-workgroups-than-cus", reason=GRID),
        Unjudged(rule="KP405", name="tail-wave", reason=GRID),
    ],
)


@pytest.mark.parametrize(
    ("required", "status"),
    [
        ([], "ok"),
        (["KP404"], "cannot_tell"),
        (["fewer-workgroups-than-cus"], "cannot_tell"),
        (["KP301", "KP014"], "ok"),
    ],
)
@pytest.mark.parametrize("where", ["all", "one"])
def test_required_rules_have_to_run(tmp_path, required, status, where):
    """For all kernels or for one; others are counted beside the verdict and named in the notes."""
    found = tile(rules=LACKING)
    rules = {"KP404": "fewer-workgroups-than-cus", "KP301": "spill-in-loop"}
    if where == "one":
        found = CheckSubject(KernelEntry(target="k.py", require=required), found.report)
        document = judge(tmp_path, [found], rules=rules)
    else:
        document = judge(tmp_path, [found], rules=rules, require=required)
    assert document.verdict.status == status
    if status == "ok":
        assert document.verdict.summary.endswith("within budget; 2 rules could not run")
    else:
        assert "is required and could not run: the launch's grid is not known" in document.verdict.summary
    assert document.notes == ["could not run in 1 of 1 check: KP404, KP405: the launch's grid is not known"]


@pytest.mark.parametrize("key", ["forbid", "require"])
def test_a_rule_that_there_is_not_is_refused(tmp_path, monkeypatch, kprof, key):
    """A misspelt rule would forbid nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kprof.toml").write_text(f'{key} = ["spill-in-lop"]\n[[kernel]]\ntarget = "k.amdgcn"\n')
    ran = kprof("check")
    assert ran.code == 2
    assert "did you mean 'spill-in-loop'" in ran.err


# Boundaries of the gate's own comparisons, both directions.


@given(st.integers(1, 99), st.integers(0, 99))
def test_an_allowance_holds_up_to_its_limit(value, limit):
    """The limit itself is still allowed: of spills from below, of waves from above, of findings by number."""
    base, root = accepted(tile()), Path("/repo")

    def status(found, what):
        allow = [Allowance(what=what, reason="r", until=TODAY, limit=limit)]
        return judge(root, [found], base, watch=["vgpr_spills", "waves_per_simd"], allow=allow).verdict.status

    assert status(tile(spills=value), "vgpr_spills") == ("ok" if value <= limit else "regression")
    found = [Finding(rule="KP204", name="full-drain", severity=Severity.WARNING, message="m")] * value
    assert status(tile(findings=found), "KP204") == ("ok" if value <= limit else "regression")


@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 8))
def test_fewer_waves_are_worse_and_never_more(before, now, limit):
    """The only metric where less is worse, in the comparison, the budget and the allowance."""
    root, base = Path("/repo"), accepted(subject(waves=before))
    worse = now < before
    assert judge(root, [subject(waves=now)], base).verdict.status == ("regression" if worse else "ok")
    kept = judge(root, [subject(waves=now)], budget=Budget(min_waves_per_simd=before))
    assert kept.verdict.status == ("regression" if worse else "ok")
    allow = [Allowance(what="waves_per_simd", reason="r", until=TODAY, limit=limit)]
    allowed = judge(root, [subject(waves=now)], base, allow=allow)
    assert allowed.verdict.status == ("regression" if worse and now < limit else "ok")


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [(None, None, None), (2.0, 2.0, None), (2.0, None, "not known now"), (None, 2.0, "not known in the baseline")],
)
def test_what_one_side_does_not_know_cannot_be_compared(tmp_path, before, now, reason):
    """Known on neither side is no difference."""
    document = judge(tmp_path, [subject(waves=now)], accepted(subject(waves=before)))
    assert document.verdict.status == ("ok" if reason is None else "cannot_tell")
    if reason is not None:
        assert document.kernels[0].findings[0].message == f"waves_per_simd is {reason}, so it cannot be compared"


def test_a_reason_is_whole_up_to_its_limit(tmp_path):
    """300 characters of it stand in the verdict's line; what is longer is cut and says so."""
    for length, end in ((300, "x"), (301, "...")):
        summary = judge(tmp_path, [tile(problem="x" * length)]).verdict.summary
        assert summary.endswith(f": {'x' * 300}{'' if end == 'x' else end}")


def test_a_failed_kernel_keeps_its_state_on_its_architecture_only():
    """Of a kernel that is gone from another architecture, which was seen, nothing is kept."""
    old = updated(Baseline(), [subject(), subject(arch="gfx950")])
    failed_there = subject(problem="did not compile", block=5)
    other = CheckSubject(KernelEntry(target="other.py"), subject(arch="gfx950").report)
    also = CheckSubject(KernelEntry(target="other.py"), subject().report)
    (kept,) = updated(old, [failed_there, other, also]).kernels["k.py::add"].values()
    assert list(kept) == ["gfx942"]


@pytest.mark.parametrize(("target", "kept"), [("k.py::add", True), ("k.py", True), ("k.p", False), ("add", False)])
def test_only_a_failed_target_s_own_kernels_keep_their_state(target, kept):
    """By the whole name, or by the file before the colons; the architecture was seen through another kernel."""
    old = updated(Baseline(), [subject()])
    seen = CheckSubject(KernelEntry(target="other.py"), subject().report)
    lost = CheckSubject(KernelEntry(target=target), subject().report, problem="did not compile")
    assert ("k.py::add" in updated(old, [lost, seen]).kernels) is kept


@pytest.mark.parametrize(("warps", "lds", "line"), [(4, LIMIT + 1, 12), (17, LIMIT, 7)])
def test_what_cannot_be_launched_is_told_where_its_rule_found_it(tmp_path, warps, lds, line):
    """LDS at the line of KP401; threads of a workgroup at the kernel's own."""
    place = msgspec.structs.replace(OVER, location=Location(file="/repo/k.py", line=12))
    document = judge(tmp_path, [tile(warps=warps, lds=lds, findings=[place])])
    (found,) = [f for f in document.kernels[0].findings if f.rule == "KP014"]
    assert found.location.line == line


@pytest.mark.parametrize(
    ("rule", "place", "line"),
    [("KP301", 12, 12), ("KP301", None, 7), ("KP204", 12, 7)],
)
def test_a_metric_is_told_where_a_rule_explains_it(tmp_path, rule, place, line):
    """Spills at the line of KP301; without a line, or by a rule that explains something else, at the kernel's own."""
    where = UNSET if place is None else Location(file="/repo/k.py", line=place)
    found = Finding(rule=rule, name="n", severity=Severity.NOTE, message="m", location=where)
    document = judge(tmp_path, [tile(spills=3, findings=[found])], accepted(tile()), watch=["vgpr_spills"])
    (worse,) = [f for f in document.kernels[0].findings if f.rule == "KP012"]
    assert worse.location.line == line


def test_what_is_over_its_budget_is_told_once(tmp_path):
    """The budget's finding stands for the baseline's, and only for the same metric's."""
    document = judge(tmp_path, [tile(spills=3)], accepted(tile()), budget=Budget(max_vgpr_spills=0))
    told = [(f.rule, f.evidence["metric"]) for f in document.kernels[0].findings]
    assert sorted(told) == [("KP011", "vgpr_spills"), ("KP012", "scratch_bytes")]


def test_findings_fail_only_where_they_can_be_compared(tmp_path):
    """A warning of a kernel that the baseline does not have is shown and does not fail."""
    found = Finding(rule="KP204", name="full-drain", severity=Severity.WARNING, message="m")
    new = judge(tmp_path, [tile(findings=[found])], Baseline())
    assert new.verdict.status == "cannot_tell"
    assert [f.severity for f in new.kernels[0].findings if f.rule == "KP204"] == [Severity.WARNING]
    known = judge(tmp_path, [tile(findings=[found])], accepted(tile()))
    assert [f.severity for f in known.kernels[0].findings if f.rule == "KP204"] == [Severity.ERROR]
    assert known.verdict.status == "regression"


def test_updating_names_what_no_baseline_accepts(tmp_path, monkeypatch, kprof):
    """A budget that is broken already, in the lines of the update itself."""
    (source,) = ASSEMBLY.glob("matmul.triton-3.9*.amdgcn")
    (tmp_path / "k.amdgcn").write_bytes(source.read_bytes())
    (tmp_path / "kprof.toml").write_text(
        'arch = ["gfx942"]\nbaseline = "b.json"\nbudget = {max_vgpr_allocated = 1}\n[[kernel]]\ntarget = "k.amdgcn"\n'
    )
    monkeypatch.chdir(tmp_path)
    ran = kprof("check", "--update-baseline")
    assert ran.code == 0
    assert "k.amdgcn::matmul on gfx942: 64 vector registers allocated, the budget is max_vgpr_allocated = 1" in ran.err
    assert "fails with any baseline" in ran.err
    assert kprof("check").code == 1


def test_a_baseline_that_cannot_be_read_is_an_error(tmp_path):
    """Not an empty one."""
    path = tmp_path / "b.json"
    path.write_text('{"kernels": {"k": {"s": {"gfx942": {"T": {"metrics": {}, "findings": {}, "knobs": 3}}}}}}')
    with pytest.raises(KprofError):
        read(path)


def test_half_a_wavefront_is_kept_in_the_baseline(tmp_path):
    """A baseline rounds nothing: 1 is fewer than 1.5."""
    base = accepted(subject(waves=1.5))
    assert judge(tmp_path, [subject(waves=1.5)], base).verdict.status == "ok"
    assert judge(tmp_path, [subject(waves=1)], base).verdict.status == "regression"


def test_a_rule_s_finding_of_a_launch_that_fails_is_an_error_whatever_fails(tmp_path):
    """It says which buffers there are; what an autotuner passes over fails nothing."""
    document = judge(tmp_path, [tile(lds=LIMIT + 1, findings=[OVER])], fail_on="never")
    assert [f.severity for f in document.kernels[0].findings if f.rule == "KP401"] == [Severity.ERROR]
    passed = judge(tmp_path, [tile(lds=LIMIT + 1, findings=[OVER], optional=True)], fail_on="never")
    assert passed.verdict.status != "regression"
