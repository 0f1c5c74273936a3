"""Several files: found in folders, done in processes and on a Dask cluster, failures told beside results."""

import sys

import pytest

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import load
from kprof.inputs.torch_profiler.tables import write_tables
from kprof_analyzers.profiles.timeline import workers
from kprof_analyzers.profiles.timeline.files import Failed, each_file, open_trace, trace_files
from kprof_analyzers.profiles.timeline.steps import kernels_step, shares_step, summary_step

PROTON = (
    '[{"children": [{"children": [], "frame": {"name": "gemm", "type": "function"}, "metrics": {"count": 1, '
    '"time (ns)": 70}}], "frame": {"name": "ROOT", "type": "function"}, "metrics": {}}, {"HIP": {}}]'
)


@pytest.fixture
def folder(tmp_path, kineto):
    """Two ranks, one of them packed, a Proton profile, a broken file and something else."""
    for rank in range(2):
        builder = kineto.small_model(kineto.Builder(), layers=rank + 1)
        builder.write(tmp_path / (f"rank_{rank}.json" + (".gz" if rank else "")))
    (tmp_path / "p.hatchet").write_text(PROTON)
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "broken.json").write_text("nothing")
    return tmp_path


def test_a_folder_is_searched(folder):
    """By ending, kinds by content, in order."""
    found = [(f.path.removeprefix(str(folder) + "/"), f.kind) for f in trace_files([folder])]

    assert found == [
        ("p.hatchet", "proton"),
        ("rank_0.json", "kineto"),
        ("rank_1.json.gz", "kineto"),
        ("sub/broken.json", "kineto"),
    ]


def test_a_directory_of_tables_stands_for_its_trace(folder, tmp_path):
    """Its answers are those of the trace, with no JSON read."""
    trace = load(folder / "rank_0.json")
    write_tables(trace, folder / "tables", "parquet")
    (file,) = trace_files([folder / "tables"])

    assert file.kind == "tables"
    assert open_trace(file).launches == trace.launches
    from_tables, from_trace = shares_step(file), shares_step(trace_files([folder / "rank_0.json"])[0])
    assert from_tables.breakdown == from_trace.breakdown
    assert summary_step(file).kernel_ns == sum(a.duration_ns for a in trace.activities)


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_file_once_in_order_failures_included(folder, jobs):
    """Also in processes: four results for four files, the broken one in words."""
    results = list(each_file(kernels_step, trace_files([folder]), jobs=jobs))

    assert [type(r).__name__ for r in results] == ["Kernels", "Kernels", "Kernels", "Failed"]
    assert [len(r.kernels) for r in results[:3]] == [1, 5, 5]
    assert isinstance(results[3], Failed)
    assert "not JSON" in results[3].message


def test_on_a_dask_cluster_of_two_worker_processes(folder, monkeypatch):
    """The step runs in worker processes of a real local cluster and gives what it gives here."""
    pytest.importorskip("distributed")
    import os
    import warnings
    from pathlib import Path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from distributed import LocalCluster

        # The workers are fresh processes: they find the packages as this one does.
        roots = [str(Path(sys.modules[m].__file__).parents[1]) for m in ("kprof", "kprof_analyzers")]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(roots))
        files = [f for f in trace_files([folder]) if "broken" not in f.path] * 3
        with LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster:
            pids = set(each_file(_pid, files, scheduler=cluster.scheduler_address))
            remote = list(each_file(summary_step, files, scheduler=cluster.scheduler_address))
    assert remote == list(each_file(summary_step, files))
    assert os.getpid() not in pids
    assert len(pids) == 2


def _pid(file) -> int:  # the step's signature
    """Which process did it; slow enough that both workers get some."""
    import os
    import time

    time.sleep(0.2)
    return os.getpid()


def test_a_scheduler_that_is_not_there_is_a_message(folder, monkeypatch):
    """After a bounded wait."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "_CONNECT_SECONDS", 1)
    with pytest.raises(KprofError, match="cannot reach the Dask scheduler"):
        list(each_file(summary_step, trace_files([folder / "rank_0.json"]), scheduler="tcp://127.0.0.1:1"))


def test_what_is_not_there(tmp_path):
    """A missing path, and a folder without traces."""
    with pytest.raises(KprofError, match="no such file"):
        trace_files([tmp_path / "nowhere"])
    with pytest.raises(KprofError, match="no traces"):
        trace_files([tmp_path])


def test_hundreds_of_traces_in_bounded_memory(tmp_path, kineto):
    """A folder of 300. Each file's tables are gone when the next is read: forty more take no more than small sums."""
    import tracemalloc

    builder = kineto.small_model(kineto.Builder(), layers=10)
    data = builder.text()
    for number in range(300):
        (tmp_path / f"rank_{number}.json").write_bytes(data)
    files = trace_files([tmp_path])
    next(iter(each_file(shares_step, files[:1])))
    peaks = []
    # Twice: what another thread of the process allocates meanwhile counts too.
    for many in (5, 45, 45):
        tracemalloc.start()
        try:
            totals = [r.breakdown.total_ns for r in each_file(shares_step, files[:many])]
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert totals == [720_000] * many
    # Each file is 34 KB of text and several times that in memory. Counting allocations takes long: not over all files.
    most = min(peaks[1:])
    assert most - peaks[0] < 10 * len(data)
    assert most < 30_000_000
    assert [r.breakdown.total_ns for r in each_file(shares_step, files)] == [720_000] * 300
