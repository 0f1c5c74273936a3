"""Which knobs are tried around a check, with a compiler that is made up."""

from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace

import pytest

from kprof import deadline
from kprof.compiler.request import CompileOutcome, CompileRequest
from kprof.deadline import Deadline
from kprof.document import KernelReport, Specialization
from kprof.errors import KprofError, TargetError
from kprof.findings import Finding, Severity
from kprof.gate.config import KernelEntry
from kprof.gate.subject import CheckSubject
from kprof.gate.tries import tries
from kprof.hardware.machine import load, load_gpu
from kprof.importing import functions
from kprof.targets.jobs import TargetJob


def subject(entry, *, config=None, rules=(), **more):
    """A kernel as it was compiled."""
    findings = [Finding(rule=rule, name=rule, severity=Severity.ERROR, message="") for rule in rules]
    report = KernelReport(
        name="add",
        arch="gfx942",
        specialization=Specialization(options={"num_warps": 4, "num_stages": 2, **(config or {})}),
        findings=findings,
        **more,
    )
    return CheckSubject(entry, report)


def request(number):
    return CompileRequest(path="k.py", function=f"add{number}", arch="gfx942", signature={})


@pytest.fixture
def compiler(monkeypatch):
    """Answers compiles in any order; knows what was asked."""
    from kprof.compiler import versions
    from kprof.targets import target
    from kprof.tuning.trials import changes

    # They take what is replaced here by name: imported meanwhile, they would keep it.
    for taker in ("recorded.advise", "recorded.knobs", "trials", "trials.search", "trials.analysed"):
        import_module(f"kprof.tuning.{taker}")
    made = SimpleNamespace(
        options=[],
        bad=set(),
        order=lambda found: found,
        neighbours=[],
        asked=[],
        configs=[],
        workers=None,
        closed=False,
    )

    def jobs_of(spec, machine, options, _product=None):
        made.options.append(options)
        if options.config.get("BLOCK") == 13:
            raise KprofError("13 is no power of two")
        return (TargetJob(request(len(made.options)), machine, "add", None, {}),)

    def compile_many(requests, workers, *, cache, pool):
        assert cache
        made.workers = workers
        given = list(requests)
        done = [
            CompileOutcome(one, index=n, compiled=None if n in made.bad else one.function)
            for n, one in enumerate(given)
        ]
        try:
            yield from made.order(done)
        finally:
            made.closed = True

    def neighbours(spec, problem, config, machine, rules, *, version):
        made.asked.append((problem, dict(config), machine.name, set(rules), version))
        return list(made.neighbours)

    analysed = import_module("kprof.tuning.trials.analysed")
    monkeypatch.setattr(analysed, "compile_many", compile_many)
    monkeypatch.setattr(analysed, "measure", lambda report, machine, copies: None)
    monkeypatch.setattr(versions, "installed", lambda: SimpleNamespace(numbers=(3, 9)))
    monkeypatch.setattr(import_module("kprof.targets.jobs"), "jobs_of", jobs_of)
    monkeypatch.setattr(import_module("kprof.tuning.trials.search"), "jobs_of", jobs_of)
    monkeypatch.setattr(analysed, "loaded", lambda job, compiled: SimpleNamespace(name=compiled, ttgir=None))
    monkeypatch.setattr(analysed, "analyze", lambda kernel: KernelReport(name=kernel.name, arch="gfx942"))
    monkeypatch.setattr(target, "kernel_of", lambda text, arch: SimpleNamespace(entry=None, configs=made.configs))
    monkeypatch.setattr(changes, "neighbours", neighbours)
    return made


SIGNED = KernelEntry(target="k.py::add", signature="*fp32", constexpr={"BLOCK": 64}, config={"num_warps": 8})


def test_a_kernel_with_a_signature_gets_its_neighbours(compiler, tmp_path):
    """Tiles as knobs, switches in the environment; its own knobs stay where a change says nothing of them."""
    compiler.neighbours = [{"BLOCK": 32}, {"AMDGCN_USE_BUFFER_OPS": True}, {"num_warps": 2, "BLOCK": 16}]
    made = tries(subject(SIGNED, rules=["KP301"]), tmp_path, Deadline(100.0), 3)
    assert (made.tried, made.left) == (0, 3)
    found = list(made.found)
    assert [change for change, _ in found] == compiler.neighbours
    assert [report.name for _, report in found] == ["add1", "add2", "add3"]
    assert (made.tried, made.left) == (3, 0)
    assert compiler.workers == 3
    assert compiler.asked == [({}, {"num_warps": 8, "num_stages": 2, "BLOCK": 64}, "gfx942", {"KP301"}, (3, 9))]
    assert [one.config for one in compiler.options] == [
        {"BLOCK": 32, "num_warps": 8}, {"BLOCK": 64, "num_warps": 8}, {"BLOCK": 16, "num_warps": 2}
    ]  # fmt: skip
    assert [one.env for one in compiler.options] == [{}, {"AMDGCN_USE_BUFFER_OPS": "True"}, {}]
    assert all(one.constexpr == {} for one in compiler.options)
    assert all((one.signature, one.jobs) == ("*fp32", 3) for one in compiler.options)


