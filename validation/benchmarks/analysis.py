"""Compare the time for analysing a compiled kernel with the time for compiling it, in one run. Budget: 10 %.

Analysis is everything that happens after the compiler: reading assembly and TTGIR, loops, live registers where a
rule wants them, occupancy, all rules, and the JSON document. Both are processor times, so other load on the machine
has little effect. The compile is the first one of a process that has imported Triton, as in a worker for one kernel.
The second compile of the same process, which takes half the time for a small kernel, is also printed.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
ROUNDS = 7
KERNELS = {
    "flash_attention": {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4},
    "gemm": {},
    "softmax": {},
}


def main() -> None:
    """Print one line for each kernel."""
    from kprof.compiler.cached_compile import build
    from kprof.compiler.compile import compile_kernel
    from kprof.compiler.request import CompileRequest
    from kprof.hardware.machine import load as load_architecture
    from kprof.options.groups import CompileOptions
    from kprof.reporters.json_document import encoded
    from kprof.targets.jobs import jobs_of, loaded
    from kprof.targets.library import load
    from kprof_analyzers.pipeline import analyze
    from kprof_analyzers.verdict import report

    def compiles(request: CompileRequest) -> list[float]:
        """Return the seconds of the first and of the second compile in a separate process."""
        ends = [time.process_time()]
        for _ in range(2):
            build(request, None, lambda _stage: None, lambda _most: "", {})
            ends.append(time.process_time())
        return [after - before for before, after in pairwise(ends)]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="gfx942")
    arch = parser.parse_args().arch
    machine = load_architecture(arch)
    for name, config in KERNELS.items():
        (job,) = jobs_of(load(name), machine, CompileOptions(config=config))
        compiled = compile_kernel(job.request, cache=False)
        encoded(report([analyze(loaded(job, compiled))]))
        rounds = []
        for _ in range(ROUNDS):
            first, second = _forked(lambda: compiles(job.request))  # noqa: B023 - called at once
            start = time.process_time()
            encoded(report([analyze(loaded(job, compiled))]))
            rounds.append((time.process_time() - start, first, second))
        ours, first, second = (1000 * median(side) for side in zip(*rounds, strict=True))
        print(
            f"{name:16} {arch}  {compiled.amdgcn.count(chr(10)):6,} lines   analysis {ours:6.1f} ms   "
            f"compile {first:6.0f} ms ({second:.0f} the second time)   ratio {ours / first:.3f}   budget 0.100",
            flush=True,
        )


def _forked(work: Callable[[], list[float]]) -> list[float]:
    """Run a function in a fork and return its result."""
    reading, writing = os.pipe()
    if not (process := os.fork()):
        os.write(writing, " ".join(map(str, work())).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        found = [float(one) for one in answer.read().split()]
    os.waitpid(process, 0)
    return found


if __name__ == "__main__":
    main()
