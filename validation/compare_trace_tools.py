"""Compute the same numbers of the same traces with TraceLens, HolisticTraceAnalysis and kprof.

    python validation/compare_trace_tools.py TRACE... --tracelens PYTHON --hta PYTHON [--write]

``PYTHON`` is an interpreter that has the tool: TraceLens from its repository (``pip install
git+https://github.com/AMD-AGI/TraceLens``; the package of that name on PyPI is another project), HTA from PyPI
(``pip install HolisticTraceAnalysis "pandas<3"``). In addition to the named traces, a trace made by the tests is
used. ``--write`` updates the numbers in ``docs/validation/traces_tracelens.md`` and keeps its table of features.
"""

import argparse
import csv
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kprof

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/validation/traces_tracelens.md"
MARK = "<!-- numbers: validation/compare_trace_tools.py -->"
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))

_TRACELENS = """
import sys
from TraceLens.Reporting.generate_perf_report_pytorch import main
sys.argv = ["report", "--profile_json_path", sys.argv[1], "--enable_kernel_summary", "--output_csvs_dir", sys.argv[2]]
main()
"""
_HTA = """
import json, sys, warnings
warnings.simplefilter("ignore")
from hta.trace_analysis import TraceAnalysis
asked = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
found = {"time": asked.get_temporal_breakdown(visualize=False).to_dict("records")[0]}
_, kernels = asked.get_gpu_kernel_breakdown(visualize=False, num_kernels=1000000)
found["kernels"] = kernels[["name", "sum (us)"]].values.tolist()
overlap = asked.get_comm_comp_overlap(visualize=False)
found["overlap"] = float(overlap["comp_comm_overlap_pctg"].iloc[0])
idle = asked.get_idle_time_breakdown(ranks=[0], visualize=False)[0]
found["idle"] = idle.groupby("idle_category")["idle_time"].sum().to_dict()
open(sys.argv[2] + "/hta.json", "w").write(json.dumps(found, default=float))
"""


@dataclass
class Said:
    """Results of one tool for one trace. Times are in ns.

    Attributes:
        seconds, megabytes: wall time and maximum resident size of a process that computes all results.
        problem: reason why there are no results.
        times: ``busy``, ``idle``, ``compute``, ``exposed communication``, ``exposed copies``.
        kernels: name to summed time.
        operators: name to the time of kernels that it launched itself.
        flop: operations of all calls by operator, for operators that the tool has a formula for.
        overlap: percent of the communication during which something computed.
    """

    seconds: float = math.nan
    megabytes: float = math.nan
    problem: str = ""
    times: dict[str, float] = field(default_factory=dict)
    kernels: dict[str, float] = field(default_factory=dict)
    operators: dict[str, float] = field(default_factory=dict)
    flop: dict[str, float] = field(default_factory=dict)
    overlap: float = math.nan


def measured(command: Sequence[str]) -> tuple[float, float, str]:
    """Return wall seconds and maximum resident size in MB of a process, and why it failed."""
    with tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        ran = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(ran.pid, 0)
        ran.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        errors.seek(0)
        last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
    return seconds, used.ru_maxrss / 1024, "".join(last)[:160] if ran.returncode else ""


def tracelens(python: str, trace: Path, folder: Path) -> Said:
    """Run TraceLens and read its report, which consists of CSV files."""
    said = Said(*measured([python, "-c", _TRACELENS, str(trace), str(folder)]))

    def rows(name: str) -> list[dict[str, str]]:
        path = folder / f"{name}.csv"
        return list(csv.DictReader(path.open(newline="", encoding="utf-8"))) if path.is_file() else []

    names = {
        "busy_time": "busy", "idle_time": "idle", "computation_time": "compute",
        "exposed_comm_time": "exposed communication", "exposed_memcpy_time": "exposed copies",
    }  # fmt: skip
    said.times = {names[r["type"]]: float(r["time ms"]) * 1e6 for r in rows("gpu_timeline") if r["type"] in names}
    everything = {r["type"]: float(r["time ms"]) for r in rows("gpu_timeline")}
    if everything.get("total_comm_time"):
        said.overlap = 100 * (1 - everything["exposed_comm_time"] / everything["total_comm_time"])
    said.kernels = summed((r["Kernel name"], r["Kernel duration (µs)_sum"], 1000.0) for r in rows("kernel_summary"))
    said.operators = summed((r["name"], r["total_direct_kernel_time_sum"], 1000.0) for r in rows("ops_summary"))
    said.flop = summed(
        (r["name"], r["GFLOPS"], 1e9 * float(r["operation_count"])) for r in rows("unified_perf_summary") if r["GFLOPS"]
    )
    return said