@pytest.mark.parametrize("order", [list, lambda found: found[::-1], lambda found: [found[2], found[0], found[1]]])
def test_the_smallest_change_is_first_whichever_compile_ends_first(compiler, tmp_path, order):
    """One that does not compile, or is none, is passed over; on one worker a core by default."""
    compiler.neighbours = [{"BLOCK": n} for n in (32, 13, 16, 8)]
    compiler.order, compiler.bad = order, {1}
    made = tries(subject(SIGNED), tmp_path, Deadline(100.0))
    assert [change["BLOCK"] for change, _ in made.found] == [32, 8]
    assert (made.tried, made.left) == (3, 1)
    assert compiler.workers is None


def test_no_compile_is_begun_after_the_time(compiler, tmp_path, monkeypatch):
    """The last one at the deadline is one too many."""
    compiler.neighbours = [{"BLOCK": n} for n in (32, 16, 8)]
    clock = iter([10.0, 11.0, 11.5, 12.0])
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    made = tries(subject(SIGNED), tmp_path, Deadline(2.0))
    assert [change["BLOCK"] for change, _ in made.found] == [32, 16]
    assert (made.tried, made.left) == (2, 1)


@pytest.mark.parametrize("target", ["k.amdgcn", "k.hsaco::add", "folder.d"])
def test_what_is_compiled_already_cannot_be_tried(compiler, tmp_path, target):
    """Said before anything is looked for."""
    with pytest.raises(TargetError, match="the kernel is already compiled"):
        tries(subject(KernelEntry(target=target)), tmp_path, Deadline(1.0))


def test_of_several_configurations_that_of_the_check_is_meant(compiler, tmp_path, monkeypatch):
    """With what the entry sets on top; one that the kernel does not list any more cannot be found again."""
    monkeypatch.setattr(functions, "unwrap", lambda entry: SimpleNamespace(configs=compiler.configs))
    compiler.configs = [{"BLOCK": 32, "num_warps": 4}, {"BLOCK": 64, "num_warps": 4}]
    compiler.neighbours = [{"BLOCK": 128}]
    entry = KernelEntry(target="k.py::add", signature="*fp32", all_configs=True, config={"kpack": 2})
    list(tries(subject(entry, config={"BLOCK": 64, "kpack": 2}), tmp_path, Deadline(100.0)).found)
    assert compiler.options[-1].config == {"BLOCK": 128, "num_warps": 4, "kpack": 2}
    assert compiler.asked[-1][1]["BLOCK"] == 64
    for known in ({"BLOCK": 16, "kpack": 2}, {"BLOCK": 64, "kpack": 1}):
        with pytest.raises(TargetError, match="the kernel no longer lists its configuration"):
            tries(subject(entry, config=known), tmp_path, Deadline(100.0))


@pytest.fixture
def search(monkeypatch):
    """A search by predicted time that is made up."""
    from kprof.tuning import trials

    made = SimpleNamespace(asked=[])

    def advise(spec, machine, options, *, product, budget):
        made.asked.append((machine.name, None if product is None else product.name, options, budget))
        return SimpleNamespace(tried=7, left=2, start=SimpleNamespace(time_us=130.0))

    def reported(spec, machine, options, problem, found):
        assert found.tried == 7
        yield SimpleNamespace(change={"BLOCK": 32}, report=KernelReport(name="one", arch="gfx942"), time_us=100.0)
        yield SimpleNamespace(change={"BLOCK": 16}, report=None, time_us=None)
        yield SimpleNamespace(change={"BLOCK": 8}, report=KernelReport(name="two", arch="gfx942"), time_us=90.0)

    monkeypatch.setattr(trials, "advise", advise)
    monkeypatch.setattr(trials, "reported", reported)
    return made


def test_a_kernel_with_cases_is_searched(compiler, search, tmp_path):
    """For its GPU, within the time; what was not analysed is passed over."""
    entry = KernelEntry(target="k.py::add", shape={"N": 5}, config={"BLOCK": 64}, env={"E": "1"}, constexpr={"C": 1})
    checked = subject(entry, product="MI325X")
    made = tries(CheckSubject(entry, checked.report, case="large"), tmp_path, Deadline(9.0), 2)
    assert [(change, report.name) for change, report in made.found] == [({"BLOCK": 32}, "one"), ({"BLOCK": 8}, "two")]
    assert (made.tried, made.left, list(made.files)) == (7, 2, [])
    assert (made.last_us, made.start_us()) == (90.0, 130.0)
    ((arch, product, options, budget),) = search.asked
    assert (arch, product) == ("gfx942", "MI325X")
    assert budget == pytest.approx(9.0, abs=1.0)
    assert (options.config, options.sizes, options.case) == ({"BLOCK": 64}, {"N": 5}, "large")
    assert (options.env, options.constexpr, options.jobs) == ({"E": "1"}, {"C": 1}, 2)
    tries(subject(entry), tmp_path, Deadline(9.0))
    assert search.asked[-1][:2] == ("gfx942", None)


