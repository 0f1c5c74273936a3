"""``kprof trace ops``: compare operators by shape with the GPU's limits."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kprof.api.views import TraceAdvice, TraceView, function_of, of_one, per_file
from kprof.errors import KprofError
from kprof.options.measurements import OperatorAnswerOptions, OperatorOptions
from kprof.output.quantities import milliseconds, percent
from kprof.reporters._plain_words import limit_words
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.grids import Column, Grid, ViewTable, chosen

if TYPE_CHECKING:
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.measured.launches import TargetLaunch
    from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline, OperatorTable
    from kprof_analyzers.whole_step.cures import OperatorSuggestion

_LOST = 0.02
"""Minimum share of the kernels' time that an operator must lose to be named in a report."""
_NAMED = 3


@dataclass(frozen=True, eq=False, repr=False)
class TraceOps(TraceView):
    """Compare each operator's TFLOP/s and TB/s with the GPU's limits, largest time lost first.

    The work is computed from the shapes in the trace (record_shapes=True): operations, and the bytes of every operand
    and result once. The limit is the GPU's published HBM bandwidth or matrix peak, whichever takes longer; an operator
    whose data stay in a cache can be faster than that.

    --target adds the model's time to the launches of that kernel, and --tune the time that the best configuration is
    predicted to save.

    Example:  kprof trace ops trace.json.gz --target attention.py::forward --case prefill --tune

    Attributes:
        traces: one entry per trace: ``rows``, the GPU's ``limits``, and the time without a roofline.
        targets: launches of the targets' kernels with the model's time and the result of a search; ``None`` without
            targets.
    """

    help = "Operators by shape: TFLOP/s, TB/s, and the time lost against the GPU's limits."
    options = OperatorOptions
    display = OperatorAnswerOptions
    needs_details = True
    has_picture = True
    place = 50
    further = MappingProxyType(
        {
            "targets": (
                "TargetLike | Sequence[TargetLike]",
                (),
                "kernels, as for :func:`kprof.analyze`: their launches get the model's time beside the measured one.",
            ),
            "progress": ("Callable[[Progress], None] | None", None, "called with the state of each search."),
        }
    )  # fmt: skip
    traces: "Sequence[OperatorTable]"
    targets: "Sequence[TargetLaunch] | None" = None

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, *, with_launches: bool = False, **_further: Any) -> Any:
        """Compute the operator table of one trace; ``with_launches`` also returns its kernels by launch shape."""
        from kprof_analyzers.profiles.timeline.launch_shapes import launch_shapes
        from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of, operator_table

        found = operator_table(trace, limits_of(trace.info, options.one_gpu("kprof trace ops") or None))
        return (found, launch_shapes(trace)) if with_launches else found

    @classmethod
    def answer(
        cls,
        paths: Sequence[Any],
        options: Any,
        *,
        targets: Any = (),
        progress: Callable[[Any], None] | None = None,
        **_further: Any,
    ) -> "TraceOps":
        """Compute the table of each file, and merge in the targets' kernels.

        Raises:
            HardwareError: the product is unknown, or an architecture is named instead of a product, so the peak rates
                are unknown.
            TargetError: an option for targets is set without a target, or an option for searches without a search.
            KprofError: a target cannot be compiled or searched.
        """
        from kprof.api.traced_targets import TracedTargets

        arch = options.one_gpu("kprof trace ops")
        if arch:
            _check_product(arch)
        given = targets if isinstance(targets, Sequence) and not isinstance(targets, str) else [targets]
        wanted = TracedTargets(given, options)
        wanted.check()
        if not given:
            return super().answer(paths, options)
        both, left_out = per_file(of_one, paths, options, view=cls, options=options, with_launches=True)
        launches = wanted.launches([shapes for _, shapes in both], arch or None, progress)
        return cls(left_out, [table for table, _ in both], launches)

    @classmethod
    def from_command(cls, paths: Sequence[str], options: Any, display: Any, *, quiet: bool) -> "TraceOps":
        """Compute the view, and show the progress of the configuration searches that it runs."""
        import contextlib
        import functools

        from kprof.reporters.tune_progress import Reporter

        with contextlib.ExitStack() as stack:

            @functools.cache
            def reporter() -> Reporter:
                """Create the reporter of searches when the first search begins; before that, reading shows progress."""
                return stack.enter_context(Reporter(quiet=quiet))

            targets = list(display.target)
            return cls.answer(paths, options, targets=targets, progress=lambda state: reporter().show(state))

    @property
    def contents(self) -> dict[str, Any]:
        """The document without ``incomplete``, the sentence about missing data."""
        found = {} if self.targets is None else {"targets": self.targets}
        return {"schema": "kprof.trace.ops/1", "traces": self.traces, **found}

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view."""
        from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline

        operators = (
            Column("lost ms", lambda row: "-" if row.lost_ns is None else milliseconds(row.lost_ns)),
            Column("ms", lambda row: milliseconds(row.total_ns)),
            Column("calls", lambda row: f"{row.calls:,}"),
            Column("mean us", lambda row: f"{row.total_ns / row.calls / 1000:,.1f}"),
            Column("TFLOP/s", lambda row: "-" if row.tflops is None else _digits(row.tflops)),
            Column("TB/s", lambda row: "-" if row.tbs is None else f"{row.tbs:.2f}"),
            Column("of limit", lambda row: "-" if row.share is None
                   else f"{100 * row.share:.0f} % {row.bound.replace('_', ' ')}"),
            Column("operator", lambda row: f"{_name(row)} {row.shapes} {row.types}".strip(), wide=True),
        )  # fmt: skip
        return (
            ViewTable("operators", operators, lambda one: one.rows, OperatorRoofline, remarks=_remarks),
            *_targets(),
        )

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """The operator table of each trace, and the launches of all targets."""
        return [*super().parts, *([] if self.targets is None else [("targets", self.targets)])]

    def leading(self, part: Any) -> Mapping[str, Any]:
        """Return the additional first column of a data frame: the ``path``."""
        return super().leading(part) if hasattr(part, "info") else {}

    def grids(self, part: Any, display: Any) -> list[Grid]:
        """Return the operators of a trace, or the targets' launches."""
        names = [table.name for table in chosen(self.tables(), display.show)]
        mine = "operators" if hasattr(part, "info") else "targets"
        return [t.grid(part, display.top) for t in self.tables() if t.name == mine and (mine in names or not names)]

    def to_frame(self, table: str = "") -> Any:
        """Return the ``operators`` of each trace, or the launches of ``targets``, as a data frame.

        Raises:
            KprofError: the table is unknown.
        """
        from kprof.api.frames import plain_frame

        if table != "targets":
            return TraceView.to_frame(TraceOps(self.left_out, self.traces), table)
        (found,) = chosen(self.tables(), [table])
        return plain_frame(found.records(self.targets or ()), found.field_names)

    @property
    def conclusion(self) -> str:
        """The time lost against the limits, the largest loss, and with targets the gain of a search, in one line."""
        if self.targets is None:
            return self._lost_time_text()
        from kprof.reporters.trace_targets_text import verdict

        return f"{self._lost_time_text()}; {verdict(self.targets)}"

    def _lost_time_text(self) -> str:
        whole = sum(one.kernel_ns for one in self.traces)
        if not whole:
            return "no kernels in these traces"
        lost = sum(row.lost_ns or 0.0 for one in self.traces for row in one.rows)
        limited = sum(row.total_ns for one in self.traces for row in one.rows if row.least_ns is not None)
        known = percent(sum(one.known_ns for one in self.traces), whole)
        if not limited:
            worked = f"work is known for {known} of the kernels' {milliseconds(whole)} ms"
            return f"{self.basis}: the time lost is not known; {worked}"
        worst = max((row for one in self.traces for row in one.rows), key=lambda row: row.lost_ns or 0.0)
        seen = f"{percent(limited, whole)} of the kernels' {milliseconds(whole)} ms was judged"
        replayed = sum(one.graph_ns for one in self.traces)
        rest = (
            f", {percent(replayed, whole)} was replayed by graphs, which record no operators (kprof trace top)"
            if replayed
            else ""
        )
        return (
            f"{self.basis}: {milliseconds(lost)} of {milliseconds(limited)} ms lost against the GPU's limits, most in "
            f"{_name(worst)} {worst.shapes}, which {_reached(worst)} ({milliseconds(worst.total_ns)} ms); {seen}{rest}"
        )

    def pictures(self) -> list[str]:
        """Return one SVG per trace: its operators on the roofline of its GPU's published limits."""
        return [picture for one in self.traces if (picture := _roofline(one)) is not None]

    def svg(self) -> str:
        """Return the operators of the only trace on the GPU's roofline, as SVG.

        Raises:
            KprofError: there are several traces, or no operator has known work and limits.
        """
        if len(self.traces) > 1:
            raise KprofError("a roofline shows one trace", hint="-o page.html shows one for each trace.")
        for picture in self.pictures():
            return picture
        raise KprofError(
            "no operator can be placed on the roofline",
            hint="; ".join(each.sentence for each in _unknown(self.traces[0])) or None,
        )

    @classmethod
    def advice(cls, part: "OperatorTable") -> Iterable[TraceAdvice]:
        """Return advice on the operators that lose the most time, and on information missing in the recording."""
        from kprof_analyzers.profiles.timeline.operators.unfused_attention import unfused_attention
        from kprof_analyzers.whole_step.cures import ATTENTION, suggestion_for

        attention = unfused_attention(part.rows)
        groups: dict[OperatorSuggestion, list[OperatorRoofline]] = {}
        for row in part.rows:
            if row.lost_ns:
                groups.setdefault(ATTENTION if row in attention else suggestion_for(row.name), []).append(row)
        found = sorted((_advice(cure, rows, part) for cure, rows in groups.items()), key=lambda one: -one.saves_ns)
        for place, one in enumerate(found[:_NAMED]):
            if not place or one.saves_ns > _LOST * part.kernel_ns:
                yield one
        yield from _unknown(part)


