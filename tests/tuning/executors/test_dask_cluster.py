"""A real Dask cluster of two worker processes, one of which is killed half-way."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kprof.errors import KprofError
from kprof.tuning.work import Judge

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

pytestmark = pytest.mark.triton

START = "from distributed.cli.dask_{what} import main; main()"


def process(what: str, *arguments: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A Dask scheduler or worker."""
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", START.format(what=what), *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )


def address_in(place: Path) -> str:
    """A scheduler's address, from the file that it writes."""
    deadline = time.monotonic() + 60
    # It is there before it is written.
    while not (place.exists() and place.read_text().rstrip().endswith("}")) and time.monotonic() < deadline:
        time.sleep(0.1)
    return str(json.loads(place.read_text())["address"])


@pytest.fixture
def cluster(stub_judge: Any, tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]], Path]]:
    """A scheduler's address; its process and those of its two workers; the file in which compiles are noted."""
    del stub_judge
    log, place = tmp_path / "log", tmp_path / "scheduler.json"
    environment = {
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        "STUB_JUDGE_LOG": str(log),
        "STUB_JUDGE_WAIT": "0.3",
        "DASK_DISTRIBUTED__ADMIN__LARGE_GRAPH_WARNING_THRESHOLD": "1GB",
    }
    common = ["--scheduler-file", str(place), "--no-dashboard"]
    running = [process("scheduler", "--host", "127.0.0.1", "--port", "0", *common, environment=environment)]
    options = ["--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path), "--memory-limit", "0"]
    running += [process("worker", *options, *common, environment=environment) for _ in range(2)]
    yield address_in(place), running, log
    for one in reversed(running):
        one.kill()
        one.wait()


def search(address: str, judge: Any, journal: Path, report: Callable[[Any], None] | None = None) -> Any:
    """Sixteen configurations of a copy kernel on the cluster."""
    from kprof.hardware.machine import load
    from kprof.targets.library import load as load_kernel
    from kprof.tuning.executors.dask_cluster import DaskExecutor
    from kprof.tuning.journal import TuningJournal
    from kprof.tuning.problems import problems
    from kprof.tuning.search import Search
    from kprof.tuning.space import Space
    from kprof.tuning.subject import KernelSubject

    kernel = load_kernel("memory_copy")
    subject = KernelSubject(kernel, load("gfx942"), None, tuple(problems(kernel, "gfx942", [])))
    space = Space("a test", {"num_warps": (1, 2, 4, 8), "waves_per_eu": (0, 1, 2, 3)})
    executor = DaskExecutor(judge, address, files=lambda: dict(subject.dependencies()))
    return Search(subject, space, judge=judge, executor=executor, journal=TuningJournal(journal), report=report).run()


@pytest.mark.slow
def test_one_worker_is_killed(cluster: Any, stub_judge: Any, tmp_path: Path) -> None:
    """Nothing is lost and nothing is done twice, but for what the dead worker had in work."""
    address, (_, worker, _), log = cluster
    journal = tmp_path / "search.jsonl"
    killed: list[int] = []

    def report(progress: Any) -> None:
        if progress.compiled >= 6 and not killed:
            killed.append(progress.compiled)
            worker.send_signal(signal.SIGKILL)

    found = search(address, stub_judge, journal, report)

    assert killed
    assert found.ended == "complete"
    assert found.progress.done == 16
    assert not found.failed
    assert len(found.ranked[0]) + found.duplicates + found.progress.derived == 16
    assert found.ranked[0][0].time_us <= found.ranked[0][-1].time_us
    entries = [json.loads(line)["key"] for line in journal.read_text().splitlines()]
    assert len(entries) == len(set(entries))
    done = Counter(json.loads(line)[0] for line in log.read_text().splitlines())
    again = {label: times for label, times in done.items() if times > 1}
    assert len(again) <= 4, f"only what was given out and not handed over: {again}"
    assert len({json.loads(line)[1] for line in log.read_text().splitlines()}) == 2, "both workers had a share"


@pytest.mark.slow
def test_the_scheduler_dies(cluster: Any, stub_judge: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear message, soon, and what was found is in the journal."""
    from kprof.tuning.executors import dask_cluster

    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 3)
    address, (scheduler, *_), _ = cluster
    journal = tmp_path / "search.jsonl"

    def report(progress: Any) -> None:
        if progress.compiled == 4:
            scheduler.send_signal(signal.SIGKILL)

    with pytest.raises(KprofError, match=f"lost the scheduler at {address}; results so far are kept"):
        search(address, stub_judge, journal, report)
    assert len(journal.read_text().splitlines()) >= 4


class _Result:
    """A future that ends at once, as ``status`` says."""

    def __init__(self, status: str, value: Any) -> None:
        self.status, self._value = status, value

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        call(self)

    def result(self, timeout: float) -> Any:
        assert timeout > 0
        return self._value

    def release(self) -> None:
        pass


class _Client:
    """Loses the results of the first tasks that it is given: with their worker, or with its connection."""

    status = "running"

    def __init__(self, losses: list[str]) -> None:
        self.losses, self.keys = losses, list[str]()

    def nthreads(self) -> dict[str, int]:
        return {"a": 1}

    def submit(self, _function: Any, payload: dict[str, Any], *, key: str, **_options: Any) -> _Result:
        self.keys.append(key)
        status = self.losses.pop(0) if self.losses else "finished"
        return _Result(status, {"key": payload["key"], "status": "ok"})


def test_what_is_lost_on_the_way_is_done_again(stub_judge: Any) -> None:
    """A result whose worker died after it was made, or whose connection broke, is asked for once more: by a new key."""
    from kprof.compiler.request import CompileRequest
    from kprof.tuning.executors.dask_cluster import DaskExecutor
    from kprof.tuning.work import TuningTask

    tasks = [TuningTask(key, CompileRequest("k.py", "f", "gfx942", {}), {}) for key in "abc"]
    client = _Client(["lost", "cancelled", "pending"])
    executor = DaskExecutor(stub_judge, "tcp://nowhere:1")

    answers = list(executor._run(client, iter(tasks), {}))

    assert sorted(answer.key for answer in answers) == ["a", "b", "c"]
    assert len(client.keys) == len(set(client.keys)) == 6


def test_a_worker_with_another_triton_or_other_files_refuses() -> None:
    """Its answers would be about something else."""
    from kprof.compiler.versions import installed
    from kprof.tuning.executors.dask_worker import run_task

    other = {"triton": "0.1", "files": {}, "key": "x"}
    with pytest.raises(KprofError, match=r"a worker has Triton .*, but the search uses 0\.1"):
        run_task(other)
    with pytest.raises(KprofError, match=r"sees other contents of /nowhere\.py"):
        run_task({**other, "triton": installed().version, "files": {"/nowhere.py": "0"}})


def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address without a scheduler, and one that is none, are told at once."""
    from kprof.tuning.executors import dask_cluster

    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 1)
    judge = Judge("none:none", "1")

    with pytest.raises(KprofError, match="takes an address such as tcp://host:8786"):
        dask_cluster.DaskExecutor(judge, "host:8786")
    with pytest.raises(KprofError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        list(dask_cluster.DaskExecutor(judge, "tcp://127.0.0.1:9").run(iter(())))
