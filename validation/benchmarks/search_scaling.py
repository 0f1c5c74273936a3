"""Compare compiling many configurations with kprof's workers and with bare ``triton.compile``.

A search of N configurations on C cores should take at most N x compile time / C / 0.9. Both sides run here one after
the other on the same configurations, without any cache::

    python validation/benchmarks/search_scaling.py --configs 24 --jobs 2

``bare`` is one process that calls ``triton.compile`` in a loop, without its import. ``pool`` is all of kprof's work,
including the start of workers and Triton's import in each. ``tune`` is all of ``kprof tune`` over the same
configurations: it also predicts the time of each, writes a journal, and stores every compile in kprof's cache. It
should cost at most 1.15 times the bare compiles.

    python validation/benchmarks/search_scaling.py --tiles 1330

compiles nothing: it counts the compiles that ``kprof tune gemm`` requests until it has explored each tile. Results
come from the rough estimate with a spread of a third, and do not depend on the order of workgroups.
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

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

KERNEL = ROOT / "tests" / "harness" / "sample_kernels.py"
SIGNATURE = "*fp16,*fp16,*fp16,i32:16,i32:16,i32:16,i32:16"

BARE = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
sys.path[:0] = json.loads(sys.argv[1])
import triton
from kprof.compiler import versions as versions
from kprof.compiler.in_process import _values
from kprof.compiler.request import from_json
from kprof.importing.functions import load_function
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


def space() -> list[tuple[dict[str, int], dict[str, int]]]:
    """Return constexprs and options of a matrix product."""
    return [
        ({"M": m, "N": n, "BLOCK_K": k}, {"num_warps": warps, "num_stages": stages})
        for stages in (2, 3)
        for warps in (4, 8)
        for m in (64, 128, 32)
        for n in (64, 128, 32)
        for k in (32, 64)
    ]


def requests(count: int) -> list[Any]:
    """Return different configurations of a matrix product on gfx942."""
    from kprof.targets.signature import load_signature

    return [
        load_signature(str(KERNEL), "matmul", SIGNATURE, "gfx942", constexprs, options=options)
        for constexprs, options in space()[:count]
    ]


def bare(jobs: list[Any], processes: int = 1) -> float:
    """Return the seconds of bare ``triton.compile`` for all jobs: the slowest of the processes with equal shares."""
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
    """Return user and system time of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pooled(jobs: list[Any], workers: int) -> float:
    """Return the seconds of kprof's workers for all jobs, from their start to the last result."""
    from kprof.compiler.compile import compile_many

    started = time.perf_counter()
    outcomes = list(compile_many(jobs, workers, cache=False))
    seconds = time.perf_counter() - started
    failed = [outcome.error for outcome in outcomes if not outcome.ok]
    if failed:
        raise SystemExit(f"{len(failed)} configurations do not compile: {failed[0]}")
    return seconds


def tuned(count: int, workers: int) -> tuple[float, float, int]:
    """Return seconds and processor time of a search over the same configurations, and its number of predictions."""
    from kprof.expressions import SCALARS, parse
    from kprof.hardware.machine import find_product, load
    from kprof.importing.functions import load_function
    from kprof.kernel_spec import Kernel
    from kprof.tuning.executors.local import LocalExecutor
    from kprof.tuning.journal import TuningJournal
    from kprof.tuning.problems import Problem
    from kprof.tuning.search import Search
    from kprof.tuning.space import Space
    from kprof.tuning.subject import SignatureSubject
    from kprof.tuning.trials import predicted
    from kprof.tuning.work import Judge

    entry = load_function(str(KERNEL), "matmul").jit
    kernel = Kernel("matmul", entry, "", lambda _shape, _config: None, shapes={}, config={})  # type: ignore[arg-type,return-value]
    grid = (parse("cdiv(2048, M) * cdiv(2048, N)", "the grid", SCALARS),)
    subject = SignatureSubject(kernel, load("gfx942"), find_product("MI300X"), (Problem("2048", {}),), SIGNATURE, grid)
    listed = tuple({**constexprs, **options} for constexprs, options in space()[:count])
    judge = Judge(predicted.FUNCTION, predicted.version())
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KPROF_CACHE_DIR"] = folder
        began, start = time.process_time() + processor_seconds(), time.perf_counter()
        found = Search(
            subject,
            Space("the same", listed=listed),
            judge=judge,
            executor=LocalExecutor(judge, workers),
            journal=TuningJournal(Path(folder) / "search.jsonl"),
        ).run()
        seconds = time.perf_counter() - start
        used = time.process_time() + processor_seconds() - began
    return seconds, used, sum(1 + len(one.alike) for one in found.ranked[0])