def hta(python: str, trace: Path, folder: Path) -> Said:
    """Run HTA and return the results of its frames, in whole microseconds."""
    said = Said(*measured([python, "-c", _HTA, str(trace), str(folder)]))
    path = folder / "hta.json"
    if not path.is_file():
        return said
    found = json.loads(path.read_text())
    times = found["time"]
    said.times = {"idle": 1e3 * times["idle_time(us)"], "compute": 1e3 * times["compute_time(us)"]}
    said.times["busy"] = 1e3 * (times["kernel_time(us)"] - times["idle_time(us)"])
    said.kernels = summed((name, total, 1000.0) for name, total in found["kernels"])
    said.overlap = found["overlap"]
    return said


def ours(trace: Path, folder: Path) -> Said:
    """Return the results of kprof's API, and the time and memory of its commands."""
    del folder
    seconds, size = 0.0, 0.0
    for question in ("breakdown", "top", "ops"):
        one, resident, _ = measured([sys.executable, "-m", "kprof", "trace", question, str(trace), "--json", "-"])
        seconds, size = seconds + one, max(size, resident)
    said = Said(seconds, size)
    devices = kprof.trace_breakdown(trace).traces[0].breakdown.devices
    said.times = {
        "busy": sum(d.busy_ns for d in devices),
        "idle": sum(d.idle_ns for d in devices),
        "compute": sum(d.compute_ns for d in devices),
        "exposed communication": sum(d.exposed_communication_ns for d in devices),
        "exposed copies": sum(d.exposed_memory_ns for d in devices),
    }
    communication = sum(d.communication_ns for d in devices)
    if communication:
        said.overlap = 100 * (1 - said.times["exposed communication"] / communication)
    top = kprof.trace_top(trace).traces[0]
    said.kernels = summed((k.name, k.total_ns, 1.0) for k in top.kernels)
    said.operators = {o.name: float(o.direct_ns) for o in top.operators if o.direct_ns}
    said.flop = summed((r.name, r.flop, float(r.calls)) for r in kprof.trace_ops(trace).traces[0].rows if r.flop)
    return said


def summed(rows: Any) -> dict[str, float]:
    """Return for each name the sum of value times factor, from rows of (name, value, factor)."""
    found: dict[str, float] = defaultdict(float)
    for name, value, factor in rows:
        if value not in {"", None} and not math.isnan(float(value)):
            found[name] += float(value) * factor
    return dict(found)


