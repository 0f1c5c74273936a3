"""``kprof.trace_diff``: two traces kernel by kernel."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from kprof.api.trace.answer import Path_, PerTrace, per_file, picture
from kprof.errors import InputError, KprofError

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Repairs
    from kprof_analyzers.profiles.timeline.compare import TraceComparison, TraceSide
    from kprof_analyzers.profiles.timeline.operators.predicted import PredictionComparison
    from kprof_analyzers.profiles.timeline.steps import SteppedKernels
    from kprof_analyzers.profiles.timeline.tree_diff import TreeComparison


@dataclass(frozen=True, eq=False, repr=False)
class TraceDiff(PerTrace):
    """What changed between two runs.

    Attributes:
        traces: what each file gave.
        comparison: times before and after, by ``categories`` and by ``kernels``, the largest change first;
            ``cannot_tell`` says why they cannot be compared.
        prediction: where one of them is what ``kprof profile -o`` wrote and the other was measured, how far each
            operator is off; else ``None``.
        tree: both trees of modules aligned, where they were asked for; else ``None``.
    """

    traces: "Sequence[SteppedKernels]"
    comparison: "TraceComparison"
    prediction: "PredictionComparison | None" = None
    tree: "TreeComparison | None" = None

    @property
    def grown_percent(self) -> float | None:
        """How much kernel time grew, in percent; ``None`` where there was none before."""
        result = self.comparison
        return 100 * (result.after_ns / result.before_ns - 1) if result.before_ns else None

    @property
    def contents(self) -> dict[str, Any]:
        """Everything, as ``kprof trace diff --json`` writes it."""
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
            "kernels": list(self._rows()),
            "prediction": self.prediction,
            **({} if self.tree is None else {"tree": self.tree}),
        }

    @property
    def conclusion(self) -> str:
        """How much kernel time grew, and by which kernel most; of a prediction, how far it is off."""
        from kprof.reporters import trace_prediction_text
        from kprof.reporters.trace_diff_text import verdict

        if self.prediction is not None:
            return trace_prediction_text.verdict(self.prediction)
        return verdict(self.comparison)

    def to_frame(self, table: Literal["kernels", "tree"] = "kernels") -> "pd.DataFrame":
        """A row a kernel: ``name``, ``category``, ``before_ns``, ``after_ns``, how often each time, ``delta_ns`` and
        ``mean_ratio``, its mean time after over before. With a prediction a row an operator: ``measured_ns`` and
        ``predicted_ns`` of a call, their ``ratio``, and ``off_ns`` for all calls that were measured. ``tree``: a row a
        module or operator with its ``place``, names from the top joined by ``/``, each before those inside it.

        Raises:
            KprofError: there is no such table.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import plain_frame

        if table == "tree" and self.tree is not None:
            return plain_frame(_places(self.tree), _PLACES)
        if table != "kernels":
            raise KprofError(f"there is no table {table!r}", hint="there are kernels, and with tree=True tree")
        if self.prediction is not None:
            rows = self.prediction.rows
            return plain_frame(({name: getattr(row, name) for name in _PREDICTED} for row in rows), _PREDICTED)
        return plain_frame(self._rows(), _COLUMNS)

    def draw(self, path: Path_) -> None:
        """Write both as stacked bars of categories.

        Args:
            path: ``.svg``, or ``.png`` where CairoSVG is installed.

        Raises:
            KprofError: another ending, no CairoSVG, or the file cannot be written.
        """
        picture(path, self._svg)

    def _svg(self) -> str:
        from kprof.reporters._trace_format import label
        from kprof_analyzers.profiles.timeline.pictures.stacked_bars import stacked_bars

        result = self.comparison
        before = {category: was for category, (was, _) in result.categories.items()}
        after = {category: now for category, (_, now) in result.categories.items()}
        return stacked_bars([(label(result.before), before), (label(result.after), after)], "GPU time by category")

    def _rows(self) -> "list[dict[str, Any]]":
        return [{name: getattr(kernel, name) for name in _COLUMNS} for kernel in self.comparison.kernels]


_COLUMNS = (
    "name", "category", "before_ns", "after_ns", "before_count", "after_count", "delta_ns", "mean_ratio",
)  # fmt: skip
_PREDICTED = (
    "name", "shapes", "types", "measured_calls", "predicted_calls", "measured_ns", "predicted_ns", "ratio", "off_ns",
)  # fmt: skip
_PLACES = (
    "place", "before_ns", "after_ns", "before_own_ns", "after_own_ns", "before_kernels", "after_kernels", "delta_ns",
)  # fmt: skip


