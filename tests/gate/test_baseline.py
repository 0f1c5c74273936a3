"""What a baseline says of kernels that it does not have, of those that are gone, and of files that are none."""

import datetime as dt
from dataclasses import replace

import msgspec
import pytest

from kprof.errors import KprofError
from kprof.findings import Coverage, Failure, Finding, Location, Severity, Suppressed
from kprof.gate.baseline import Baseline, BaselineEntry, encode, missing_entries, new_findings, read, updated
from kprof.gate.config import Allowance, KernelEntry
from kprof.gate.limits import WORSE
from tests.gate.test_judge import FINDING, TODAY, baseline_of, errors, judge, subject


def messages(document):
    """Of the first kernel, in order."""
    return [finding.message for finding in document.kernels[0].findings]


def test_why_there_is_nothing_to_compare_with():
    """Kernel, specialisation, architecture, compiler: the first that is missing, with what is there instead."""
    base = baseline_of(subject(), subject(arch="gfx950"), subject(triton="3.6.0"))
    stranger = subject(entry=KernelEntry(target="other.py"))

    assert base.find(stranger) == "the baseline does not have this kernel"
    assert base.find(subject(arch="gfx90a")) == "the baseline has this kernel for gfx942, gfx950, not for gfx90a"
    assert (
        base.find(subject(triton="3.8.0")) == "the baseline has this kernel for Triton 3.6.0, Triton 3.9.0, "
        "not for Triton 3.8.0"
    )
    assert base.find(subject(block=9)) == f"the baseline has this kernel, but not {subject(block=9).specialization}"
    assert base.find(subject()).metrics["vgpr_allocated"] == 64


def test_a_file_that_is_no_baseline_says_how_to_get_one(tmp_path):
    """The whole message, the file and the way out."""
    path = tmp_path / "b.json"
    path.write_text('{"kernels": 1}')
    with pytest.raises(KprofError) as caught:
        read(path)

    assert caught.value.message.startswith("is not a baseline:")
    assert caught.value.hint == "kprof check --update-baseline writes a new one."
    assert caught.value.path == str(path)


def test_fields_that_no_baseline_has_are_refused_and_not_dropped(tmp_path):
    """A newer kprof's file must not be read as if the rest were all; at the top and in an entry."""
    whole = msgspec.json.decode(encode(baseline_of(subject())))
    path = tmp_path / "b.json"
    path.write_bytes(msgspec.json.encode({**whole, "more": 1}))
    with pytest.raises(KprofError, match="more"):
        read(path)
    kernel = whole["kernels"]["k.py::add"]
    next(iter(kernel.values()))["gfx942"]["Triton 3.9.0"]["further"] = 1
    path.write_bytes(msgspec.json.encode(whole))
    with pytest.raises(KprofError, match="further"):
        read(path)


@pytest.mark.parametrize(
    ("value", "kept"), [(None, True), (0, True), (1.5, True), (2**32, True), (-0.5, False), (2**32 + 1, False)]
)
def test_values_that_a_kernel_can_have(tmp_path, value, kept):
    """Counts from nothing to 32 bits, and what was not known; the message names the kernel and the metric."""
    whole = msgspec.json.decode(encode(baseline_of(subject())))
    (specialization,) = whole["kernels"]["k.py::add"].values()
    specialization["gfx942"]["Triton 3.9.0"]["metrics"]["vgpr_spills"] = value
    path = tmp_path / "b.json"
    path.write_bytes(msgspec.json.encode(whole))
    if kept:
        assert len(read(path).kernels) == 1
        return
    with pytest.raises(KprofError) as caught:
        read(path)
    assert caught.value.message == "is not a baseline: k.py::add on gfx942: vgpr_spills has an impossible value"
    assert caught.value.path == str(path)


def test_what_is_written_is_indented_by_two():
    """As people read it in a change of the repository."""
    lines = encode(baseline_of(subject())).splitlines()
    assert lines[:3] == ["{", '  "kernels": {', '    "k.py::add": {']
    assert encode(Baseline()).endswith("}\n")