def _targets() -> Sequence[ViewTable]:
    from kprof.reporters.trace_targets_text import FIELDS, TARGETS, record, sentences

    return (ViewTable("targets", TARGETS, lambda found: found, FIELDS, record, "Targets", sentences),)


def _name(row: "OperatorRoofline") -> str:
    return kernel_label(row.name.removeprefix("aten::"), 44)


def _reached(row: "OperatorRoofline") -> str:
    share = 100 * (row.share or 0.0)
    return f"reaches {'under 1' if share < 1 else f'{share:.0f}'} % of {limit_words(row.bound)}"


def _advice(cure: "OperatorSuggestion", rows: "Sequence[OperatorRoofline]", part: "OperatorTable") -> TraceAdvice:
    """Return the advice for a group of operators, with its maximum gain.

    The gain is all time of operators that would be fused, else the time above the limit. Fused attention still computes
    its matrix products, so a product limited by the matrix units keeps its time at the limit.
    """
    from kprof_analyzers.whole_step.cures import ATTENTION, FUSE

    worst = max(rows, key=lambda row: row.lost_ns or 0.0)
    most = f"most in {_name(worst)} {worst.shapes}"
    if cure == FUSE:
        return TraceAdvice(sum(row.total_ns for row in rows), *cure, part.kernel_ns, f"if all were fused; {most}")
    if cure == ATTENTION:
        gone = sum((row.lost_ns or 0.0) if row.bound.startswith("matrix") else row.total_ns for row in rows)
        return TraceAdvice(gone, *cure, part.kernel_ns, f"if only the products' operations were left; {most}")
    lost = sum(row.lost_ns or 0.0 for row in rows)
    return TraceAdvice(lost, *cure, part.kernel_ns, f"if each reached its limit; {most}")


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2f}"


