"""``kprof trace diff``: compare two traces kernel by kernel."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from kprof.api.options import Path_
from kprof.api.views import TraceView, draw, function_of, of_one, per_file
from kprof.errors import InputError
from kprof.options.measurements import DiffAnswerOptions, TraceDiffOptions
from kprof.output.quantities import milliseconds, signed_milliseconds
from kprof.reporters._trace_format import kernel_label, label
from kprof.reporters.grids import Column, Grid, ViewTable, chosen

if TYPE_CHECKING:
    from kprof_analyzers.profiles.timeline.compare import TraceComparison, TraceSide
    from kprof_analyzers.profiles.timeline.files import TraceFile
    from kprof_analyzers.profiles.timeline.operators.predicted import PredictionComparison
    from kprof_analyzers.profiles.timeline.steps import SteppedKernels
    from kprof_analyzers.profiles.timeline.tree_diff import TreeComparison

_KERNELS = (
    "name", "category", "before_ns", "after_ns", "before_count", "after_count", "delta_ns", "mean_ratio",
)  # fmt: skip
_PREDICTED = (
    "name", "shapes", "types", "measured_calls", "predicted_calls", "measured_ns", "predicted_ns", "ratio", "off_ns",
)  # fmt: skip
_PLACES = (
    "place", "before_ns", "after_ns", "before_own_ns", "after_own_ns", "before_kernels", "after_kernels", "delta_ns",
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class TraceDiff(TraceView):
    """Compare two runs: before and after a change, or two batch sizes.

    If both traces mark steps, the mean step is compared, so the numbers of steps may differ. With --fail-over, the exit
    code is 2 (cannot tell) if a trace is truncated, or if only one trace marks steps. The times of all traces in a
    folder are added up and form one side.

    A measured trace and a trace that kprof profile -o wrote are compared operator by operator: the mean time per call
    in both, and the error of the prediction over all measured calls.

    Example:  kprof trace diff before.json after.json --tree modules --fail-over 3

    Attributes:
        traces: data of each file.
        comparison: times before and after, by ``categories`` and by ``kernels``, largest change first;
            ``cannot_tell`` says why the traces cannot be compared.
        prediction: error of each operator's prediction, if exactly one trace was predicted by ``kprof profile -o``;
            else ``None``.
        tree: the aligned trees of modules, if requested; else ``None``.
    """

    help = "Compare two traces kernel by kernel, or a measured trace with a predicted one."
    options = TraceDiffOptions
    display = DiffAnswerOptions
    given = MappingProxyType({"before": "The trace to compare with.", "after": "The trace to check."})
    has_picture = True
    place = 0
    traces: "Sequence[SteppedKernels]"
    comparison: "TraceComparison"
    prediction: "PredictionComparison | None" = None
    tree: "TreeComparison | None" = None

    @classmethod
    def of_file(cls, file: "TraceFile", options: Any, **_further: Any) -> "SteppedKernels":
        """Read the kernels of one trace."""
        from kprof_analyzers.profiles.timeline.steps import stepped_kernels_step

        return stepped_kernels_step(file, options.categories, options.tree)

    @classmethod
    def answer(cls, paths: Sequence[Path_], options: Any, **_further: Any) -> "TraceDiff":
        """Compare two traces.

        Raises:
            InputError: a file is missing or cannot be read, or only one side has modules to align.
        """
        from kprof_analyzers.profiles.timeline.compare import compare

        before, after = paths
        sides = [per_file(of_one, [path], options, view=cls, options=options) for path in paths]
        (old, _), (new, _) = sides
        result = compare(_read_side(before, old), _read_side(after, new))
        prediction = _prediction(before, after, options)
        if prediction is not None and not result.cannot_tell:
            result = replace(result, cannot_tell=f"{prediction.predicted} was predicted, not measured")
        left_out = [each for _, missed in sides for each in missed]
        tree = _trees(old, new, result) if options.tree else None
        return cls(left_out, [*old, *new], result, prediction, tree)

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """The comparison, which is the only part."""
        return [("", self)]

    def leading(self, part: Any) -> Mapping[str, Any]:  # noqa: ARG002 - rows belong to both traces
        """Return no additional first columns for data frames, because each row belongs to both traces."""
        return {}

    @property
    def grown_percent(self) -> float | None:
        """Growth of the kernels' time in percent; ``None`` if the first trace has no kernel time."""
        result = self.comparison
        return 100 * (result.after_ns / result.before_ns - 1) if result.before_ns else None

    def verdict_of(self, display: Any) -> tuple[int, str]:
        """Return the exit code for ``--fail-over``, and for code 2 the reason why the traces cannot be compared."""
        if display.fail_over is None:
            return 0, ""
        if self.comparison.cannot_tell:
            return 2, f"cannot tell whether it is slower: {self.comparison.cannot_tell}"
        return int((self.grown_percent or 0.0) > display.fail_over), ""

    @property
    def contents(self) -> dict[str, Any]:
        """The document without ``incomplete``, the sentence about missing data."""
        result = self.comparison
        return {
            "schema": "kprof.trace.diff/1",
            "before": result.before,
            "after": result.after,
            "before_ns": result.before_ns,
            "after_ns": result.after_ns,
            "steps": result.steps,
            "cannot_tell": result.cannot_tell,
            "categories": {c: {"before_ns": was, "after_ns": now} for c, (was, now) in result.categories.items()},
            "kernels": [{name: getattr(kernel, name) for name in _KERNELS} for kernel in result.kernels],
            "prediction": self.prediction,
            **({} if self.tree is None else {"tree": self.tree}),
        }

    @property
    def conclusion(self) -> str:
        """The growth of kernel time and its largest contributor, or the prediction's error, in one line."""
        from kprof.reporters import trace_diff_text

        if self.prediction is not None:
            return trace_diff_text.verdict(self.prediction)
        result = self.comparison
        change = result.after_ns - result.before_ns
        if not result.before_ns:
            return "no kernels in the first trace"
        grown = 100 * change / result.before_ns
        first = result.kernels[0] if result.kernels else None
        most = f"; most by {kernel_label(first.name, 50)} ({signed_milliseconds(first.delta_ns)} ms)" if first else ""
        of_a_step = f" a step, of {result.steps[0]:,} and {result.steps[1]:,}" if all(result.steps) else ""
        caveat = f"; cannot be compared: {result.cannot_tell}" if result.cannot_tell else ""
        times = f"{milliseconds(result.before_ns)} -> {milliseconds(result.after_ns)} ms"
        return f"kernel time {times}{of_a_step} ({grown:+.1f} %){caveat}{most if first and first.delta_ns else ''}"

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view; if one side is a prediction, it has operators instead of kernels."""
        from kprof.reporters import trace_diff_text

        categories = (
            Column("category", lambda row: row[0]),
            Column("before ms", lambda row: milliseconds(row[1])),
            Column("after ms", lambda row: milliseconds(row[2])),
            Column("change ms", lambda row: signed_milliseconds(row[2] - row[1])),
            Column("ratio", lambda row: f"{row[2] / row[1]:.2f}x" if row[1] else "new"),
        )
        kernels = (
            Column("change ms", lambda k: signed_milliseconds(k.delta_ns)),
            Column("before ms", lambda k: "new" if k.before_ns is None else milliseconds(k.before_ns)),
            Column("after ms", lambda k: "gone" if k.after_ns is None else milliseconds(k.after_ns)),
            Column("calls", lambda k: _calls(k.before_count, k.after_count)),
            Column("mean", lambda k: "-" if k.mean_ratio is None else f"{k.mean_ratio:.2f}x"),
            Column("kernel", lambda k: kernel_label(k.name), wide=True),
        )
        return (
            ViewTable("kernels", kernels, lambda one: one.comparison.kernels, _KERNELS),
            ViewTable("categories", categories,
                  lambda one: [(name, was, now) for name, (was, now) in one.comparison.categories.items()]),
            ViewTable("operators", trace_diff_text.OPERATORS,
                  lambda one: one.prediction.rows if one.prediction else [], _PREDICTED,
                  remarks=lambda one: trace_diff_text.remarks(one.prediction)),
            ViewTable("tree", (), lambda one: list(_places(one.tree)), _PLACES, record=lambda row: row),
        )  # fmt: skip

    def grids(self, part: Any, display: Any) -> list[Grid]:  # noqa: ARG002 - the only part is this view itself
        """Return categories and kernels, or the prediction's operators; with ``--tree``, also the tree."""
        from kprof.reporters import trace_diff_text

        compared = ["categories", "kernels"] if self.prediction is None else ["operators"]
        names = [*compared, *([] if self.tree is None else ["tree"])]
        top = display.top if display is not None else 0
        shown = chosen(self.tables(), display.show or names)
        return [
            trace_diff_text.tree_grid(self.tree, top)
            if table.name == "tree" and self.tree is not None
            else table.grid(self, 0 if table.name == "categories" else top)
            for table in shown
        ]

    def to_frame(self, table: str = "") -> Any:
        """Return a table as a data frame: ``kernels``, ``tree``, or ``operators`` (the default for a prediction).

        Raises:
            KprofError: the table is unknown.
        """
        operators = self.prediction is not None and table in {"", "kernels"}
        return super().to_frame("operators" if operators else table)

    def svg(self) -> str:
        """Return both traces as stacked bars of categories, as SVG."""
        from kprof_analyzers.profiles.timeline.pictures.breakdown import stacked_bars

        result = self.comparison
        before = {category: was for category, (was, _) in result.categories.items()}
        after = {category: now for category, (_, now) in result.categories.items()}
        return stacked_bars([(label(result.before), before), (label(result.after), after)], "GPU time by category")

    def draw(self, path: Path_) -> None:
        """Write both traces as stacked bars of categories.

        Args:
            path: a ``.svg`` file, or a ``.png`` file if CairoSVG is installed.

        Raises:
            KprofError: the suffix is unknown, CairoSVG is missing, or the file cannot be written.
        """
        draw(path, self.svg)


