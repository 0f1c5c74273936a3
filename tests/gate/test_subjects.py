"""From entries of the configuration to kernels, without a compiler: files are read, compiles are made up."""

import shutil
from pathlib import Path

import pytest
from msgspec import UNSET

from kprof.compiler.request import CompileOutcome, CompileRequest
from kprof.document import KernelReport, Occupancy, Resources
from kprof.errors import HardwareError, KprofError
from kprof.findings import Location
from kprof.gate import programs
from kprof.gate import subjects as module
from kprof.gate.baseline import Baseline, updated
from kprof.gate.config import Config, GateProgram, KernelEntry
from kprof.gate.subject import CheckSubject, failed
from kprof.gate.subjects import gather, located, require_launchable, vanished
from kprof.targets.jobs import TargetJob
from kprof_analyzers import report_cache

ARTIFACTS = Path(__file__).resolve().parents[1] / "artifacts"
MATMUL = ARTIFACTS / "gfx942" / "matmul.triton-3.9.0.amdgcn"
EXP = ARTIFACTS / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn"


@pytest.fixture
def folder(tmp_path):
    """``compiled`` with two kernels for gfx942."""
    (tmp_path / "compiled").mkdir()
    shutil.copy(MATMUL, tmp_path / "compiled" / "a.amdgcn")
    shutil.copy(EXP, tmp_path / "compiled" / "b.amdgcn")
    return tmp_path


def found(folder, *entries, archs=(), **config):
    """Name, architecture and problem of everything that is gathered."""
    made = Config(**{"arch": ["gfx942"], **config}, kernel=list(entries))
    return gather(made, folder, archs=archs)


def brief(subjects):
    return [(one.report.name, one.report.arch, one.problem) for one in subjects]


def test_files_and_folders_are_read(folder):
    """From the configuration's folder, in the order of the entries; the listing is the place of what says no other."""
    one, *both = found(folder, KernelEntry(target="compiled/b.amdgcn"), KernelEntry(target="compiled"))
    assert brief([one, *both]) == [
        ("scaled_exp", "gfx942", None), ("matmul", "gfx942", None), ("scaled_exp", "gfx942", None)
    ]  # fmt: skip
    assert one.report.file is UNSET
    assert [each.report.file for each in both] == ["a.amdgcn", "b.amdgcn"]
    assert [each.left_out for each in both] == ["", ""]
    bare = folder / "bare.amdgcn"
    bare.write_text(
        "\n".join(line for line in EXP.read_text().splitlines() if not line.lstrip().startswith((".file", ".loc")))
    )
    (alone,) = found(folder, KernelEntry(target="bare.amdgcn"))
    assert alone.report.source == Location(file=str(bare), line=1)


def test_every_architecture_that_is_asked_for_has_to_be_there(folder):
    """By the entry before the configuration; one that is not there cannot be determined."""
    got = found(folder, KernelEntry(target="compiled", arch=["gfx942", "gfx950"]), arch=["gfx1100"])
    assert brief(got)[:2] == [("matmul", "gfx942", None), ("scaled_exp", "gfx942", None)]
    (missing,) = got[2:]
    words = "contains no kernel for gfx950, only for gfx942; set the entry's arch to one of these"
    assert (missing.report.arch, missing.problem) == ("gfx950", words)
    assert missing.report.source == Location(file=str(folder / "compiled"), line=1)
    (none,) = found(folder, KernelEntry(target="compiled"), arch=["gfx950", "gfx90a"])
    assert none.report.arch == "gfx950"
    assert "compiled for gfx942" in none.problem


def test_only_the_architectures_that_are_wanted(folder):
    """A product stands for its architecture; an entry for none of them is left out, one without any takes the usual."""
    entries = [
        KernelEntry(target="compiled", arch=["gfx942"]),
        KernelEntry(target="compiled/a.amdgcn", arch=["gfx950"]),
    ]
    assert brief(found(folder, *entries, archs=["MI300X"])) == [
        ("matmul", "gfx942", None), ("scaled_exp", "gfx942", None)
    ]  # fmt: skip
    assert len(found(folder, *entries)) == 3
    assert brief(found(folder, KernelEntry(target="compiled/a.amdgcn"), arch=[])) == [("matmul", "gfx942", None)]
    with pytest.raises(HardwareError):
        found(folder, *entries, archs=["gfx0"])