def _remarks(one: "OperatorTable") -> Iterable[str]:
    """Yield sentences on operators without a roofline, and the reasons."""
    if not one.rows:
        yield "nothing to show"
    yield from (f"Not judged: {each.why}." for each in _unknown(one))
    if one.graph_ns:
        share = percent(one.graph_ns, one.kernel_ns)
        yield f"Replayed by graphs, so without operators: {share} of the kernels' time; kprof trace top lists them."
    assumed = sorted({row.assumed for row in one.rows if row.assumed})
    if assumed:
        yield f"Assumed: {'; '.join(assumed)}."


def _unknown(one: "OperatorTable") -> Iterable[TraceAdvice]:
    """Yield advice on how to obtain unknown limits or work."""
    if one.limits is None:
        names = ", ".join(sorted({name for name in one.info.devices if name}))
        why = f"kprof has no peaks of {names}" if names else "the trace does not name its GPU"
        command = f"kprof trace ops {shlex.quote(one.info.path)} --arch MI300X"
        yield TraceAdvice(0.0, command, f"{why}; MI300X is an example")
    if one.without_shapes and one.rows:
        yield TraceAdvice(
            0.0, "torch.profiler.profile(record_shapes=True)", "the trace has no shapes: no work is known"
        )


def _roofline(one: "OperatorTable") -> str | None:
    """Return an SVG of the computing operators on the published roofline; ``None`` if no operator can be placed."""
    from kprof_analyzers.profiles.counters.roofline import Point, Roof
    from kprof_analyzers.profiles.counters.roofline_svg import render

    limits = one.limits
    if limits is None or not limits.hbm:
        return None
    rows = [row for row in one.rows if row.flop and row.bytes and row.tflops]
    units = {row.bound for row in rows if row.bound in limits.peaks}
    # Draw the roofs that limit any operator, or only the highest roof if none does.
    if limits.peaks and not units:
        units = {max(limits.peaks, key=lambda name: limits.peaks[name])}
    roofs = [Roof("HBM", bandwidth=limits.hbm / 1e9)]
    roofs += [Roof(name, flop_rate=limits.peaks[name] / 1e9) for name in sorted(units)]
    points = [
        Point(
            row.name.removeprefix("aten::"),
            (row.flop or 0) / (row.bytes or 1),
            1e3 * (row.tflops or 0.0),
            None if row.tbs is None else 1e3 * row.tbs,
            None,
            row.bound,
            row.share,
        )
        for row in rows
    ]
    return render(points, roofs, f"Operators under the limits of {limits.gpu}") if points else None


def _check_product(name: str) -> None:
    from kprof.errors import HardwareError
    from kprof.hardware import machine

    if machine.find_product(name) is None:
        products = ", ".join(machine.load(name).products)
        raise HardwareError(f"{name} has no peaks of its own: name a product", hint=f"its products are {products}")


trace_ops = function_of(TraceOps)
