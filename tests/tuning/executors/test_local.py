"""Real workers: crashes and errors are one configuration's end, and a killed search goes on where it was."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.triton


@pytest.fixture
def tasks() -> Callable[[Any], list[Any]]:
    """Four compiles of a copy kernel for a judge."""

    def make(judge: Any) -> list[Any]:
        from kprof.hardware.machine import load
        from kprof.targets.library import load as load_kernel
        from kprof.tuning.problems import problems
        from kprof.tuning.subject import KernelSubject
        from kprof.tuning.work import task_of

        kernel = load_kernel("memory_copy")
        subject = KernelSubject(kernel, load("gfx942"), None, tuple(problems(kernel, "gfx942", [])))
        problem = subject.problems[0]
        configs = [{**subject.base(problem), "num_warps": warps} for warps in (1, 2, 4, 8)]
        jobs = [job for config in configs for job in subject.jobs(problem, config)]
        return [task_of(job, c, "MI300X", judge, {}) for job, c in zip(jobs, configs, strict=True)]

    return make


def test_a_crash_and_an_error_are_one_end_each(
    stub_judge: Any, tasks: Callable[[Any], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that aborts and a judge that raises do not touch the others."""
    from kprof.tuning.executors.local import LocalExecutor

    monkeypatch.setenv("STUB_JUDGE_DIES", "num_warps=2")
    monkeypatch.setenv("STUB_JUDGE_FAILS", "num_warps=4")
    made = tasks(stub_judge)

    answers = {answer.key: answer for answer in LocalExecutor(stub_judge, 1).run(iter(made))}

    ends = [answers[task.key] for task in made]
    assert [end.status for end in ends] == ["ok", "crashed", "failed", "ok"]
    assert ends[1].reason == "crashed: signal 6 (SIGABRT) while making a judgement"
    assert ends[2].reason == "could not be judged: ZeroDivisionError: of no use"
    assert ends[0].time_us is not None
    assert ends[0].bound == "instructions"


SEARCH = """
import json, signal, sys
from pathlib import Path
from kprof.hardware.machine import load
from kprof.targets.library import load as load_kernel
from kprof.tuning.executors.local import LocalExecutor
from kprof.tuning.journal import TuningJournal
from kprof.tuning.problems import problems
from kprof.tuning.search import Search
from kprof.tuning.space import Space
from kprof.tuning.subject import KernelSubject
from kprof.tuning.work import Judge

# Where the tests run in the background, Ctrl-C is ignored by all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
kernel = load_kernel("memory_copy")
subject = KernelSubject(kernel, load("gfx942"), None, tuple(problems(kernel, "gfx942", [])))
space = Space("a test", {"num_warps": (1, 2, 4, 8), "waves_per_eu": (0, 2)})
judge = Judge("kprof_stub_judge:judge", "1")
journal = TuningJournal(Path(sys.argv[1]))
found = Search(subject, space, judge=judge, executor=LocalExecutor(judge, 1), journal=journal).run()
end = found.progress
print(json.dumps({"looked_at": end.done, "resumed": end.resumed, "compiled": end.compiled, "compiles": end.compiles,
                  "best": dict(found.ranked[0][0].config), "ended": found.ended}))
"""


def run(journal: Path, environment: dict[str, str]) -> subprocess.Popen[str]:
    """A search in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", SEARCH, str(journal)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p), **environment},
    )


def lines(path: Path) -> Iterator[Any]:
    """Entries of a file of JSON lines; none while it is not there."""
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


@pytest.mark.slow
def test_killed_and_interrupted_searches_go_on(stub_judge: Any, tmp_path: Path) -> None:
    """After kill -9, then Ctrl-C, then a run to the end: every configuration was judged, none twice."""
    journal, log = tmp_path / "search.jsonl", tmp_path / "log"
    # Of the judgements, the one in which the search is stopped ends no earlier: it cannot be complete before.
    for stop, until, most in ((signal.SIGKILL, 2, 2), (signal.SIGINT, 5, 6)):
        process = run(journal, {"STUB_JUDGE_LOG": str(log), "STUB_JUDGE_MOST": str(most)})
        deadline = time.monotonic() + 120
        while (len(list(lines(journal))) < until or len(list(lines(log))) <= most) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(stop)
        assert process.stdout is not None
        said = process.stdout.read()
        process.stdout.close()
        process.wait()
        assert len(list(lines(journal))) >= until
    assert json.loads(said)["ended"] == "interrupted"
    known = [entry["key"] for entry in lines(journal)]

    last = run(journal, {"STUB_JUDGE_LOG": str(log)})
    assert last.stdout is not None
    found = json.loads(last.stdout.read())
    last.stdout.close()
    last.wait()

    entries = [entry["key"] for entry in lines(journal)]
    assert len(entries) == len(set(entries)), "nothing twice"
    assert set(known) <= set(entries)
    assert found["ended"] == "complete"
    assert found["looked_at"] == 8
    assert found["resumed"] + found["compiled"] == 8
    assert found["compiles"] == len(entries) - len(known)
    labels = [label for label, _, _ in lines(log)]
    assert len(labels) <= len(set(labels)) + 2, "at most the one in work when it was stopped is judged again"