def test_what_this_run_should_have_met_is_gone():
    """Entries of other architectures and other Tritons belong to other runs."""
    old = subject(block=1)
    base = baseline_of(subject(), old, subject(block=2, arch="gfx950"), subject(block=3, triton="3.6.0"))
    lost = [("k.py::add", old.specialization, "gfx942")]

    assert missing_entries(base, [subject()]) == lost
    assert missing_entries(base, [subject(), old]) == []
    # The target could not be determined: nothing is known of what belongs to it.
    assert missing_entries(base, [subject(), subject(block=9, problem="did not compile")]) == []
    other = subject(block=9, problem="did not compile", entry=KernelEntry(target="k"))
    assert missing_entries(base, [subject(), other]) == lost


def test_an_update_keeps_a_kernel_that_could_not_be_told_beside_one_that_could():
    """By its target and architecture, even where the compiler ran for others."""
    old = baseline_of(subject(), subject(block=1))
    other = subject(entry=KernelEntry(target="other.py"))
    new = updated(old, [other, subject(problem="did not compile")])

    assert set(new.kernels) == {"k.py::add", "other.py::add"}
    assert new.kernels["k.py::add"] == old.kernels["k.py::add"]


def test_each_finding_that_is_known_counts_once(tmp_path):
    """Three on one line where two were: one is new, and the last."""
    source = tmp_path / "k.py"
    source.write_text("a = 1\nb = 2\n")
    one = Finding("KP204", "full-drain", Severity.WARNING, "m", Location(str(source), 1))
    two = msgspec.structs.replace(one, location=Location(str(source), 2))
    base = baseline_of(subject(findings=[one, one]))
    state = base.find(subject(findings=[one, one]))

    assert new_findings([one, one], state.findings) == [False, False]
    assert new_findings([one, one, one], state.findings) == [False, False, True]
    assert new_findings([two, one, two], state.findings) == [True, False, True]


def test_what_is_silenced_and_why(tmp_path):
    """What the baseline has; an ignore comment with its reason, and one without, which fails."""
    known = judge(tmp_path, [subject(findings=[FINDING])], baseline_of(subject(findings=[FINDING])))
    assert [s.reason for s in known.kernels[0].suppressed] == ["in the baseline"]

    found = subject()
    found = msgspec.structs.replace(found.report, suppressed=[Suppressed(FINDING, "as meant"), Suppressed(FINDING, "")])
    document = judge(tmp_path, [type(subject())(KernelEntry(target="k.py"), found)])
    assert [s.reason for s in document.kernels[0].suppressed] == ["as meant"]
    assert errors(document) == ["m; its ignore comment gives no reason"]


def with_ignores(*lines, block=64):
    """A check of which these lines of its source silence a finding each."""
    places = [msgspec.structs.replace(FINDING, location=Location("/repo/k.py", line)) for line in lines]
    made = subject(block=block)
    report = msgspec.structs.replace(made.report, suppressed=[Suppressed(place, "as meant") for place in places])
    return replace(made, report=report)


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ((), (3,), "ignored in the source: 1 (new in this change)"),
        ((3,), (3,), "ignored in the source: 1"),
        ((3,), (3, 9), "ignored in the source: 2 (1 new in this change)"),
        ((3,), (), None),
        (None, (3,), "ignored in the source: 1 (the baseline does not say which are new)"),
    ],
)
def test_ignores_of_this_change_are_in_the_verdict(tmp_path, before, now, words):
    """They are counted apart from what the baseline has; another configuration's finding of one line is no more."""
    checks = [with_ignores(*now), with_ignores(*now, block=128)]
    base = baseline_of(*(with_ignores(*(before or ()), block=block) for block in (64, 128)))
    if before is None:
        text = encode(base).replace('"ignored": {},', "")
        assert '"ignored"' not in text
        (tmp_path / "b.json").write_text(text)
        base = read(tmp_path / "b.json")

    summary = judge(tmp_path, checks, base).verdict.summary
    assert summary.startswith("ok: 2 checks, nothing is worse than the baseline")
    assert words is not None or "ignored" not in summary
    assert words is None or f"; {words};" in f"{summary};"


