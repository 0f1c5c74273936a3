"""Compare time and memory of reading PyTorch traces: kprof, json, pandas, HolisticTraceAnalysis and TraceLens.

Every tool runs in its own process and computes the same results: kernel time by name, busy and idle time. Other tools
are used if they are installed; TraceLens is a checkout named with --tracelens.

    python validation/benchmarks/trace_speed.py /tmp/trace.json --peers /venv/bin/python --tracelens ~/TraceLens
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

KPROF = """
import sys
from kprof_analyzers.profiles.timeline.streaming import summarise
s = summarise(sys.argv[1])
print(s.kernel_ns, sum(d.busy_ns for d in s.devices))
"""
KPROF_LINKED = """
import sys
from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.breakdown import breakdown
from kprof_analyzers.profiles.timeline.categories import load_categories
from kprof_analyzers.profiles.timeline.top import top_operators
t = load(sys.argv[1])
b = breakdown(t, load_categories())
top_operators(t)
print(sum(a.duration_ns for a in t.activities if a.kind == "kernel"), sum(d.busy_ns for d in b.devices))
"""
RAW = """
import sys
import msgspec
class Event(msgspec.Struct, gc=False):
    cat: str = ""
    name: str = ""
    dur: float = 0.0
class Trace(msgspec.Struct):
    traceEvents: list[Event]
t = msgspec.json.decode(open(sys.argv[1], "rb").read(), type=Trace)
print(round(sum(e.dur for e in t.traceEvents if e.cat == "kernel") * 1000), None)
"""
JSON = """
import json, sys
from collections import Counter
d = json.load(open(sys.argv[1], encoding="utf-8"))
c = Counter()
iv = []
for e in d["traceEvents"]:
    if e.get("cat") == "kernel":
        c[e["name"]] += round(e["dur"] * 1000)
    if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
        iv.append((round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e["dur"] * 1000)))
iv.sort()
busy, end = 0, 0
for a, b in iv:
    if b > end:
        busy += b - max(a, end)
        end = b
print(sum(c.values()), busy)
"""
PANDAS = """
import json, sys
import pandas as pd
d = pd.DataFrame(json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"])
k = d[d.cat == "kernel"]
print(round(k.groupby("name").dur.sum().sum() * 1000), None)
"""
HTA = """
import logging, sys
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
t = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
a = t.get_idle_time_breakdown(ranks=[0], visualize=False)
b = t.get_temporal_breakdown(visualize=False)
# It counts in whole microseconds, each time rounded.
print("-", int(b["kernel_time(us)"].iloc[0] - b["idle_time(us)"].iloc[0]) * 1000)
"""
TRACELENS = """
import sys
from TraceLens.TreePerf import TreePerfAnalyzer
a = TreePerfAnalyzer.from_file(sys.argv[1])
g = a.get_df_gpu_timeline()
k = a.get_df_kernels()
print(round(k["Kernel duration (µs)"].sum() * 1000) if "Kernel duration (µs)" in k else "-",
      round(g.set_index("type").loc["busy_time", "time ms"] * 1e6))
"""


def measure(
    python: str, code: str, path: Path, extra: str = "", *, limit: float = 900, memory_gb: float = 0
) -> dict[str, object]:
    """Return wall and CPU seconds of the process, its maximum resident size in MB, and its output."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "analyzers"), extra])),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    wrapped = code + "\nimport resource; print('RSS', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            [python, "-c", wrapped, str(path)], env=environment, stdout=out, stderr=err, text=True
        )
        killed = _watched(process, start + limit, memory_gb)
        wall = round(time.perf_counter() - start, 2)
        out.seek(0)
        err.seek(0)
        printed, complaint = out.read().strip().splitlines(), err.read().strip().splitlines()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if killed or process.returncode != 0:
        return {"failed": killed or (complaint or [f"exit {process.returncode}"])[-1][:120], "wall": wall}
    return {
        "wall": wall,
        "cpu": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "rss_mb": int(printed[-1].split()[1]),
        "answer": printed[-2] if len(printed) > 1 else "",
    }


def _watched(process: "subprocess.Popen[str]", deadline: float, memory_gb: float) -> str:
    """Wait for the process; return why it was killed, or "". The limit is on resident memory, not address space."""
    page = os.sysconf("SC_PAGE_SIZE")
    while process.poll() is None:
        try:
            resident = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * page
        except (OSError, IndexError):
            resident = 0
        late, large = time.perf_counter() > deadline, memory_gb and resident > memory_gb * 1e9
        if late or large:
            process.kill()
            process.wait()
            return f"killed at {memory_gb:g} GB of memory" if large else "not finished in time"
        time.sleep(0.02)
    return ""


def best(results: list[dict[str, object]]) -> dict[str, object]:
    """Return the run with the least CPU time, because other load only adds time."""
    return min(results, key=lambda r: float(str(r.get("cpu", "inf"))))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, nargs="+")
    parser.add_argument("--peers", help="python with HolisticTraceAnalysis and pandas")
    parser.add_argument("--tracelens", default="", help="a checkout of TraceLens")
    parser.add_argument("--only", default="", help="comma-separated names")
    parser.add_argument("--limit", type=float, default=900, help="seconds a tool may take")
    parser.add_argument("--memory", type=float, default=0, help="GB of memory a tool may use; 0: no limit")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each, in turn; the best is shown")
    arguments = parser.parse_args()
    tools = [("kprof", sys.executable, KPROF, ""), ("kprof linked", sys.executable, KPROF_LINKED, "")]
    tools += [("msgspec whole file", sys.executable, RAW, ""), ("json", sys.executable, JSON, "")]
    tools.append(("pandas", arguments.peers or sys.executable, PANDAS, ""))
    if arguments.peers:
        tools.append(("HTA", arguments.peers, HTA, ""))
        if arguments.tracelens:
            tools.append(("TraceLens", arguments.peers, TRACELENS, arguments.tracelens))
    wanted = set(filter(None, arguments.only.split(",")))
    for path in arguments.trace:
        size = path.stat().st_size / 1e6
        print(f"{path.name}  {size:,.1f} MB  load {os.getloadavg()[0]:.1f}", flush=True)
        chosen = [tool for tool in tools if not wanted or tool[0] in wanted]
        runs: dict[str, list[dict[str, object]]] = {}
        for _ in range(arguments.repeat):
            for name, python, code, extra in chosen:
                found = measure(python, code, path, extra, limit=arguments.limit, memory_gb=arguments.memory)
                runs.setdefault(name, []).append(found)
        for name, results in runs.items():
            result = best(results)
            speed = f"{size / float(str(result['cpu'])):8.1f} MB/s" if result.get("cpu") else " " * 13
            print(f"  {name:<20} {speed}  {json.dumps(result)}", flush=True)


if __name__ == "__main__":
    main()
