"""``kprof trace top``: the kernels and operators with the most GPU time."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.api.views import TraceView, function_of
from kprof.options.measurements import CategoryOptions
from kprof.output.quantities import milliseconds, percent, plural
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.files import TraceFile
    from kprof_analyzers.profiles.timeline.steps import Kernels


@dataclass(frozen=True, eq=False, repr=False)
class TraceTop(TraceView):
    """List kernels, operators and Triton kernels, most GPU time first.

    Kernels with the same name but other template arguments are listed separately. ``--show operators`` lists CPU
    operators by the GPU time that they launch, ``--show triton`` Triton kernels with the shape of their launch.

    Example:  kprof trace top trace.json.gz --show triton -n 20

    Attributes:
        traces: one entry per trace: ``kernels``, ``operators``, ``triton``.
    """

    help = "Kernels and operators by GPU time."
    options = CategoryOptions
    place = 30
    traces: "Sequence[Kernels]"

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, **_further: Any) -> "Kernels":
        """Compute the kernels and operators of one trace."""
        from kprof_analyzers.profiles.timeline.categories import load_categories
        from kprof_analyzers.profiles.timeline.steps import kernels_of

        return kernels_of(trace, load_categories(options.categories))

    @classmethod
    def of_file(cls, file: "TraceFile", options: Any, **_further: Any) -> "Kernels":
        """Compute the kernels of one file, which may also be a Proton profile."""
        from kprof_analyzers.profiles.timeline.steps import kernels_step

        return kernels_step(file, options.categories)

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view."""
        from kprof_analyzers.profiles.timeline.top import KernelTime, OperatorTime
        from kprof_analyzers.profiles.timeline.triton_kernels import TritonKernel

        kernels = (
            Column("ms", lambda k: milliseconds(k.total_ns)),
            Column("share", lambda k: percent(k.share, 1)),
            Column("count", lambda k: f"{k.count:,}"),
            Column("mean us", lambda k: f"{k.mean_ns / 1000:,.1f}"),
            Column("category", lambda k: k.category),
            Column("kernel", lambda k: kernel_label(k.name), wide=True),
            Column("operator", lambda k: kernel_label(next(iter(k.operators), "") or "-", 32), wide=True, spare=True),
        )
        operators = (
            Column("own ms", lambda o: milliseconds(o.direct_ns)),
            Column("share", lambda o: percent(o.share, 1)),
            Column("subtree ms", lambda o: milliseconds(o.subtree_ns)),
            Column("calls", lambda o: f"{o.calls:,}"),
            Column("kernels", lambda o: f"{o.kernels:,}"),
            Column("CPU ms", lambda o: milliseconds(o.cpu_ns)),
            Column("operator", lambda o: o.name, wide=True),
        )
        triton = (
            Column("ms", lambda k: milliseconds(k.total_ns)),
            Column("count", lambda k: f"{k.count:,}"),
            Column("workgroups", lambda k: "x".join(map(str, k.workgroups)) if k.workgroups else "?"),
            Column("warps", lambda k: "?" if k.num_warps is None else str(k.num_warps)),
            Column("LDS B", lambda k: "?" if k.lds_bytes is None else f"{k.lds_bytes:,}"),
            Column("known by", lambda k: k.evidence),
            Column("kernel", lambda k: k.name, wide=True),
            Column("source", lambda k: Path(k.source).name if k.source else "-", wide=True, spare=True),
        )
        return (
            ViewTable("kernels", kernels, lambda one: one.kernels, KernelTime),
            ViewTable("operators", operators, lambda one: [o for o in one.operators if o.subtree_ns], OperatorTime,
                  title="Operators", optional=True),
            ViewTable("triton", triton, lambda one: one.triton, TritonKernel, title="Triton kernels", optional=True),
        )  # fmt: skip

    @property
    def conclusion(self) -> str:
        """The number and time of kernels, and the kernel with the most time, in one line."""
        kernels = [k for one in self.traces for k in one.kernels]
        whole = sum(k.total_ns for k in kernels)
        if not kernels or not whole:
            return "no kernels in these traces"
        largest = max(kernels, key=lambda k: k.total_ns)
        count, share = len({k.name for k in kernels}), percent(largest.total_ns, whole)
        name = kernel_label(largest.name, 40)
        return f"{plural(count, 'kernel')}, {milliseconds(whole)} ms; the largest takes {share}: {name}"


trace_top = function_of(TraceTop)
