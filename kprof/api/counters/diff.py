"""``kprof.counter_diff``: hardware counters of two runs, kernel by kernel and metric by metric."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.counters.answer import FIELDS, Path_, choose
from kprof.api.options import Names
from kprof.api.result import Result
from kprof.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.rocprof import ProfileIssue
    from kprof_analyzers.profiles.counters.chosen import Chosen
    from kprof_analyzers.profiles.counters.diff import CounterComparison, Pair, Value
    from kprof_analyzers.profiles.counters.kernels import KernelCounters


@dataclass(frozen=True, eq=False, repr=False)
class CounterDiff(Result):
    """What changed between two profiled runs.

    Attributes:
        before: kernels of the first run.
        after: kernels of the second run.
        comparison: ``pairs`` of the same kernel with its metrics in both runs, the largest change of time first, and
            the kernels that only one run has.
    """

    before: "Chosen"
    after: "Chosen"
    comparison: "CounterComparison"
    kind: ClassVar[str] = "counters-diff"

    @property
    def grown_percent(self) -> float | None:
        """How much the kernels' time grew, for as many dispatches as before; ``None`` where no times are known."""
        return self.comparison.grown_percent

    @property
    def cannot_tell(self) -> str:
        """Why it is not known whether the second run is slower; empty where it is."""
        from kprof.inputs.completeness import KERNEL_TIMES, cannot_tell

        incomplete = cannot_tell(self.issues, (KERNEL_TIMES,))
        return f"incomplete: {incomplete}" if incomplete else self.comparison.cannot_tell

    @property
    def issues(self) -> "list[ProfileIssue]":
        """What cannot be trusted in the files of both runs."""
        return [*self.before.data.issues, *self.after.data.issues]

    @property
    def left_out(self) -> Sequence[str]:
        """What is not compared, and why, in words."""
        return [*self.before.left_out, *self.after.left_out]

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as ``kprof counters diff --json`` writes it."""
        found, times = self.comparison, self.comparison.times
        return {
            "schema": "kprof.counters.diff/1",
            "before": self.before.runs.labels[self.before.used[0]],
            "after": self.after.runs.labels[self.after.used[0]],
            "before_ns": times[0] if times else None,
            "after_ns": times[1] if times else None,
            "cannot_tell": self.cannot_tell,
            "kernels": [self._pair(pair) for pair in found.pairs],
            "only_before": [_alone(self.before, one) for one in found.only_before],
            "only_after": [_alone(self.after, one) for one in found.only_after],
        }

    @property
    def summary(self) -> str:
        """How many kernels were compared, which have no partner, and how much time grew."""
        from kprof.inputs.completeness import with_headline
        from kprof.reporters.counters_diff_text import verdict

        return with_headline(verdict(self.before, self.after, self.comparison), self.issues)

    def to_frame(self) -> "pd.DataFrame":
        """A row a kernel and metric, its duration first: ``before`` and ``after`` with their ``unit``, ``ratio``, the
        standard deviations over the dispatches of each run, and whether the difference is ``beyond_spread``.
        """  # noqa: D205 - one sentence
        from kprof.reporters._frames import plain_frame
        from kprof.reporters.csv_rows import COUNTER_COLUMNS, counter_rows

        return plain_frame(counter_rows(self.document), COUNTER_COLUMNS)

    def _pair(self, pair: "Pair") -> dict[str, Any]:
        return {
            "kernel": pair.before.name,
            "before": self.before.identity(pair.before) | {"dispatches": pair.before.calls},
            "after": self.after.identity(pair.after) | {"dispatches": pair.after.calls},
            "differs": list(pair.differs),
            "nanoseconds": _value(pair.time),
            "metrics": {
                name: {"title": change.formula.title, "unit": change.formula.unit, **_value(change.value)}
                | ({"flag": change.flag} if change.flag else {})
                for name, change in pair.metrics.items()
            },
        }


def _alone(chosen: "Chosen", kernel: "KernelCounters") -> dict[str, Any]:
    return {
        "kernel": kernel.name,
        "dispatches": kernel.calls,
        "nanoseconds": kernel.nanoseconds,
        **chosen.identity(kernel),
    }


def _value(value: "Value") -> dict[str, Any]:
    def entries() -> Iterator[tuple[str, Any]]:
        yield "before", value.before
        yield "after", value.after
        yield "ratio", value.ratio
        for side, spread in zip(("before", "after"), value.spread, strict=True):
            yield f"{side}_spread", asdict(spread) if spread is not None else None
        yield "beyond_spread", value.beyond_spread

    return dict(entries())


def counter_diff(
    before: Path_,
    after: Path_,
    *,
    arch: str | None = None,
    kernel: str = "",
    dispatch: Sequence[int] = (),
    by: Names = FIELDS,
) -> CounterDiff:
    """Hardware counters of two runs: the same kernels, metric by metric, with the spread over their dispatches.

    The same kernel has the same name, grid, workgroup, LDS and VGPRs, and the same agent where a run has several. One
    launch of two builds, with other LDS or VGPRs, is compared where nothing else can be meant, and says so.

    Args:
        before: the run to compare with: a file or a folder, as for :func:`kprof.read_counters`.
        after: the run in question.
        arch: the GPU when the files do not say: ``MI300X`` or ``gfx942``. A product gives peaks.
        kernel: only kernels with this in their names.
        dispatch: only these dispatches of each run.
        by: launches that agree in these are put together: ``name,grid``.

    Raises:
        InputError: a file cannot be read, or one path holds several runs.
        KprofError: there are no counters, a choice fits nothing, or no file says which GPU it was.
    """
    from kprof_analyzers.profiles.counters.diff import compare

    sides = [choose([path], arch=arch, kernel=kernel, run=(), dispatch=dispatch, by=by) for path in (before, after)]
    for path, chosen in zip((before, after), sides, strict=True):
        if len(chosen.used) > 1:
            labels = ", ".join(chosen.runs.labels[run] for run in chosen.used)
            raise InputError(
                f"holds {len(chosen.used)} runs: {labels}", path=os.fspath(path), hint="Name the files of one of them."
            )
    return CounterDiff(sides[0], sides[1], compare(sides[0], sides[1]))
