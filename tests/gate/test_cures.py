"""Other knobs for what fails, as far as the time allows; which ones are tried is made up here."""

from types import SimpleNamespace

import msgspec
import pytest
from msgspec import UNSET

from kprof import deadline
from kprof.document import KernelReport, Occupancy, Report, Resources, Specialization, Verdict
from kprof.errors import KprofError
from kprof.findings import Finding, Location, Severity
from kprof.gate import cures
from kprof.gate.config import KernelEntry
from kprof.gate.subject import CheckSubject
from kprof.gate.tries import Tries
from kprof.reporters._ci_findings import verified
from kprof_analyzers.model.certainty import certainty


def report(spills, block=64, *, fails=True, source=None):
    """A kernel that fails for its spills, or does not."""
    finding = Finding(
        rule="KP011", name="n", severity=Severity.ERROR, message="m", location=Location(file="k.py", line=1),
        evidence={"gate": "fails", "metric": "vgpr_spills", "value": spills, "budget": 2},
    )  # fmt: skip
    more = {} if source is None else {"source": source}
    return KernelReport(
        name="add",
        arch="gfx942",
        specialization=Specialization(constexprs={"BLOCK": block}),
        resources=Resources(vgpr_spills=spills, lds_bytes=0),
        occupancy=Occupancy(8.0, 8, 2, "vgpr", {}),
        findings=[finding] if fails else [],
        **more,
    )


def plain(spills, block=64):
    """The same without its findings, as it is compiled."""
    return report(spills, block, fails=False)


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs what is tried on kernels; time passes a second with each look at the clock."""
    made = SimpleNamespace(tries=Tries(), asked=[], now=0.0)

    def tries(subject, folder, deadline, jobs):
        made.asked.append((subject, folder, deadline.left, jobs))
        if isinstance(made.tries, KprofError):
            raise made.tries
        return made.tries

    def clock():
        made.now += 1
        return made.now

    monkeypatch.setattr(cures, "tries", tries)
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=clock))

    def call(*kernels, seconds=100.0, jobs=2):
        subjects = [CheckSubject(KernelEntry(target="k.py"), kernel) for kernel in kernels]
        document = Report(kprof="1", kernels=list(kernels), verdict=Verdict("regression", "r"), notes=["kept"])
        found = cures.with_cures(document, subjects, tmp_path / "kprof.toml", seconds, jobs)
        assert (found.notes, len(found.kernels)) == (["kept"], len(kernels))
        return found.kernels

    made.call = call
    return made


def words(kernel):
    return [finding.message for finding in kernel.findings]


def test_the_first_change_that_cures_is_taken(run, tmp_path):
    """The others are not looked at; what does not fail is left as it is."""
    looked = []

    def found():
        for block, spills in ((48, 5), (32, 1), (16, 0)):
            looked.append(block)
            yield {"BLOCK": block}, plain(spills, block)

    run.tries = Tries(found=found())
    good = plain(9)
    bad, same = run.call(report(9), good)
    (advice,) = bad.findings[0].advice
    assert (advice.knob, advice.from_, advice.to) == ("BLOCK", 64, 32)
    assert advice.verified == {"vgpr_spills": (9, 1)}
    assert looked == [48, 32]
    assert same is good
    ((subject, folder, seconds, jobs),) = run.asked
    assert (subject.report.name, folder, jobs) == ("add", tmp_path, 2)
    assert seconds == 98, "what is left of the time"


@pytest.mark.parametrize(
    ("after_us", "speedup", "sure", "said"),
    [
        (100.0, 1.3, certainty(1.3, "gfx942"), "predicted 1.30 times as fast, 95 % sure that it is faster"),
        (128.0, 1.016, certainty(1.016, "gfx942"), "too close to distinguish, measure both on the GPU"),
        (None, UNSET, UNSET, "it is not known which one is faster"),
    ],
)
def test_a_cure_says_how_certain_it_is_that_it_is_faster(run, after_us, speedup, sure, said):
    """The shares of docs/validation/model.md; without a time it says that too."""
    run.tries = Tries(found=[({"BLOCK": 32}, plain(0, 32))], last_us=after_us, start_us=lambda: 130.0)
    (advice,) = run.call(report(9))[0].findings[0].advice
    assert advice.speedup == (speedup if speedup is UNSET else pytest.approx(speedup, abs=1e-3))
    assert advice.certainty == sure
    assert said in advice.note
    assert said in verified(msgspec.structs.replace(report(9).findings[0], advice=[advice]))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (Tries(found=[({"BLOCK": 32}, plain(3, 32))], tried=1), "none of 1 changes of knobs fixes it"),
        (Tries(tried=5, left=2), "none of 5 changes of knobs fixes it, 2 were not tried for lack of time"),
        (Tries(), "none of 0 changes of knobs fixes it"),
        (
            Tries(tried=3, how="compiler options only: there is no source"),
            "none of 3 changes of knobs fixes it (compiler options only: there is no source)",
        ),
        (Tries(tried=3, how="the program's own launch"), "none of 3 changes of knobs fixes it"),
        (
            KprofError("the kernel is already compiled", hint="No."),
            "other knobs were not tried: the kernel is already compiled",
        ),
    ],
)
def test_without_a_cure_it_is_said_why(run, made, said):
    """In the message of what fails."""
    run.tries = made
    (bad,) = run.call(report(9))
    assert words(bad) == [f"m; {said}"]
    assert not bad.findings[0].advice


def test_the_time_is_for_all_kernels_together(run):
    """Once it is spent nothing is begun."""
    first, second, third = run.call(report(9), report(9), report(9), seconds=5.0)
    spent = ["m; the time for trials was spent before other knobs could be tried"]
    assert words(first) == words(second) == ["m; none of 0 changes of knobs fixes it"]
    assert words(third) == spent
    assert [seconds for _, _, seconds, _ in run.asked] == [3, 1]


def test_one_worker_a_core_by_default(run, tmp_path):
    """As for every command."""
    kernel = report(9)
    subjects = [CheckSubject(KernelEntry(target="k.py"), kernel)]
    document = Report(kprof="1", kernels=[kernel], verdict=Verdict("regression", "r"))
    cures.with_cures(document, subjects, tmp_path / "kprof.toml", 9.0)
    assert [jobs for _, _, _, jobs in run.asked] == [0]


def test_a_trial_that_fails_later_is_told(run):
    """As when Triton is gone in the middle."""

    def found():
        yield {"BLOCK": 32}, plain(9, 32)
        raise KprofError("no usable Triton")

    run.tries = Tries(found=found())
    assert words(run.call(report(9))[0]) == ["m; other knobs were not tried: no usable Triton"]


@pytest.mark.parametrize("name", ["kprof.toml", "train.py", "k.py"])
def test_the_line_that_sets_the_knob_is_found(run, tmp_path, monkeypatch, name):
    """In the kernel's own file, in those of its program, or in the configuration; each file once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    for each in ("kprof.toml", "train.py", "k.py"):
        (tmp_path / each).write_text("x = 1\nBLOCK = 64\n" if each == name else "x = 1\n")
    train = tmp_path / "train.py"
    run.tries = Tries(found=[({"BLOCK": 32}, plain(0, 32))], files=[train, tmp_path / "k.py"])
    (advice,) = run.call(report(9, source=Location(file="k.py", line=1)))[0].findings[0].advice
    assert (advice.edit.file, advice.edit.line, advice.edit.after) == (name, 2, "BLOCK = 32")
