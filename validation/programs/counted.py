"""Run a program and count the launches through Triton's own entry point, for ``validation/record_programs.py``.

Usage: ``python counted.py PROGRAM.py``. The last line that it prints is ``counted N``. An autotuner's trials are not
counted.
"""

import runpy
import sys
from typing import Any

import triton
from triton.runtime.autotuner import Autotuner

count, trying, watched = [0], [0], set[Any]()
# Triton has no public hook for an autotuner's trials.
plain_run, plain_tune = triton.JITFunction.run, Autotuner._bench  # noqa: SLF001


def run(self: Any, *args: Any, grid: Any, warmup: bool, **options: Any) -> Any:
    """Count launches with a grid that is not empty."""
    if not warmup and not trying[0]:
        defaults = {parameter.name: parameter.default for parameter in self.params if parameter.has_default}
        meta = defaults | dict(zip(self.arg_names, args, strict=False)) | options
        sizes = grid(meta) if callable(grid) else grid
        count[0] += 0 not in tuple(sizes)
    kernel = plain_run(self, *args, grid=grid, warmup=warmup, **options)
    watch(type(kernel))
    return kernel


def watch(kind: Any) -> None:
    """Also count launches of compiled kernels that a program keeps: ``kernel[grid](...)``."""
    if kind in watched or not hasattr(kind, "__getitem__"):
        return
    watched.add(kind)
    plain = kind.__getitem__

    def launcher(self: Any, grid: Any) -> Any:
        launch = plain(self, grid)

        def counted(*args: Any, **options: Any) -> Any:
            count[0] += not trying[0] and 0 not in tuple(grid)
            return launch(*args, **options)

        return counted

    kind.__getitem__ = launcher


def tune(self: Any, *args: Any, **options: Any) -> Any:
    """Exclude an autotuner's trials from the count."""
    trying[0] += 1
    try:
        return plain_tune(self, *args, **options)
    finally:
        trying[0] -= 1


triton.JITFunction.run = run
Autotuner._bench = tune  # noqa: SLF001
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print(f"counted {count[0]}")