def made_trace(folder: Path) -> Path:
    """Return the trace of the tests' small model: 40 layers with a norm, products, attention and an all-reduce."""
    spec = importlib.util.spec_from_file_location("kineto_builder", ROOT / "tests/artifacts/kineto/builder.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path: Path = module.small_model(module.Builder(), layers=40).write(folder / "tests_small_model.json")
    return path


def called(trace: Path, others: Iterable[str]) -> str:
    """Return a trace's name without suffixes, with its folder if the name alone is ambiguous."""
    name = trace.name.partition(".")[0]
    return f"{trace.parent.name}/{name}" if len(name) < 12 or name in others else name


def number(value: float | None, scale: float = 1e6, digits: int = 3) -> str:
    """Format a number, or ``-`` for a missing one."""
    return "-" if value is None or math.isnan(value) else f"{value / scale:,.{digits}f}"


def agreement(theirs: dict[str, float], mine: dict[str, float], slack: Callable[[float], float]) -> str:
    """Return how many names have equal values in both results, and the largest value that differs."""
    if not theirs:
        return "-"
    both = [name for name in theirs if name in mine]
    off = {name: abs(theirs[name] - mine[name]) for name in both if abs(theirs[name] - mine[name]) > slack(mine[name])}
    words = f"{len(both) - len(off)} of {len(theirs)}"
    if off:
        worst = max(off, key=lambda name: off[name])
        words += f"; most off: `{worst.replace('|', '/')[:40]}` {theirs[worst]:,.4g}, kprof {mine[worst]:,.4g}"
    missing = sorted(name for name in theirs if name not in mine and theirs[name])
    return words + (f"; not in kprof: `{missing[0].replace('|', '/')[:40]}`" if missing else "")


Asked = dict[str, tuple[Said, Said, Said]]
_SAME = {
    "aten::_scaled_dot_product_flash_attention": "aten::_flash_attention_forward",
    "aten::convolution": "aten::_convolution",
    "vllm::rocm_unquantized_gemm": "aten::mm",
}
"""Operators in TraceLens's table that launch through an inner operator, which kprof counts the call for."""


def table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table with a title."""
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
    return ["", f"### {title}", "", f"| {' | '.join(headings)} |", "|---" * len(headings) + "|", *lines]


def tables(asked: Asked) -> list[str]:
    """Return the numbers side by side: one table per quantity, one row per trace."""
    tools = ("trace", "TraceLens", "HTA", "kprof")
    lines: list[str] = []
    for quantity in ("busy", "idle", "compute", "exposed communication", "exposed copies"):
        rows = [[f"`{name}`", *(number(one.times.get(quantity)) for one in said)] for name, said in asked.items()]
        lines += table(f"{quantity[0].upper()}{quantity[1:]}, ms", tools, rows)
    hidden = [
        [f"`{name}`", *(number(one.overlap, 1.0, 1) for one in said)]
        for name, said in asked.items()
        if any(not math.isnan(one.overlap) for one in said)
    ]
    lines += table("Communication hidden behind computing, %", tools, hidden)
    sums = ("trace", "kernels: time as in TraceLens", "as in HTA", "operators: own time as in TraceLens")
    lines += table("Kernels and operators", sums, (same_sums(name, *said) for name, said in asked.items()))
    heads = ("trace", "operator", "TraceLens", "kprof", "ratio")
    lines += table("GFLOP of all calls", heads, (row for name, said in asked.items() for row in work(name, *said)))
    costs = (
        [f"`{name}`", *(one.problem or f"{one.seconds:.1f} s, {one.megabytes:,.0f} MB" for one in said)]
        for name, said in asked.items()
    )
    lines += table("Wall seconds and resident MB, start-up included", tools, costs)
    return lines


def same_sums(name: str, lens: Said, holistic: Said, mine: Said) -> list[str]:
    """Return how many sums agree. HTA has whole microseconds; TraceLens's sums have single precision."""
    return [
        f"`{name}`",
        agreement(lens.kernels, mine.kernels, lambda ns: 1 + 1e-6 * ns),
        agreement(holistic.kernels, mine.kernels, lambda ns: 1000 + 0.15 * ns),
        agreement(lens.operators, mine.operators, lambda ns: 20 + 1e-5 * ns),
    ]


def work(name: str, lens: Said, holistic: Said, mine: Said) -> Iterator[list[str]]:
    """Return one row per operator for which kprof counts operations."""
    del holistic
    theirs = {_SAME.get(operator, operator): flop for operator, flop in lens.flop.items()}
    for operator, flop in mine.flop.items():
        other = theirs.get(operator)
        ratio = "-" if other is None else f"{other / flop:.4f}"
        yield [f"`{name}`", f"`{operator}`", number(other, 1e9, 2), number(flop, 1e9, 2), ratio]


def main() -> None:
    """Run all tools, print the tables and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="*", type=Path)
    parser.add_argument("--tracelens", required=True, metavar="PYTHON")
    parser.add_argument("--hta", required=True, metavar="PYTHON")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    asked: Asked = {}
    with tempfile.TemporaryDirectory() as made:
        for trace in (*options.traces, made_trace(Path(made))):
            folder = Path(made) / f"{len(asked)}"
            folder.mkdir()
            said = (tracelens(options.tracelens, trace, folder), hta(options.hta, trace, folder), ours(trace, folder))
            asked[called(trace, asked)] = said
            print(trace.name, *(f"{one.seconds:.1f} s {one.problem}" for one in said), flush=True)
    text = "\n".join(tables(asked)) + "\n"
    print(text)
    if options.write:
        kept = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
        PAGE.write_text(f"{kept}{MARK}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