def _calls(before: float, after: float) -> str:
    counts = (after,) if before == after else (before, after)
    return " -> ".join(f"{count:,}" if count == int(count) else f"{count:,.1f}" for count in counts)


def _trees(old: "Sequence[SteppedKernels]", new: "Sequence[SteppedKernels]", of: "TraceComparison") -> "TreeComparison":
    from kprof_analyzers.profiles.timeline.tree_diff import compare_trees

    before, after = ([one.tree for one in side if one.tree is not None] for side in (old, new))
    levels = {one.by for one in (*before, *after)}
    if len(levels) > 1:
        lacking = next(one.info.path for one in (*before, *after) if not one.has_modules)
        hint = "Align operators instead: --tree operators"
        raise InputError("this trace has no modules, but the other one does", path=lacking, hint=hint)
    steps = of.steps if all(of.steps) else (1, 1)
    return compare_trees([one.root for one in before], [one.root for one in after], levels.pop(), steps)


def _places(tree: "TreeComparison | None") -> "Iterator[dict[str, Any]]":
    from kprof_analyzers.profiles.timeline.tree_diff import walk

    for _, place, node in walk(tree.root) if tree is not None else ():
        yield {"place": place, **{name: getattr(node, name) for name in _PLACES[1:]}}


def _prediction(before: Path_, after: Path_, options: Any) -> "PredictionComparison | None":
    """Pair up operators of two traces when exactly one of them is a prediction."""
    from kprof.api.trace.ops import TraceOps
    from kprof.inputs.predicted_traces import is_predicted
    from kprof.options.measurements import OperatorOptions
    from kprof_analyzers.profiles.timeline.operators.predicted import compare_prediction

    predicted = [is_predicted(os.fspath(path)) for path in (before, after)]
    if predicted[0] == predicted[1]:
        return None
    asked = OperatorOptions(jobs=options.jobs, scheduler=options.scheduler)
    first, second = (TraceOps.answer([path], asked).traces for path in (before, after))
    return compare_prediction(second, first) if predicted[0] else compare_prediction(first, second)


def _read_side(path: Path_, found: "Sequence[SteppedKernels]") -> "TraceSide":
    """Return one side of the comparison: one trace, or the combined traces of a folder."""
    from kprof.inputs.completeness import KERNEL_TIMES, STEPS, cannot_tell
    from kprof_analyzers.profiles.timeline.compare import TraceSide

    # Steps of several files are compared only if every file marks its steps.
    steps = sum(one.steps for one in found) if all(one.steps for one in found) else 0
    # With marked steps, only kernels launched in a step are compared.
    needed = STEPS if steps else KERNEL_TIMES
    incomplete = cannot_tell((issue for one in found for issue in one.issues), (needed,))
    return TraceSide(os.fspath(path), [kernel for one in found for kernel in one.kernels], steps, incomplete)


trace_diff = function_of(TraceDiff)
