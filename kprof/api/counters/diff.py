"""``kprof counters diff``: compare two profiled runs kernel by kernel and metric by metric."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kprof.api.counter_views import CounterView, choose
from kprof.api.options import Path_
from kprof.api.views import function_of
from kprof.errors import InputError
from kprof.options.measurements import CounterOptions, DiffAnswerOptions
from kprof.output.tables import number
from kprof.reporters._trace_format import kernel_label
from kprof.reporters.csv_rows import COUNTER_COLUMNS, counter_rows
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    from kprof_analyzers.profiles.counters.chosen import Chosen
    from kprof_analyzers.profiles.counters.diff import CounterComparison, Pair, Value
    from kprof_analyzers.profiles.counters.kernels import KernelCounters


@dataclass(frozen=True, eq=False, repr=False)
class CounterDiff(CounterView):
    """Compare two profiled runs kernel by kernel and metric by metric, with the spread over dispatches.

    Kernels are the same if name, grid, workgroup, LDS and VGPRs are equal, and the agent if a run has several. A launch
    of two builds with different LDS or VGPRs is compared too if the match is unambiguous, and is marked.

    Times are scaled to the first run's number of dispatches. With --fail-over, the exit code is 2 (cannot tell) for an
    incomplete run, or for a kernel without a partner or times. If the runs are complete and the compared kernels are
    already too slow, the exit code is 1.

    Example:  kprof counters diff before/ after/ --kernel attention --fail-over 3

    Attributes:
        chosen: kernels of the first run.
        after_chosen: kernels of the second run.
        comparison: ``pairs`` of the same kernel with its metrics in both runs, largest change of time first, and
            the kernels that occur in only one run.
    """

    help = "Compare two profiled runs, kernel by kernel and metric by metric."
    kind = "counters-diff"
    options = CounterOptions
    display = DiffAnswerOptions
    given = MappingProxyType(
        {"before": "The run to compare with: files of any ROCm profiler.", "after": "The run to check."}
    )
    after_chosen: "Chosen"
    comparison: "CounterComparison"

    @classmethod
    def answer(cls, paths: Sequence[Path_], options: Any, **_further: Any) -> "CounterDiff":
        """Compare two runs.

        Raises:
            InputError: a file cannot be read, or one path holds several runs.
            KprofError: there are no counters, a filter matches nothing, or no file names its GPU.
        """
        from kprof_analyzers.profiles.counters.diff import compare

        before, after = (choose([path], options) for path in paths)
        for path, chosen in zip(paths, (before, after), strict=True):
            if len(chosen.used) > 1:
                labels = ", ".join(chosen.runs.labels[run] for run in chosen.used)
                hint = "Name the files of one run."
                raise InputError(f"holds {len(chosen.used)} runs: {labels}", path=os.fspath(path), hint=hint)
        return cls(before, after, compare(before, after))

    @property
    def before(self) -> "Chosen":
        """The kernels of the first run."""
        return self.chosen

    @property
    def after(self) -> "Chosen":
        """The kernels of the second run."""
        return self.after_chosen

    @property
    def sides(self) -> "Sequence[Chosen]":
        """The kernels of both runs."""
        return [self.chosen, self.after_chosen]

    @property
    def grown_percent(self) -> float | None:
        """Growth of the kernels' time in percent, scaled to the first run's dispatch counts; ``None`` without times."""
        return self.comparison.grown_percent

    @property
    def cannot_tell(self) -> str:
        """Reason why the change of time is unknown, or "" if it is known."""
        from kprof.inputs.completeness import KERNEL_TIMES, cannot_tell

        incomplete = cannot_tell(self.issues, (KERNEL_TIMES,))
        return f"incomplete: {incomplete}" if incomplete else self.comparison.cannot_tell

    def verdict_of(self, display: Any) -> tuple[int, str]:
        """Return the exit code for ``--fail-over``, and the reason for code 2 (the change of time is unknown)."""
        if display.fail_over is None:
            return 0, ""
        doubt = self.cannot_tell
        if doubt in {"", self.comparison.cannot_tell} and (self.grown_percent or 0.0) > display.fail_over:
            return 1, ""
        return (2, f"cannot tell whether it is slower: {doubt}") if doubt else (0, "")

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof counters diff --json`` writes."""
        found, times = self.comparison, self.comparison.times
        before, after = self.sides
        return {
            "schema": "kprof.counters.diff/1",
            "before": before.runs.labels[before.used[0]],
            "after": after.runs.labels[after.used[0]],
            "before_ns": times[0] if times else None,
            "after_ns": times[1] if times else None,
            "cannot_tell": self.cannot_tell,
            "kernels": [self._pair(pair) for pair in found.pairs],
            "only_before": [_unpaired_record(before, one) for one in found.only_before],
            "only_after": [_unpaired_record(after, one) for one in found.only_after],
        }

    @property
    def conclusion(self) -> str:
        """The number of compared kernels, the kernels without a partner, and the growth of time, in one line."""
        from kprof.reporters import counters_diff_text

        return counters_diff_text.verdict(self.before, self.after, self.comparison)

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the only table: one row per kernel and metric; each kernel's first row is its duration."""
        columns = (
            Column("kernel", lambda row: kernel_label(row["kernel"]), wide=True),
            Column("metric", lambda row: row["metric"]),
            Column("before", lambda row: number(row["before"])),
            Column("after", lambda row: number(row["after"])),
            Column("ratio", lambda row: "-" if row["ratio"] is None else f"{row['ratio']:.3f}"),
            Column("unit", lambda row: row["unit"]),
        )
        return (
            ViewTable("metrics", columns, lambda found: list(counter_rows(found.document)), COUNTER_COLUMNS,
                  record=lambda row: row),
        )  # fmt: skip

    def lines(self, display: Any) -> list[str]:
        """Return the text report: the GPUs and runs of both sides, and the kernels whose time changed most."""
        from kprof.reporters import counters_diff_text

        if display.show:
            return super().lines(display)
        top = display.top or len(self.comparison.pairs)
        return counters_diff_text.page(self.before, self.after, self.comparison, top)

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


def _unpaired_record(chosen: "Chosen", kernel: "KernelCounters") -> dict[str, Any]:
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


counter_diff = function_of(CounterDiff)