def test_what_lies_beside_for_other_architectures(folder):
    """Counted, on the last kernel of the target."""
    for name in ("c", "d"):
        shutil.copy(ARTIFACTS / "gfx950" / MATMUL.name, folder / "compiled" / f"{name}.amdgcn")
    got = found(folder, KernelEntry(target="compiled"))
    assert [one.left_out for one in got] == ["", "compiled also has 2 for gfx950"]
    shutil.copy(ARTIFACTS / "gfx90a" / MATMUL.name, folder / "compiled" / "e.amdgcn")
    (folder / "compiled" / "link").symlink_to(folder)
    (folder / "compiled" / "other").symlink_to(folder / "compiled")
    got = found(folder, KernelEntry(target="compiled"))
    assert got[-1].left_out == (
        "compiled also has 1 for gfx90a, 2 for gfx950; links in compiled not followed: link, other"
    )


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("gone.amdgcn", "gone.amdgcn"),
        ("gone/", "gone"),
        ("compiled/empty.amdgcn", "the file is empty"),
    ],
)
def test_what_cannot_be_read_is_told_at_its_place(folder, target, words):
    """And ends nothing else."""
    (folder / "compiled" / "empty.amdgcn").touch()
    bad, good = found(folder, KernelEntry(target=target), KernelEntry(target="compiled/a.amdgcn"))
    assert words in bad.problem
    assert bad.report.source.line == 1
    assert good.problem is None


def test_an_option_that_a_target_cannot_use_is_told(folder):
    """Files are compiled already."""
    (bad,) = found(folder, KernelEntry(target="compiled/a.amdgcn", config={"num_warps": 4}))
    assert bad.problem is not None
    (bad,) = found(folder, KernelEntry(target="compiled/a.amdgcn", case=["large"]))
    assert bad.problem is not None


def test_products(folder):
    """One of an architecture, wherever it is named; two of them run the same code."""
    for archs in (["gfx942", "MI300X"], ["MI300X", "gfx942"], ["MI300X", "MI300X"]):
        (one,) = found(folder, KernelEntry(target="compiled/a.amdgcn"), arch=archs)
        assert one.report.product == "MI300X"
    with pytest.raises(HardwareError) as error:
        found(folder, KernelEntry(target="compiled/a.amdgcn"), arch=["MI300X", "MI325X"])
    assert error.value.message == "arch names MI300X and MI325X, which run the same code (gfx942)"
    assert error.value.hint == "Name one of them."


@pytest.mark.parametrize(
    ("target", "there"),
    [("softmax", False), ("mine.py::add", True), ("sub/mine", True), ("compiled", True), ("compiled::x", True)],
)
def test_where_a_target_is_looked_for(folder, target, there):
    """What may be a file or is one, in the configuration's folder; a bundled name is none."""
    assert located(target, folder) == (f"{folder}/{target}" if there else target)


def request(name="add", path="k.py"):
    return CompileRequest(
        path=path, function=name, arch="gfx942", signature={}, constexprs={}, attributes={}, options={"num_warps": 4},
        environment={},
    )  # fmt: skip


@pytest.fixture
def compiled(monkeypatch):
    """Gives kernels of Python files answers without compiling them: ``plans`` and what comes of each job."""

    class Made:
        def __init__(self):
            self.jobs, self.answers, self.asked = 1, {}, []

        def plan(self, target, machines, options, _product):
            self.asked.append((Path(target.partition("::")[0]).name, [m.name for m in machines], options.case))
            if isinstance(self.jobs, KprofError):
                raise self.jobs
            path = target.partition("::")[0]
            return [TargetJob(request(f"add{n}", path), machines[0], f"add{n}", None, {}, {}) for n in range(self.jobs)]

        def judged(self, jobs, _workers):
            # The last one first, as compiles may end.
            for index, job in reversed(list(enumerate(jobs))):
                answer = self.answers.get(job.name, KernelReport(name=job.name, arch=job.machine.name))
                if answer is not None:
                    yield index, answer

    made = Made()
    monkeypatch.setattr(module, "plan", made.plan)
    monkeypatch.setattr(report_cache, "judged", made.judged)
    return made


