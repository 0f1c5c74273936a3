"""The critical path of small traces whose path is plain, and of published ones: no hole, no more than the run."""

from pathlib import Path
from typing import Any

import pytest

import kprof
from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.critical_path import CriticalPath, critical_paths

SAMPLES = Path(__file__).resolve().parents[5] / "shared" / "samples" / "kineto"
TRACES = sorted(SAMPLES.rglob("*.json.gz")) if SAMPLES.is_dir() else []


def path_of(builder: Any, folder: Path) -> CriticalPath:
    (found,) = critical_paths(load(builder.write(folder / "trace.json")))
    return found


def told(found: CriticalPath) -> list[tuple[str, str, float]]:
    """Kind, name and microseconds of each part."""
    return [(part.kind, part.name, part.duration_ns / 1000) for part in found.parts]


def test_kernels_one_after_the_other_are_the_path(kineto: Any, tmp_path: Path) -> None:
    """All were launched long before they ran: the CPU is on the path for the first one only."""
    made = kineto.Builder()
    calls = [made.launch(1000.0 + 10 * number, 5) for number in range(3)]
    for number, call in enumerate(calls):
        made.kernel(f"kernel_{number}", 1010.0 + 100 * number, 98.0, call)
    found = path_of(made, tmp_path)
    assert told(found) == [
        ("cpu", "", 5), ("launch", "hipLaunchKernel", 5),
        ("kernel", "kernel_0", 98), ("gap", "", 2), ("kernel", "kernel_1", 98), ("gap", "", 2),
        ("kernel", "kernel_2", 98),
    ]  # fmt: skip
    assert found.parts[0].doing == {"hipLaunchKernel": 5000}
    assert found.span_ns == 308_000
    assert found.kinds == {"kernel": 294_000, "cpu": 5_000, "launch": 5_000, "gap": 4_000}
    assert found.assumed == 0


def test_where_the_cpu_is_slower_its_work_is_the_path(kineto: Any, tmp_path: Path) -> None:
    """Kernels of 3 us, launched every 50: only the last one is on it."""
    made = kineto.Builder()
    for number in range(4):
        made.op("aten::slow", 1000.0 + 50 * number, 40, number + 1)
        made.run(f"kernel_{number}", 1045.0 + 50 * number, 3.0, at=1030.0 + 50 * number)
    found = path_of(made, tmp_path)
    assert [part for part in told(found) if part[0] == "kernel"] == [("kernel", "kernel_3", 3)]
    (cpu,) = (part for part in found.parts if part.kind == "cpu")
    # From the first call to the return of the last one: 150 us and the call itself.
    assert cpu.duration_ns == 152_000
    # Between operators there are 10 us three times, and calls of 2 us; 8 us of each operator follow its call.
    assert cpu.doing == {"aten::slow": 114_000, "(no operator)": 30_000, "hipLaunchKernel": 8_000}


def test_a_wait_for_the_gpu_leads_from_the_cpu_to_what_was_waited_for(kineto: Any, tmp_path: Path) -> None:
    made = kineto.Builder()
    made.run("long_one", 1010.0, 500.0, at=1000.0)
    made.add("cuda_runtime", "hipDeviceSynchronize", 1005.0, 510.0, correlation=99)
    made.run("after", 1560.0, 10.0, at=1550.0)
    assert told(path_of(made, tmp_path)) == [
        ("cpu", "", 2), ("launch", "hipLaunchKernel", 8), ("kernel", "long_one", 500),
        ("synchronisation", "hipDeviceSynchronize", 5), ("cpu", "", 37), ("launch", "hipLaunchKernel", 8),
        ("kernel", "after", 10),
    ]  # fmt: skip


def test_a_wait_of_another_thread_counts_and_is_told(kineto: Any, tmp_path: Path) -> None:
    """Autograd's thread launches what the main thread asks for after it waited."""
    made = kineto.Builder()
    made.run("forward", 1010.0, 500.0, at=1000.0)
    made.add("cuda_runtime", "hipStreamSynchronize", 1005.0, 510.0, correlation=99)
    call = made.launch(1550.0, 2, tid=200)
    made.kernel("backward", 1560.0, 10.0, call)
    found = path_of(made, tmp_path)
    assert [name for _, name, _ in told(found)].count("hipStreamSynchronize") == 1
    assert found.assumed == 1


def test_another_stream_is_waited_for_where_all_else_was_ready(kineto: Any, tmp_path: Path) -> None:
    """A kernel begins when a collective of another stream ends."""
    made = kineto.Builder()
    first, collective, last = (made.launch(1000.0 + 5 * number, 2) for number in range(3))
    made.kernel("first", 1020.0, 10.0, first)
    made.kernel("ncclDevKernel", 1025.0, 200.0, collective, stream=7)
    made.kernel("last", 1226.0, 20.0, last)
    found = path_of(made, tmp_path)
    assert [name for kind, name, _ in told(found) if kind == "kernel"] == ["ncclDevKernel", "last"]
    assert found.assumed == 1


def test_a_shorter_part_shortens_the_run_by_no_more_than_its_time(kineto: Any, tmp_path: Path) -> None:
    """What is not on the path shortens nothing: the run is built again without it."""

    def run(side: float, main: float) -> CriticalPath:
        made = kineto.Builder()
        calls = [made.launch(1000.0 + 5 * number, 2) for number in range(3)]
        made.kernel("first", 1020.0, 10.0, calls[0])
        made.kernel("side", 1030.0, side, calls[1], stream=7)
        made.kernel("main", 1030.0, main, calls[2])
        return path_of(made, tmp_path)

    found = run(50.0, 300.0)
    assert "side" not in {one.name for one in found.times}
    assert run(1.0, 300.0).span_ns == found.span_ns
    (main,) = (one for one in found.times if one.name == "main")
    assert found.span_ns - run(50.0, 10.0).span_ns <= main.total_ns


@pytest.mark.parametrize("trace", TRACES, ids=[path.stem for path in TRACES])
def test_published_traces(trace: Path) -> None:
    """Part after part without a hole, to the end of the rank's last activity, and every row in the sums."""
    linked = load(trace)
    paths = critical_paths(linked)
    assert len(paths) == len({one.rank for one in linked.activities})
    for found in paths:
        ends = [one.start_ns + one.duration_ns for one in linked.activities if one.rank == found.rank]
        assert all(part.duration_ns >= 0 for part in found.parts)
        assert all(
            one.start_ns + one.duration_ns == after.start_ns
            for one, after in zip(found.parts, found.parts[1:], strict=False)
        )
        assert found.parts[-1].start_ns + found.parts[-1].duration_ns == max(ends)
        assert sum(found.kinds.values()) == found.span_ns == sum(one.total_ns for one in found.times)


def test_a_trace_without_gpu_activity(tmp_path: Path, kineto: Any) -> None:
    builder = kineto.Builder()
    builder.op("aten::mm", 1000.0, 5, 1)
    found = kprof.trace_path(builder.write(tmp_path / "cpu.json"))
    assert [(one.span_ns, one.parts) for one in found.paths] == [(0, [])]
    # What was met while reading comes with it: that nothing of the GPU is recorded.
    assert found.summary.startswith("incomplete: no GPU activity is recorded; ")
    assert found.summary.endswith("no GPU activity in these traces")
