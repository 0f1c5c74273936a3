"""Measure ``kprof check`` on 200 kernel specialisations for two architectures, with a cold and with a warm cache.

The bare side only compiles the same requests, with the same number of workers. Both sides alternate several times,
each with an empty cache of kprof. On a shared machine, the processor time is the relevant figure.
"""

import argparse
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
ARCHS = ("gfx942", "gfx950")
WARM_BUDGET = 20.0
COLD_BUDGET = 0.9
Config = dict[str, int]


def configurations() -> Iterator[tuple[str, Config]]:
    """Return kernels with knobs: matrix products and attention with all tile sizes, and row kernels."""
    for m, n, k, warps in itertools.product((32, 64, 128), (32, 64, 128), (32, 64), (4, 8)):
        yield "gemm", {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "num_warps": warps}
    for m, n, warps in itertools.product((16, 32, 64, 128), (32, 64), (2, 4)):
        yield "flash_attention", {"BLOCK_M": m, "BLOCK_N": n, "num_warps": warps}
    rows = ("softmax", "rmsnorm", "layernorm", "swiglu_fp8", "rmsnorm_residual_fp8", "memory_copy")
    for kernel, warps, waves in itertools.product(rows, (1, 2, 4, 8, 16), range(5)):
        yield kernel, {"num_warps": warps, "waves_per_eu": waves}


def write_config(folder: Path, chosen: list[tuple[str, Config]]) -> None:
    """Write a ``kprof.toml`` that checks all of them."""
    lines = [f"arch = {list(ARCHS)}".replace("'", '"'), 'fail_on = "never"']
    for kernel, config in chosen:
        knobs = ", ".join(f"{name} = {value}" for name, value in config.items())
        lines += ["[[kernel]]", f'target = "{kernel}"', f"config = {{{knobs}}}"]
    (folder / "kprof.toml").write_text("\n".join(lines) + "\n")


def bare(chosen: list[tuple[str, Config]], jobs: int) -> float:
    """Compile everything in workers; return the sum of the compiler's seconds."""
    from kprof.compiler.compile import compile_many
    from kprof.hardware.machine import load as load_architecture
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import jobs_of
    from kprof.targets.library import load

    requests = [
        job.request
        for arch in ARCHS
        for kernel, config in chosen
        for job in jobs_of(load(kernel), load_architecture(arch), CompileOptions(config=config))
    ]
    return sum(outcome.result().seconds for outcome in compile_many(requests, jobs, cache=False))


def check(folder: Path, cache: Path, jobs: int) -> None:
    """Run the command as a user does."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "analyzers")))
    ran = subprocess.run(
        [sys.executable, "-m", "kprof", "check", "-q", "-j", str(jobs)],
        cwd=folder,
        env={**os.environ, "KPROF_CACHE_DIR": str(cache), "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    if not ran.stdout.startswith("ok"):
        raise SystemExit(f"the check went wrong: {ran.stdout} {ran.stderr}")


def timed(what: Callable[[], object]) -> tuple[float, float]:
    """Return wall and processor seconds, including child processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    what()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print one line for each side and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="Kernel specialisations, each for two architectures.")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    everything = list(configurations())
    step = len(everything) / min(given.count, len(everything))
    chosen = [everything[int(number * step)] for number in range(min(given.count, len(everything)))]
    compiler: list[float] = []
    sides: dict[str, list[tuple[float, float]]] = {"bare compiles": [], "check, cold": [], "check, warm": []}
    for _ in range(given.rounds):
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            write_config(folder, chosen)
            sides["bare compiles"].append(timed(lambda: compiler.append(bare(chosen, given.jobs))))
            for side in ("check, cold", "check, warm"):
                sides[side].append(timed(partial(check, folder, folder / "cache", given.jobs)))
    walls = {name: median(wall for wall, _ in runs) for name, runs in sides.items()}
    processor = {name: median(cpu for _, cpu in runs) for name, runs in sides.items()}
    print(f"{len(chosen)} specialisations x {len(ARCHS)} architectures, {given.jobs} workers, median of {given.rounds}")
    for name in sides:
        print(f"{name:14} {walls[name]:8.1f} s wall {processor[name]:8.1f} s of processor time")
    inside = median(compiler)
    print(f"in the compiler alone {inside:.1f} s, over {given.jobs} workers {inside / given.jobs:.1f} s")
    wall, cpu = (side["bare compiles"] / side["check, cold"] for side in (walls, processor))
    print(f"cold against bare: {wall:.2f} of the wall time, {cpu:.2f} of the processor time, budget {COLD_BUDGET}")
    print(f"warm: {walls['check, warm']:.1f} s, budget {WARM_BUDGET:.0f} s")


if __name__ == "__main__":
    main()
