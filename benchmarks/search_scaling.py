"""Compiling many configurations: kprof's workers against bare ``triton.compile``.

A search of N configurations on C cores should take at most N x compile time / C / 0.9. Both sides run here one after
the other on the same configurations, without any cache::

    python benchmarks/search_scaling.py --configs 24 --jobs 2

``bare`` is one process that calls ``triton.compile`` in a loop, its import not counted; ``pool`` is everything that
kprof does, workers' start and Triton's import in each of them included.
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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

KERNEL = ROOT / "tests" / "harness" / "sample_kernels.py"
SIGNATURE = "*fp16,*fp16,*fp16,i32:16,i32:16,i32:16,i32:16"

BARE = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
sys.path[:0] = json.loads(sys.argv[1])
import triton
from kprof.harness import triton_versions as versions
from kprof.harness.engine import _values
from kprof.harness.request import from_json
from kprof.harness.source import load_function
api = versions.api()
jobs = []
for data in json.loads(sys.stdin.read()):
    request = from_json(data)
    function = load_function(request.path, request.function)
    source = api.ast_source(function.jit, dict(request.signature), *_values(api, request, function))
    target = api.gpu_target("hip", request.arch, versions.warp_size(request.arch))
    jobs.append((source, target, dict(request.options)))
with versions.linker(api.numbers, {}):
    triton.compile(*jobs[0][:2], options=jobs[0][2])
    started = time.perf_counter()
    for source, target, options in jobs:
        triton.compile(source, target=target, options=options)
print(time.perf_counter() - started)
"""


def requests(count: int) -> list[Any]:
    """Different configurations of a matrix product on gfx942."""
    from kprof.harness.signature import load_signature

    space = [
        ({"M": m, "N": n, "BLOCK_K": k}, {"num_warps": warps, "num_stages": stages})
        for stages in (2, 3)
        for warps in (4, 8)
        for m in (64, 128, 32)
        for n in (64, 128, 32)
        for k in (32, 64)
    ]
    return [
        load_signature(str(KERNEL), "matmul", SIGNATURE, "gfx942", constexprs, options=options)
        for constexprs, options in space[:count]
    ]


def bare(jobs: list[Any], processes: int = 1) -> float:
    """Seconds that bare ``triton.compile`` takes for all, the slowest of so many processes with equal shares."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "TRITON_CACHE_DIR": cache, "TRITON_ALWAYS_COMPILE": "1"}
        running = []
        for share in range(processes):
            process = subprocess.Popen(
                [sys.executable, "-c", BARE, json.dumps([str(ROOT)])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment,
            )
            running.append((process, json.dumps([job.to_json() for job in jobs[share::processes]])))
        for process, text in running:
            assert process.stdin is not None
            process.stdin.write(text)
            process.stdin.close()
        seconds = []
        for process, _ in running:
            assert process.stdout is not None
            seconds.append(float(process.stdout.read().split()[-1]))
            process.wait()
    return max(seconds)


def processor_seconds() -> float:
    """User and system time of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pooled(jobs: list[Any], workers: int) -> float:
    """Seconds that kprof's workers take for all, from nothing to the last result."""
    from kprof.harness.compile import compile_many

    started = time.perf_counter()
    outcomes = list(compile_many(jobs, workers, cache=False))
    seconds = time.perf_counter() - started
    failed = [outcome.error for outcome in outcomes if not outcome.ok]
    if failed:
        raise SystemExit(f"{len(failed)} configurations do not compile: {failed[0]}")
    return seconds


def cached(jobs: list[Any]) -> float:
    """Milliseconds a configuration when all of them are in kprof's cache."""
    from kprof.harness.compile import compile_many

    with tempfile.TemporaryDirectory() as folder:
        os.environ["KPROF_CACHE_DIR"] = folder
        list(compile_many(jobs))
        started = time.perf_counter()
        list(compile_many(jobs))
        return 1000 * (time.perf_counter() - started) / len(jobs)


def main() -> None:
    """Measure both sides and print their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configs", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    jobs = requests(options.configs)
    start = processor_seconds()
    alone = bare(jobs)
    middle = processor_seconds()
    together = pooled(jobs, options.jobs)
    end = processor_seconds()
    side_by_side = bare(jobs, options.jobs)
    budget = alone / options.jobs / 0.9
    print(f"configurations          {len(jobs)}")
    print(f"bare triton.compile     {alone:.2f} s, {alone / len(jobs):.3f} s each")
    print(f"kprof, {options.jobs} workers        {together:.2f} s")
    print(f"bare, {options.jobs} processes       {side_by_side:.2f} s: what this machine can do at this moment")
    print(f"against the budget      {together / budget:.2f} (1 or less is within it, on idle cores)")
    print(f"against bare processes  {together / side_by_side:.2f}")
    print(f"processor time          {(end - middle) / (middle - start):.2f} of the bare compiles'")
    print(f"all from the cache      {cached(jobs):.2f} ms each")


if __name__ == "__main__":
    main()