def test_what_is_compiled_and_what_is_read_keep_their_order(folder, compiled):
    """Whichever compile ends first; each case is a check, for each architecture."""
    entries = [KernelEntry(target="k.py::add", case=["s", "l"]), KernelEntry(target="compiled/a.amdgcn")]
    got = found(folder, *entries, arch=["gfx942"])
    assert [(one.report.name, one.case) for one in got] == [("add0", "s"), ("add0", "l"), ("matmul", None)]
    assert compiled.asked == [("k.py", ["gfx942"], "s"), ("k.py", ["gfx942"], "l")]
    compiled.asked.clear()
    found(folder, KernelEntry(target="k.py::add"), arch=["gfx942", "gfx950"])
    assert compiled.asked == [("k.py", ["gfx942"], None), ("k.py", ["gfx950"], None)]


@pytest.mark.parametrize(("jobs", "optional"), [(1, [False]), (2, [True, True])])
def test_of_several_configurations_each_may_be_passed_over(folder, compiled, jobs, optional):
    """Not the only one; and none of several launches, since a call makes all of them."""
    compiled.jobs = jobs
    entry = KernelEntry(target="k.py::add", all_configs=True)
    assert [one.optional for one in found(folder, entry)] == optional
    assert not any(one.optional for one in found(folder, KernelEntry(target="k.py::add")))


def test_a_plan_that_fails_is_told_at_its_line(folder, compiled):
    """For the case and the architecture that it is about."""
    compiled.jobs = KprofError("no such case", path=str(folder / "k.py"), place="line 12")
    (bad,) = found(folder, KernelEntry(target="k.py::add", case=["huge"]))
    assert (bad.case, bad.report.arch) == ("huge", "gfx942")
    assert "no such case" in bad.problem
    assert bad.report.source == Location(file=str(folder / "k.py"), line=12)


@pytest.mark.parametrize(
    ("path", "place", "source"),
    [
        ("other.py", "line 7", ("other.py", 7)),
        ("other.py", None, ("other.py", 1)),
        ("stage.ttir", "line 7", ("k.py", 7)),
        (None, None, ("k.py", 1)),
        (None, "kernel add", ("k.py", 1)),
    ],
)
def test_the_line_of_what_does_not_compile(folder, compiled, path, place, source):
    """That of the error, where it is a Python file's; else the target's first one."""
    outcome = CompileOutcome(
        request("add0"), status="failed", error="shape is wrong", stage="ttir", path=path, place=place, hint="Do it."
    )
    compiled.answers["add0"] = outcome
    (bad,) = found(folder, KernelEntry(target="k.py::add"))
    file, line = source
    assert (Path(bad.report.source.file).name, bad.report.source.line) == (file, line)
    assert bad.problem == "shape is wrong (Do it)"
    assert bad.report.name == "add0"
    assert bad.report.specialization.options == {"num_warps": 4}


@pytest.mark.parametrize(
    ("status", "stage", "refused"),
    [
        ("failed", "llir", True),
        ("failed", "source", True),
        ("failed", "import", False),
        ("failed", None, False),
        ("crashed", "llir", False),
        ("timeout", "llir", False),
    ],
)
def test_only_what_the_compiler_itself_refuses_is_refused(folder, compiled, status, stage, refused):
    """A crash or a lack of time says nothing of the kernel; both have words."""
    compiled.answers["add0"] = CompileOutcome(request("add0"), status=status, error=None, stage=stage)
    (bad,) = found(folder, KernelEntry(target="k.py::add"))
    assert bad.refused is refused
    assert bad.problem.endswith(status)


