"""Time all rules, with live registers and bank conflicts, on a kernel of 10,000 lines of assembly. Budget: 0.5 s.

The kernel is a bundled one with its unrolled loop repeated until it is long enough: real instructions, real lines.
"""

import argparse
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
ROUNDS = 5
LINES = 10_000
BUDGET = 0.5
_LOOP = re.compile(r"^(\.LBB0_\d+):.*?\n((?:.*\n)*?)(\ts_cbranch_\w+ \1)$", re.MULTILINE)


def lengthen(text: str) -> str:
    """Return the assembly with the body of its longest loop repeated up to ``LINES`` lines."""
    loop = max(_LOOP.finditer(text), key=lambda match: len(match[2]))
    # Labels and branches inside would become ambiguous, so only straight-line code is repeated.
    body = "".join(
        f"{line}\n" for line in loop[2].splitlines() if not line.startswith(".L") and "s_cbranch" not in line
    )
    copies = (LINES - text.count("\n")) // max(1, body.count("\n")) + 1
    return text[: loop.start(3)] + body * copies + text[loop.start(3) :]


def kernel(arch: str) -> Any:
    """Load the bundled GEMM with a long loop."""
    from kprof.compiler.compile import compile_kernel
    from kprof.hardware.machine import load as load_architecture
    from kprof.inputs import amdgcn
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import jobs_of, loaded
    from kprof.targets.library import load

    (job,) = jobs_of(load("gemm"), load_architecture(arch), CompileOptions())
    compiled = compile_kernel(job.request)
    return replace(loaded(job, compiled), program=amdgcn.parse(lengthen(compiled.amdgcn)).kernels[0])


def main() -> int:
    """Print the time of all rules; the exit code is 1 if it exceeds the budget."""
    from kprof_analyzers.pipeline import analyze

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", default="gfx942")
    arch = parser.parse_args().arch
    walls, times = [], []
    for _ in range(ROUNDS):
        # Parse again each time, so that no cached values remain from the round before.
        long = kernel(arch)
        start, began = time.perf_counter(), time.process_time()
        report = analyze(long)
        walls.append(time.perf_counter() - start)
        times.append(time.process_time() - began)
    # Processor time, so that other load does not count; the wall time is also printed.
    took = median(times)
    count = len(long.program.instructions)
    found = f"{count:,} instructions, {len(report.findings)} findings"
    wall = 1000 * min(walls)
    print(f"{found}: {1000 * took:.0f} ms of CPU ({wall:.0f} ms on the clock at best), budget {1000 * BUDGET:.0f} ms")
    return int(took > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
