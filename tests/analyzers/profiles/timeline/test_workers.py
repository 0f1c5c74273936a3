"""Workers that die in the middle: the results are those of one process, and a file that no worker survives is named."""

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.errors import InputError
from kprof_analyzers.profiles.timeline import workers
from kprof_analyzers.profiles.timeline.files import Failed, TraceFile, each_file, trace_files
from kprof_analyzers.profiles.timeline.steps import shares_step

MANY = 60
"""Many times what two processes are given ahead, so that one that dies in the middle leaves files before and after."""


@pytest.fixture
def folder(tmp_path: Path, kineto: Any) -> Path:
    """Traces of a few layers, no two alike."""
    (tmp_path / "traces").mkdir()
    for number in range(MANY):
        builder = kineto.small_model(kineto.Builder(), start=1000.0 + number, layers=1 + number % 3)
        builder.run(f"kernel_{number}", 5000.0, 1.0 + number)
        builder.write(tmp_path / "traces" / f"rank_{number:03}.json")
    return tmp_path / "traces"


def _dies_once(file: TraceFile, mark: str, at: str) -> Any:
    """The step, but the first process that comes to one of the files is killed."""
    if at in file.path:
        try:
            Path(mark).open("x").close()
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return shares_step(file)


def _dies_always(file: TraceFile, at: str) -> str:
    if at in file.path:
        os.kill(os.getpid(), signal.SIGKILL)
    return file.path


def _slowly(file: TraceFile) -> tuple[int, Any]:
    time.sleep(0.01)
    return os.getpid(), shares_step(file)


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a cluster with two worker processes; those that die are started anew."""
    pytest.importorskip("distributed", reason="Dask is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from distributed import LocalCluster

        # The workers are fresh processes: they find the packages and this module as this one does.
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        with LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster:
            yield cluster.scheduler_address


def test_processes_of_which_one_is_killed_give_what_one_process_gives(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = trace_files([folder])
    mark = tmp_path / "killed"
    found = list(each_file(_dies_once, files, jobs=2, mark=str(mark), at="rank_030"))
    assert mark.exists()
    assert "a worker process died" in capfd.readouterr().err
    assert found == [shares_step(file) for file in files]


def test_a_cluster_of_which_a_worker_is_killed_gives_what_one_process_gives(
    folder: Path, tmp_path: Path, scheduler: str
) -> None:
    files = trace_files([folder])
    mark = tmp_path / "killed"
    found = list(each_file(_dies_once, files, scheduler=scheduler, mark=str(mark), at="rank_030"))
    assert mark.exists()
    assert found == [shares_step(file) for file in files]


def test_a_script_without_a_guard_runs_once(folder: Path, tmp_path: Path) -> None:
    """Processes do not import the program that asks, and small files are read without any."""
    script = tmp_path / "script.py"
    paths = [str(folder / f"rank_{number:03}.json") for number in range(2)]
    script.write_text(f"import kprof\nprint('begun')\nprint(len(kprof.trace_top(*{paths}, jobs=2).traces))\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, env=environment, timeout=300
    )
    assert (ran.returncode, ran.stdout) == (0, "begun\n2\n"), ran.stderr


def test_small_files_are_read_in_this_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kprof_analyzers.profiles.timeline.workers.in_processes", None)
    files = trace_files([folder])[:2]
    assert list(each_file(shares_step, files, jobs=0)) == [shares_step(file) for file in files]


@pytest.mark.slow
def test_a_worker_killed_from_outside_changes_nothing(folder: Path) -> None:
    """As the system does it when memory runs out: in whatever it is at."""
    files = trace_files([folder])[:30]
    found, killed = [], 0
    for pid, shares in each_file(_slowly, files, jobs=2):  # type: ignore[misc]  # none fails
        found.append(shares)
        if len(found) == 10:
            os.kill(pid, signal.SIGKILL)
            killed = pid
    assert killed
    assert found == [shares_step(file) for file in files]


def test_a_file_that_no_process_survives_is_named_and_the_others_are_read(folder: Path) -> None:
    files = trace_files([folder])[:8]
    found = list(each_file(_dies_always, files, jobs=2, at="rank_003"))
    assert [type(one) for one in found] == [str] * 3 + [Failed] + [str] * 4
    assert isinstance(found[3], Failed)
    assert "rank_003.json: the worker processes that read it died" in found[3].message
    assert found[:3] + found[4:] == [file.path for file in files if "rank_003" not in file.path]


def test_a_file_that_no_worker_of_a_cluster_survives_is_named(folder: Path, scheduler: str) -> None:
    """The scheduler gives up after some workers; here after the first."""
    from distributed import Client

    with Client(scheduler, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        client.run_on_scheduler(_allow_no_death)
    *others, deadly = trace_files([folder])[:4]
    # Alone: whatever else a dying worker holds is suspected, too.
    (found,) = each_file(_dies_always, [deadly], scheduler=scheduler, at="rank_003")
    assert isinstance(found, Failed)
    assert "the worker processes that read it died" in found.message
    assert list(each_file(_dies_always, others, scheduler=scheduler, at="rank_003")) == [one.path for one in others]


def _allow_no_death(dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = 0


def test_a_cluster_without_workers_is_a_message(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a bounded wait, instead of one without an end."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr(workers, "_WORKERS_SECONDS", 0.2)
    nobody = distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50)
    with nobody as cluster, pytest.raises(InputError, match="has no workers"):
        kprof.trace_top(folder, scheduler=cluster.scheduler_address)
