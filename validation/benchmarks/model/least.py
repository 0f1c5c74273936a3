"""The least time that a launch's compiled code can take; a shorter published time belongs to other code.

The minimum assumes that every load hits in an idle L2 and every reload of a spilled register in L1, unlimited
bandwidth and power, the data sheet's clock, and a launch without overhead. Only the order of the instructions, their
waits, and the pipes of a CU take time. A tile that is loaded once cannot be in L1, so no memory system can run this
code faster.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.analysis import KernelFacts

FAMILIES = ("tritonblas", "streamk", "tune_gemm")
"""Families whose kernels are the measured ones and that were timed on the GPU."""


def least_us(facts: "KernelFacts") -> float:
    """Return the minimum microseconds of the launch's instructions."""
    from kprof_analyzers.model import Effects
    from kprof_analyzers.model.kernel import build, predict_model
    from kprof_analyzers.model.program import SCRATCH, STORE
    from kprof_analyzers.model.setting import MemoryPath

    model = build(facts, Effects(vector_memory=False, matrix_power=False, launch_overhead=False))
    known = model.machine.latency
    near, hit = known.get("l1", 0.0), known.get("l2", 0.0)
    delays = {STORE: 0.0, SCRATCH: near}
    paths = tuple(MemoryPath(0.0, delays.get(number, hit)) for number in range(len(model.paths)))
    return predict_model(replace(model, paths=paths)).time_us


def floor_of(family: str, launches: "Sequence[KernelFacts | None]", predicted: float, measured: float | None) -> float:
    """Return the minimum time of a timed configuration with one launch; 0 if its published time cannot be below it."""
    if family not in FAMILIES or measured is None or predicted <= measured or len(launches) != 1:
        return 0.0
    (facts,) = launches
    return 0.0 if facts is None else least_us(facts)