def trace_diff(
    before: Path_,
    after: Path_,
    *,
    categories: str | None = None,
    tree: 'Literal["modules", "operators", "both"] | None' = None,
    jobs: int = 1,
    scheduler: str | None = None,
    repairs: "Repairs" = (),
) -> TraceDiff:
    """What changed between two runs: before and after, or two batch sizes.

    Where both traces mark steps, the mean step is compared, so that they need not have equally many. Where one was
    predicted and the other measured, their operators are compared too, call by call.

    Args:
        before: the trace to compare with, or a folder of traces whose times are added up.
        after: the trace in question.
        categories: a TOML file with rules of your own, read before those that come with kprof.
        tree: also align the trees of modules, of operators, or of both.
        jobs: processes, 0 for one a core.
        scheduler: a Dask scheduler that does the per-file step instead: ``tcp://host:8786``.
        repairs: ``exclude-warm-up``, ``cap-durations``: what to repair in each trace; nothing by default.

    Raises:
        InputError: a file is missing or cannot be read, or only one side has modules to align.
        KprofError: the rules cannot be used.
    """
    from kprof_analyzers.profiles.timeline.compare import compare
    from kprof_analyzers.profiles.timeline.steps import stepped_kernels_step

    reading: Any = {"jobs": jobs, "scheduler": scheduler, "repairs": repairs}
    sides = [
        per_file(stepped_kernels_step, [path], **reading, categories=categories, tree=tree) for path in (before, after)
    ]
    (old, _), (new, _) = sides
    result = compare(_side(before, old), _side(after, new))
    prediction = _prediction(before, after, jobs, scheduler)
    if prediction is not None and not result.cannot_tell:
        result = replace(result, cannot_tell=f"{prediction.predicted} was predicted, not measured")
    left_out = [each for _, missed in sides for each in missed]
    return TraceDiff(left_out, [*old, *new], result, prediction, _trees(old, new, result) if tree else None)


def _trees(old: "Sequence[SteppedKernels]", new: "Sequence[SteppedKernels]", of: "TraceComparison") -> "TreeComparison":
    from kprof_analyzers.profiles.timeline.tree_diff import compare_trees

    before, after = ([one.tree for one in side if one.tree is not None] for side in (old, new))
    levels = {one.by for one in (*before, *after)}
    if len(levels) > 1:
        lacking = next(one.info.path for one in (*before, *after) if not one.has_modules)
        hint = "align operators: --tree operators"
        raise InputError("this trace has no modules, the other one has", path=lacking, hint=hint)
    steps = of.steps if all(of.steps) else (1, 1)
    return compare_trees([one.root for one in before], [one.root for one in after], levels.pop(), steps)


def _places(tree: "TreeComparison") -> "Iterator[dict[str, Any]]":
    from kprof_analyzers.profiles.timeline.tree_diff import walk

    for _, place, node in walk(tree.root):
        yield {"place": place, **{name: getattr(node, name) for name in _PLACES[1:]}}


def _prediction(before: Path_, after: Path_, jobs: int, scheduler: str | None) -> "PredictionComparison | None":
    """Operators of both sides, where exactly one of them was predicted."""
    from kprof_analyzers.profiles.timeline.operators.predicted import compare_prediction
    from kprof_analyzers.profiles.timeline.steps import operators_step
    from kprof_analyzers.whole_step.kineto import is_predicted

    predicted = [is_predicted(os.fspath(path)) for path in (before, after)]
    if predicted[0] == predicted[1]:
        return None
    first, second = (per_file(operators_step, [path], jobs=jobs, scheduler=scheduler)[0] for path in (before, after))
    return compare_prediction(second, first) if predicted[0] else compare_prediction(first, second)


def _side(path: Path_, found: "Sequence[SteppedKernels]") -> "TraceSide":
    """One trace, or the traces of a folder taken together."""
    from kprof.inputs.completeness import KERNEL_TIMES, STEPS, cannot_tell
    from kprof_analyzers.profiles.timeline.compare import TraceSide

    # Of several files each must mark its steps.
    steps = sum(one.steps for one in found) if all(one.steps for one in found) else 0
    # Only what a step launched counts where steps are marked.
    needed = STEPS if steps else KERNEL_TIMES
    incomplete = cannot_tell((issue for one in found for issue in one.issues), (needed,))
    return TraceSide(os.fspath(path), [kernel for one in found for kernel in one.kernels], steps, incomplete)