def cached(jobs: list[Any]) -> float:
    """Return the milliseconds per configuration if all of them are in kprof's cache."""
    from kprof.compiler.compile import compile_many

    with tempfile.TemporaryDirectory() as folder:
        os.environ["KPROF_CACHE_DIR"] = folder
        list(compile_many(jobs))
        started = time.perf_counter()
        list(compile_many(jobs))
        return 1000 * (time.perf_counter() - started) / len(jobs)


class Estimating:
    """Executor that answers immediately with the rough cost, and records the requests."""

    description = "nobody"

    def __init__(self, search: Any, cost: Any, most: int) -> None:
        self.search, self.cost, self.most = search, cost, most
        self.lines: list[tuple[int, int, int]] = []

    def run(self, tasks: Any) -> Any:
        """See :class:`kprof.tuning.work.Executor`."""
        import random

        from kprof.tuning.work import TaskResult

        for count, task in enumerate(tasks, start=1):
            if count > self.most:
                raise KeyboardInterrupt
            config = dict(task.config)
            program = sorted((n, v) for n, v in config.items() if n not in {"GROUP_M", "XCDS", "waves_per_eu"})
            time_us = self.cost(config) * random.Random(repr(program)).uniform(0.9, 1.2)
            resources = {"lds_bytes": 1024, "waves_per_simd": 4, "vgpr_spills": 0, "num_warps": config["num_warps"]}
            yield TaskResult(task.key, "ok", isa=task.key, time_us=time_us, resources=resources)
            progress = self.search[0].progress
            self.lines.append((count, progress.tiles_seen, progress.done))


def tiles(most: int) -> None:
    """Print compiles against explored tiles and configurations."""
    from kprof.hardware.machine import find_product, load
    from kprof.targets.library import load as load_kernel
    from kprof.tuning.estimate import Estimate
    from kprof.tuning.problems import problems
    from kprof.tuning.search import Search
    from kprof.tuning.space import of_kernel
    from kprof.tuning.subject import KernelSubject
    from kprof.tuning.work import Judge

    kernel, arch, product = load_kernel("gemm"), load("gfx942"), find_product("MI300X")
    subject = KernelSubject(
        kernel, arch, product, tuple(problems(kernel, "gfx942", [{"M": 4096, "N": 4096, "K": 4096}]))
    )
    problem = subject.problems[0]
    estimate = Estimate(arch, product, problem.values, 2, subject.base(problem))
    search: list[Any] = []
    executor = Estimating(search, estimate.cost, most)
    search.append(Search(subject, of_kernel(kernel), judge=Judge("-:-", "1"), executor=executor, journal=None))
    found = search[0].run()
    for line in executor.lines:
        if line[0] % 100 == 0:
            print(
                f"{line[0]:6,} compiled  {line[1]:4,} of {found.tiles:,} tiles  {line[2]:6,} configurations looked at"
            )
    whole = next((count for count, seen, _ in executor.lines if seen == found.tiles), None)
    print(f"each tile was seen after {whole} compiles; {found.derived:,} configurations needed none")


def main() -> None:
    """Measure both sides and print their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configs", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--tiles", type=int, metavar="COMPILES", help="count compiles until each tile was seen")
    options = parser.parse_args()
    if options.tiles:
        tiles(options.tiles)
        return
    jobs = requests(options.configs)
    start = processor_seconds()
    alone = bare(jobs)
    middle = processor_seconds()
    together = pooled(jobs, options.jobs)
    end = processor_seconds()
    side_by_side = bare(jobs, options.jobs)
    searched, used, predicted = tuned(options.configs, options.jobs)
    budget = alone / options.jobs / 0.9
    print(f"configurations          {len(jobs)}")
    print(f"bare triton.compile     {alone:.2f} s, {alone / len(jobs):.3f} s each")
    print(f"kprof, {options.jobs} workers        {together:.2f} s")
    print(f"bare, {options.jobs} processes       {side_by_side:.2f} s: what this machine can do at this moment")
    print(f"against the budget      {together / budget:.2f} (1 or less is within it, on idle cores)")
    print(f"against bare processes  {together / side_by_side:.2f}")
    print(f"processor time          {(end - middle) / (middle - start):.2f} of the bare compiles'")
    print(f"kprof tune, {options.jobs} workers   {searched:.2f} s, {predicted} configurations predicted")
    print(f"  against bare processes {searched / side_by_side:.2f} (1.15 or less)")
    print(f"  processor time        {used / (middle - start):.2f} of the bare compiles'")
    print(f"all from the cache      {cached(jobs):.2f} ms each")


if __name__ == "__main__":
    main()
