"""Compare kprof with the tables that TraceLens' own tests expect, and print a row per trace.

python validation/tracelens_expectations.py CHECKOUT/tests/traces

A trace's expected tables are next to it, in a folder whose name ends in ``_perf_report_csvs``. A number agrees,
differs because of a named definition, or is wrong. The exit status is 1 if a number is wrong.
"""

import csv
import sys
from collections import Counter, defaultdict
from pathlib import Path

from kprof.inputs.torch_profiler import load
from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof_analyzers.profiles.timeline.breakdown import device_times
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.top import top_operators

_REPORT = "_perf_report_csvs"
_UNLAUNCHED = "TraceLens leaves out activities without a launch"
_COMPUTING = "a memset is computing for TraceLens and memory for kprof"
_ABSENT = "TraceLens leaves out memsets"
_COPIES = "copies count for the operator that launched them in kprof"
_API = "TraceLens counts an API call as an operator"


class Tally:
    """Numbers of values that agree, that differ because of a definition, and that are wrong."""

    def __init__(self) -> None:
        self.agreeing = 0
        self.defined: Counter[str] = Counter()
        self.wrong: list[str] = []

    def compare(self, what: str, theirs: float, *mine: tuple[str, float], slack: float) -> None:
        """Compare a number with each of our values; all but the first have the name of a definition."""
        for definition, value in mine:
            if abs(theirs - value) <= slack:
                if definition:
                    self.defined[definition] += 1
                else:
                    self.agreeing += 1
                return
        self.wrong.append(f"{what}: {theirs:,.0f} expected, {mine[0][1]:,.0f} found")


def rows_of(report: Path, name: str) -> list[dict[str, str]]:
    """Return a table of a report; empty if it does not exist."""
    if not (report / name).is_file():
        return []
    with (report / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def timeline(report: Path, trace: LinkedTrace, path: Path, tally: Tally) -> None:
    """Compare busy, idle and computing time, exposed communication and exposed copies."""
    theirs = {row["type"]: float(row["time ms"]) * 1e6 for row in rows_of(report, "gpu_timeline.csv")}
    if not theirs:
        return
    categories = load_categories()
    variants = [
        (" and ".join(filter(None, (launches, memsets))), device_times(variant(path, launches, memsets), categories)[0])
        for memsets in ("", _COMPUTING, _ABSENT)
        for launches in ("", _UNLAUNCHED)
    ]
    fields = {
        "busy_time": "busy_ns", "idle_time": "idle_ns", "computation_time": "compute_ns",
        "exposed_comm_time": "exposed_communication_ns", "exposed_memcpy_time": "exposed_memory_ns",
    }  # fmt: skip
    # TraceLens adds doubles of microseconds since boot, which have errors of up to 1 ns, and writes single precision.
    slack = len(trace.activities) + 1e-6 * variants[0][1].span_ns + 1
    for name, field in fields.items():
        tally.compare(name, theirs[name], *((words, getattr(each, field)) for words, each in variants), slack=slack)


def kernels(report: Path, trace: LinkedTrace, launched: LinkedTrace, tally: Tally) -> None:
    """Compare time and number of each kernel."""
    times: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for row in rows_of(report, "kernel_summary.csv"):
        times[row["Kernel name"]] += float(row["Kernel duration (µs)_sum"]) * 1000
        counts[row["Kernel name"]] += int(float(row["Kernel duration (µs)_count"]))
    sums = [_by_name(each) for each in (trace, launched)]
    for name, time in times.items():
        (all_times, all_counts), (some_times, some_counts) = sums
        tally.compare(name, time, ("", all_times[name]), (_UNLAUNCHED, some_times[name]), slack=2 + 1e-6 * time)
        tally.compare(name, counts[name], ("", all_counts[name]), (_UNLAUNCHED, some_counts[name]), slack=0)


def _by_name(trace: LinkedTrace) -> tuple[Counter[str], Counter[str]]:
    times: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for activity in trace.activities:
        times[activity.name] += activity.duration_ns
        counts[activity.name] += 1
    return times, counts


def operators(report: Path, trace: LinkedTrace, tally: Tally) -> None:
    """Compare the own GPU time of each operator."""
    ours = {each.name: each.direct_ns for each in top_operators(trace)}
    copied: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for activity in trace.activities:
        if activity.kind != "kernel" and activity.operator >= 0:
            copied[trace.operators[activity.operator].name] += activity.duration_ns
        if activity.operator < 0 <= activity.launch:
            calls[trace.launches[activity.launch].name] += activity.duration_ns
    for row in rows_of(report, "ops_summary.csv"):
        name, theirs = row["name"], float(row["total_direct_kernel_time_sum"]) * 1000
        mine = ours.get(name, 0)
        values = ("", mine), (_COPIES, mine - copied[name]), (_API, calls[name])
        tally.compare(name, theirs, *values, slack=20 + 1e-5 * theirs)


def variant(path: Path, launches: str, memsets: str) -> LinkedTrace:
    """Return the trace according to the named definitions."""
    trace = load(path)
    if memsets == _COMPUTING:
        for row, each in enumerate(list(trace.activities)):
            if each.kind == "memset":
                trace.activities.update(row, kind="kernel", name="computing")
    rows = enumerate(trace.activities)
    left_out = {"memset"} if memsets == _ABSENT else set()
    trace.activities.keep(
        [row for row, each in rows if (each.launch >= 0 or not launches) and each.kind not in left_out]
    )
    return trace


def main() -> int:
    """Compare all traces below the named folder."""
    failed = 0
    folder = Path(sys.argv[1])
    for report in sorted(folder.rglob(f"*{_REPORT}")):
        path = report.with_name(report.name.removesuffix(_REPORT) + ".json.gz")
        if not path.is_file():
            continue
        tally, trace, launched = Tally(), load(path), variant(path, _UNLAUNCHED, "")
        timeline(report, trace, path, tally)
        kernels(report, trace, launched, tally)
        operators(report, trace, tally)
        defined = "; ".join(f"{count} {words}" for words, count in tally.defined.items()) or "-"
        print(f"| `{path.relative_to(folder)}` | {tally.agreeing} | {defined} | {len(tally.wrong)} |")
        for words in tally.wrong:
            print(f"  wrong: {words}", file=sys.stderr)
        failed += len(tally.wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