def test_a_bundled_kernel_s_failure_has_no_line(folder, compiled):
    """Its file is none of the user's."""
    compiled.jobs = KprofError("no such kernel")
    (bad,) = found(folder, KernelEntry(target="softmax_of_mine"))
    assert bad.report.source is UNSET


def test_a_compile_that_nobody_answers_is_not_left_out(folder, compiled):
    """What has no answer cannot be determined; it is never ok for want of it."""
    compiled.jobs = 2
    compiled.answers["add1"] = None
    good, lost = found(folder, KernelEntry(target="k.py::add", case=["s"], all_configs=True))
    assert (good.problem, good.report.name) == (None, "add0")
    assert (lost.problem, lost.report.name, lost.case) == ("its compile did not finish", "add1", "s")
    assert not lost.refused
    assert lost.optional


def usable(entry, *, lds=0, optional=True, refused=False, arch="gfx942", case=None):
    report = KernelReport(
        name="add", arch=arch, resources=Resources(lds_bytes=lds), occupancy=Occupancy(4.0, 8, 2, "vgpr", {})
    )
    problem = "no" if refused else None
    return CheckSubject(entry, report, case, problem=problem, refused=refused, optional=optional)


def test_one_configuration_that_can_be_launched_is_enough():
    """Of the same entry, case and architecture."""
    entry, other = KernelEntry(target="k.py"), KernelEntry(target="k.py")
    large = 1 << 20
    assert [one.optional for one in require_launchable([usable(entry, lds=large), usable(entry)])] == [True, True]
    assert [one.optional for one in require_launchable([usable(entry, lds=large), usable(other)])] == [False, True]
    assert [one.optional for one in require_launchable([usable(entry, refused=True), usable(entry, lds=large)])] == [
        False
    ] * 2
    parts = [usable(entry, lds=large, case="a"), usable(entry, case="b")]
    assert [one.optional for one in require_launchable(parts)] == [False, True]
    parts = [usable(entry, lds=large), usable(entry, arch="gfx950")]
    assert [one.optional for one in require_launchable(parts)] == [False, True]
    assert [one.optional for one in require_launchable([usable(entry, optional=False)])] == [False]


def test_what_the_baseline_has_and_nobody_met():
    """Once for each architecture; what is there, or could not be determined, is not gone."""
    entry = KernelEntry(target="k.py")
    here = usable(entry)
    away = CheckSubject(KernelEntry(target="old.py"), KernelReport(name="f", arch="gfx942"))
    accepted = updated(Baseline(), [here, away])
    (lost,) = vanished(accepted, [here])
    assert (lost.kernel, lost.report.arch) == ("old.py::f", "gfx942")
    assert lost.problem == (
        "the baseline has this kernel, but it no longer exists; if that is intended: kprof check --update-baseline"
    )
    assert vanished(accepted, [here, away]) == []
    assert vanished(accepted, [here, failed(KernelEntry(target="old.py"), "gfx942", "no", None)]) == []


def test_programs_come_last(folder, monkeypatch):
    """Each for its own architectures, and its kernels are told apart like others."""
    asked = []

    def recorded(program, gpus, place, jobs):
        asked.append((program.name, list(gpus), place, jobs))
        for _ in range(2):
            yield CheckSubject(program.entry(), KernelReport(name="add", arch="gfx942"))

    monkeypatch.setattr(programs, "recorded", recorded)
    both = [GateProgram(command=["x"], name="one"), GateProgram(command=["y"], name="two", arch=["gfx950"])]
    config = Config(arch=["MI300X"], kernel=[KernelEntry(target="compiled/a.amdgcn")], program=both)
    got = gather(config, folder, 3)
    assert asked == [("one", ["MI300X"], folder, 3), ("two", ["gfx950"], folder, 3)]
    assert [(one.kernel, one.number) for one in got[1:]] == [
        ("one::add", 1), ("one::add", 2), ("two::add", 1), ("two::add", 2)
    ]  # fmt: skip
    asked.clear()
    config = Config(kernel=[], program=both[:1])
    gather(config, folder)
    assert asked == [("one", ["MI300X"], folder, 0)]
