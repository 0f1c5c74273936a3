"""``kprof.trace_ops``: operators by shape against what the GPU can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.trace.answer import Path_, PerTrace, per_file

if TYPE_CHECKING:
    import pandas as pd

    from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorTable


@dataclass(frozen=True, eq=False, repr=False)
class TraceOps(PerTrace):
    """What each operator computes and moves a second, those that lose most time first.

    Attributes:
        traces: one entry a trace: ``rows``, the GPU's ``limits``, and what has no roofline.
    """

    traces: "Sequence[OperatorTable]"

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as ``kprof trace ops --json`` writes it."""
        return {"schema": "kprof.trace.ops/1", "traces": self.traces}

    @property
    def summary(self) -> str:
        """How much time is lost against the limits, and where most."""
        from kprof.reporters.trace_ops_text import verdict

        return verdict(self.traces)

    def to_frame(self) -> "pd.DataFrame":
        """A row a trace, operator, shapes and types: ``total_ns``, ``tflops``, ``tbs``, ``share`` of the limit that is
        its ``bound``, and ``lost_ns``.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import struct_frame
        from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline

        rows = [({"path": one.info.path}, row) for one in self.traces for row in one.rows]
        return struct_frame(OperatorRoofline, rows, ("path",))


def trace_ops(*paths: Path_, arch: str | None = None, jobs: int = 1, scheduler: str | None = None) -> TraceOps:
    """What each operator computes and moves a second, against the GPU's published limits.

    Work comes from the shapes in the trace (``record_shapes=True``): operations, and every operand and result once.

    Args:
        paths: traces, folders of them, or the tables that ``kprof ingest trace`` wrote.
        arch: the product, where the trace does not name its GPU.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.

    Raises:
        HardwareError: the product is not known, or an architecture was named, which has no peaks of its own.
        InputError: a named file is missing or cannot be read, or none in a folder can.
    """
    from kprof_analyzers.profiles.timeline.steps import operators_step

    if arch:
        _check_product(arch)
    found, left_out = per_file(operators_step, paths, jobs=jobs, scheduler=scheduler, gpu=arch)
    return TraceOps(left_out, found)


def _check_product(name: str) -> None:
    from kprof.errors import HardwareError
    from kprof.hardware import machine

    if machine.find_product(name) is None:
        products = ", ".join(machine.load(name).products)
        raise HardwareError(f"{name} has no peaks of its own: name a product", hint=f"its products are {products}")
