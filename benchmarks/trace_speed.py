"""Time and memory of reading PyTorch traces: kprof against json, pandas, HolisticTraceAnalysis and TraceLens.

Every tool runs in a process of its own and answers the same question: kernel time by name, busy and idle time. The
others are used where they are installed; TraceLens is a checkout, named with --tracelens.

    python benchmarks/trace_speed.py /tmp/trace.json --peers /venv/bin/python --tracelens ~/TraceLens
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

KPROF = """
import sys
from kprof_analyzers.timeline.streaming import summarise
s = summarise(sys.argv[1])
print(s.kernel_ns, sum(d.busy_ns for d in s.devices))
"""
KPROF_LINKED = """
import sys
from kprof.inputs.torch_profiler import load
from kprof_analyzers.timeline.breakdown import breakdown
from kprof_analyzers.timeline.categories import load_categories
from kprof_analyzers.timeline.top import top_operators
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
print("-", int(b["busy_time(us)"].iloc[0] if "busy_time(us)" in b else 0) * 1000)
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


def measure(python: str, code: str, path: Path, extra: str = "", limit: float = 900) -> dict[str, object]:
    """Wall and CPU seconds, the largest resident size in MB, and what was printed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), str(ROOT / "analyzers"), extra])),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    wrapped = code + "\nimport resource; print('RSS', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
    try:
        done = subprocess.run(
            [python, "-c", wrapped, str(path)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"not finished after {limit:.0f} s"}
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:120], "wall": wall}
    lines = done.stdout.strip().splitlines()
    return {
        "wall": round(wall, 2),
        "cpu": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "rss_mb": int(lines[-1].split()[1]),
        "answer": lines[-2] if len(lines) > 1 else "",
    }


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=Path, nargs="+")
    parser.add_argument("--peers", help="python with HolisticTraceAnalysis and pandas")
    parser.add_argument("--tracelens", default="", help="a checkout of TraceLens")
    parser.add_argument("--only", default="", help="comma-separated names")
    parser.add_argument("--limit", type=float, default=900, help="seconds a tool may take")
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
        for name, python, code, extra in tools:
            if wanted and name not in wanted:
                continue
            result = measure(python, code, path, extra, arguments.limit)
            speed = f"{size / result['cpu']:8.1f} MB/s" if result.get("cpu") else ""
            print(f"  {name:<20} {speed}  {json.dumps(result)}", flush=True)


if __name__ == "__main__":
    main()