def test_a_bundled_kernel_is_searched_by_its_name(compiler, search, tmp_path):
    """It has no file here; of several configurations that of the check."""
    compiler.configs = [{"BLOCK": 64}]
    list(
        tries(
            subject(KernelEntry(target="softmax", all_configs=True), config={"BLOCK": 64}), tmp_path, Deadline(9.0)
        ).found
    )
    assert search.asked[-1][2].config == {"BLOCK": 64}


@pytest.fixture
def recording(monkeypatch, tmp_path):
    """A recorded kernel whose program makes its launch again, but not with a tile of 3; what is asked is noted."""
    from kprof.captures import reader
    from kprof.targets import recompile
    from kprof.tuning.recorded import knobs

    made = SimpleNamespace(asked=[], closed=False, how="compiler options, and tiles as the program launches them")
    job = TargetJob(request(0), load("gfx942"), "add", None, {})
    each = SimpleNamespace(kernel=SimpleNamespace(product=load_gpu("MI300X")[1]))
    made.capture = SimpleNamespace(root=tmp_path, sources={"train.py": "0", "tile.json": "1"})

    def recorded(text, *, all_configs):
        made.asked.append((text, all_configs))
        return (each,), None

    def jobs(problem, config):
        made.asked.append((problem, config))
        if config["BLOCK"] == 3:
            raise KprofError("no power of two")
        return [job]

    own = SimpleNamespace(
        knobs={"num_warps": 4, "BLOCK": 64},
        problems=("as recorded",),
        jobs=jobs,
        program=SimpleNamespace(ready="ready"),
    )

    @contextmanager
    def opened(one, product, *, jobs):
        made.asked.append((one is each, product, jobs))
        try:
            yield own, made.how
        finally:
            made.closed = True

    def changes_of(subject, ready, rules):
        made.asked.append((subject is own, ready, rules))
        return lambda knobs: [{"num_warps": 8}, {"BLOCK": 3}, {"BLOCK": 32}]

    monkeypatch.setattr(recompile, "recorded", recorded)
    monkeypatch.setattr(import_module("kprof.tuning.recorded.advise"), "opened", opened)
    monkeypatch.setattr(knobs, "changes_of", changes_of)
    monkeypatch.setattr(reader, "read", lambda text: (made.asked.append(text), made.capture)[1])
    checked = subject(KernelEntry(target="captures/t"), rules=["KP301"])
    made.subject = CheckSubject(checked.entry, checked.report, recorded="captures/t::abc")
    return made


def test_a_recorded_kernel_gets_options_and_tiles_that_its_program_can_launch(compiler, recording, tmp_path):
    """Its program is asked for each; the lines that set them may be in the Python files that it came from."""
    made = tries(recording.subject, tmp_path, Deadline(100.0), 2)
    assert (made.tried, made.left, made.how, list(made.files)) == (0, 0, "", [tmp_path / "train.py"])
    assert [change for change, _ in made.found] == [{"num_warps": 8}, {"BLOCK": 32}]
    assert (made.tried, made.left, made.how) == (3, 0, recording.how)
    assert recording.asked == [
        ("captures/t::abc", True),
        "captures/t",
        (True, None, 2),
        (True, "ready", {"KP301"}),
        ("as recorded", {"num_warps": 8, "BLOCK": 64}),
        ("as recorded", {"num_warps": 4, "BLOCK": 3}),
        ("as recorded", {"num_warps": 4, "BLOCK": 32}),
    ]
    assert recording.closed
    recording.capture.sources = None
    assert list(tries(recording.subject, tmp_path, Deadline(100.0)).files) == []


def test_the_program_ends_with_the_first_cure(compiler, recording, tmp_path):
    """Who looks no further leaves nothing running."""
    made = tries(recording.subject, tmp_path, Deadline(100.0))
    assert next(made.found)[0] == {"num_warps": 8}
    assert not recording.closed
    made.close()
    assert recording.closed


def test_who_looks_no_further_ends_the_compiles(compiler, tmp_path):
    """The workers are let go with the first cure."""
    compiler.neighbours = [{"BLOCK": 32}, {"BLOCK": 16}]
    made = tries(subject(SIGNED), tmp_path, Deadline(100.0))
    assert next(made.found)[0] == {"BLOCK": 32}
    assert not compiler.closed
    made.found.close()
    assert compiler.closed
    assert (made.tried, made.left) == (1, 1)
