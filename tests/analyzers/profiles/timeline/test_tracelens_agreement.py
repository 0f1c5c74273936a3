"""Agreement with the reports that TraceLens left beside the published traces; each difference has its reason."""

import csv
import sys
from collections import Counter
from pathlib import Path

import pytest

from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.breakdown import device_times
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.top import top_kernels, top_operators

SAMPLES = Path(__file__).resolve().parents[5] / "shared" / "samples" / "kineto"
REPORTS = sorted(SAMPLES.rglob("*_perf_report_csvs")) if SAMPLES.is_dir() else []
NAMES = [r.relative_to(SAMPLES).as_posix() for r in REPORTS]

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


def table(report: Path, name: str) -> list[dict[str, str]]:
    """One CSV of a report."""
    with (report / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def trace_of(report: Path) -> Path:
    """The trace that a report was made from."""
    return report.parent / (report.name.removesuffix("_perf_report_csvs") + ".json.gz")


def test_there_are_reports(samples):
    """Four traces have one."""
    assert len(REPORTS) == 4


@pytest.mark.parametrize("name", NAMES)
def test_gpu_timeline(name):
    """Busy, idle, computing, exposed communication and copies.

    TraceLens adds floating-point microseconds counted from boot, where neighbouring doubles lie up to 1 ns apart, and
    writes single precision: its sums drift by up to 1 ns an activity. Ours are whole nanoseconds.
    """
    report = SAMPLES / name
    theirs = {r["type"]: float(r["time ms"]) * 1e6 for r in table(report, "gpu_timeline.csv")}
    trace = load(trace_of(report))
    (device,) = device_times(trace, load_categories())

    slack = len(trace.activities) * 1.0 + 1e-6 * device.span_ns + 1
    assert theirs["busy_time"] == pytest.approx(device.busy_ns, abs=slack)
    assert theirs["idle_time"] == pytest.approx(device.idle_ns, abs=slack)
    assert theirs["computation_time"] == pytest.approx(device.compute_ns, abs=slack)
    assert theirs["exposed_comm_time"] == device.exposed_communication_ns == 0
    assert theirs["exposed_memcpy_time"] == pytest.approx(device.exposed_memory_ns, abs=slack)


@pytest.mark.parametrize("name", NAMES)
def test_kernels(name):
    """Summed time and count of every kernel; TraceLens lists a kernel once a parent operator."""
    report = SAMPLES / name
    theirs: dict[str, list[float]] = {}
    for row in table(report, "kernel_summary.csv"):
        entry = theirs.setdefault(row["Kernel name"], [0.0, 0])
        entry[0] += float(row["Kernel duration (µs)_sum"]) * 1000
        entry[1] += int(float(row["Kernel duration (µs)_count"]))
    ours: dict[str, list[float]] = {}
    for kernel in top_kernels(load(trace_of(report)), load_categories(), transfers=True):
        entry = ours.setdefault(kernel.name, [0.0, 0])
        entry[0] += kernel.total_ns
        entry[1] += kernel.count

    for kernel, (total, count) in theirs.items():
        assert ours[kernel][1] == count, kernel
        assert ours[kernel][0] == pytest.approx(total, abs=1), kernel
    # Copies are not in its kernel table; everything else is.
    assert {k for k in ours if k not in theirs and not k.startswith("Mem")} == set()


@pytest.mark.parametrize("name", [n for n in NAMES if (SAMPLES / n / "ops_summary.csv").is_file()])
def test_operators(name):
    """Own GPU time of every operator that launches kernels; copies count with us, so aten::copy_ may be longer."""
    report = SAMPLES / name
    trace = load(trace_of(report))
    ours = {o.name: o for o in top_operators(trace)}
    copied: Counter[str] = Counter()
    for activity in trace.activities:
        if activity.kind != "kernel" and activity.operator >= 0:
            copied[trace.operators[activity.operator].name] += activity.duration_ns

    checked = 0
    for row in table(report, "ops_summary.csv"):
        theirs = float(row["total_direct_kernel_time_sum"]) * 1000
        mine = ours[row["name"]].direct_ns
        assert any(m == pytest.approx(theirs, rel=1e-5, abs=20) for m in (mine, mine - copied[row["name"]])), row[
            "name"
        ]
        checked += 1
    assert checked >= 5


@pytest.mark.parametrize("name", [n for n in NAMES if (SAMPLES / n / "GEMM.csv").is_file()])
def test_gemms(name):
    """The kernel time of all GEMM operators: the same operators, the same sum."""
    report = SAMPLES / name
    theirs: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for row in table(report, "GEMM.csv"):
        theirs[row["name"]] += round(float(row["Kernel Time (µs)_sum"]) * 1000)
        counts[row["name"]] += int(float(row["name_count"]))
    ours = {o.name: o for o in top_operators(load(trace_of(report)))}

    for operator, total in theirs.items():
        assert ours[operator].direct_ns == pytest.approx(total, rel=1e-6), operator
        assert ours[operator].calls == counts[operator], operator