def test_only_the_finding_without_a_reason_is_told_so(tmp_path):
    """Another one that fails beside it has nothing to do with the comment."""
    other = msgspec.structs.replace(FINDING, rule="KP101", message="other")
    report = msgspec.structs.replace(subject(findings=[other]).report, suppressed=[Suppressed(FINDING, "")])
    document = judge(tmp_path, [type(subject())(KernelEntry(target="k.py"), report)])
    assert sorted(errors(document)) == ["m; its ignore comment gives no reason", "other"]


def test_an_analyzer_that_failed_is_told_with_its_reason(tmp_path):
    """Whatever the others found, what it would have said is not known."""
    rules = Coverage(failed=[Failure("theirs", "raised ValueError"), Failure("ours", "raised KeyError")])
    report = msgspec.structs.replace(subject().report, rules=rules)
    document = judge(tmp_path, [type(subject())(KernelEntry(target="k.py"), report)])
    assert document.verdict.status == "cannot_tell"
    assert messages(document) == [
        "the analyzer theirs failed: raised ValueError", "the analyzer ours failed: raised KeyError",
    ]  # fmt: skip


def test_what_is_said_of_rules_that_are_forbidden_or_required(tmp_path):
    """In the finding's own line."""
    forbidden = judge(tmp_path, [subject(findings=[FINDING])], forbid=["KP204"])
    assert errors(forbidden) == ["m; the rule is forbidden here"]
    required = judge(tmp_path, [subject()], require=["KP999"])
    assert messages(required) == [
        "KP999 is required and could not run: it is not a rule for compiled kernels, or its analyzer failed"
    ]


def test_an_allowance_that_ended_says_when_and_why_there_was_one(tmp_path):
    """At the finding that fails now."""
    ended = Allowance(what="vgpr_spills", reason="soon", until=dt.date(2026, 6, 14))
    document = judge(tmp_path, [subject(vgpr_spills=5)], baseline_of(subject()), allow=[ended])
    assert errors(document) == ["5 VGPRs spilled, the baseline has 0; its allowance ended on 2026-06-14 (soon)"]


def test_what_is_gone_is_named_alone_and_counted_together(tmp_path):
    """One by name in the verdict, several by their number; each by name in the notes."""
    one = baseline_of(subject(), subject(block=1))
    name = f"k.py::add {subject(block=1).specialization} on gfx942 is in the baseline but no longer exists"
    document = judge(tmp_path, [subject()], one)
    assert name in document.notes
    assert name in document.verdict.summary

    two = judge(tmp_path, [subject()], baseline_of(subject(), subject(block=1), subject(block=2)))
    assert sum(note.endswith("is in the baseline but no longer exists") for note in two.notes) == 2
    assert "2 kernels of the baseline no longer exist" in two.verdict.summary.removesuffix(".").split("; ")


def test_as_many_findings_on_another_line_are_no_news():
    """Code moves; one more of a rule is new."""
    state = BaselineEntry(metrics={}, findings={"KP204": ["another line's text"]})
    assert new_findings([FINDING], state.findings) == [False]
    assert new_findings([FINDING, FINDING], state.findings) == [True, True]


def test_a_comparison_can_be_required(tmp_path):
    """Without a baseline there is none."""
    document = judge(tmp_path, [subject()], require=[WORSE.id])
    assert messages(document) == [f"{WORSE.id} is required and could not run: there is no baseline"]
    assert judge(tmp_path, [subject()], baseline_of(subject()), require=[WORSE.id]).verdict.status == "ok"


@pytest.mark.parametrize(("arch", "status"), [("gfx942", "ok"), ("MI300?", "ok"), ("MI325X", "regression")])
def test_an_allowance_is_of_an_architecture_or_a_product(tmp_path, arch, status):
    """Either name will do."""
    found = subject(vgpr_spills=5)
    found = type(found)(found.entry, msgspec.structs.replace(found.report, product="MI300X"))
    allowed = Allowance(what="vgpr_spills", reason="soon", until=TODAY, arch=arch)
    assert judge(tmp_path, [found], baseline_of(subject()), allow=[allowed]).verdict.status == status
