"""Analysing one compiled kernel against compiling it: both on the same kernel, in one run. Budget: 10 %.

Analysis is everything that happens after the compiler: reading assembly and TTGIR, loops, live registers where a rule
wants them, occupancy, all rules, and the JSON document.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
ROUNDS = 7
KERNELS = {
    "flash_attention": {"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4},
    "gemm": {},
    "softmax": {},
}


def main() -> None:
    """Print one line for each kernel."""
    from kprof.compiler.compile import compile_kernel
    from kprof.hardware.machine import load as load_architecture
    from kprof.reporters.json_document import encoded
    from kprof.targets.jobs import jobs_of, loaded
    from kprof.targets.library import load
    from kprof.targets.options import TargetOptions
    from kprof_analyzers.pipeline import analyze
    from kprof_analyzers.verdict import report

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arch", default="gfx942")
    arch = parser.parse_args().arch
    machine = load_architecture(arch)
    for name, config in KERNELS.items():
        (job,) = jobs_of(load(name), machine, TargetOptions(config=config))
        compile_kernel(job.request, cache=False)
        pairs = []
        for _ in range(ROUNDS):
            compiled = compile_kernel(job.request, cache=False)
            start = time.perf_counter()
            encoded(report([analyze(loaded(job, compiled))]))
            pairs.append((time.perf_counter() - start, compiled.seconds))
        ratio = median(ours / theirs for ours, theirs in pairs)
        ours, theirs = (1000 * median(side) for side in zip(*pairs, strict=True))
        lines = compiled.amdgcn.count("\n")
        print(
            f"{name:16} {arch}  {lines:6,} lines   analysis {ours:6.0f} ms   compile {theirs:6.0f} ms"
            f"   ratio {ratio:.3f}   budget 0.100"
        )


if __name__ == "__main__":
    main()
