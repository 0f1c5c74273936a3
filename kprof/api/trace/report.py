"""``kprof trace report``: one page about traces, each of which is read once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.api.options import Path_
from kprof.api.trace_runs import TracedRun, TracedRuns, page_parts, part_of, read_runs
from kprof.api.views import TraceView, function_of
from kprof.errors import KprofError, near_hint
from kprof.options.measurements import AnswerOptions, TraceReportOptions
from kprof.output.headline import wrapped
from kprof.output.quantities import milliseconds, percent, plural
from kprof.output.sink import one_line
from kprof.reporters._trace_format import label
from kprof.reporters.grids import Column, ViewTable

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.torch_profiler.issues import TraceIssue

_FIRST, _LAST = "completeness", "next"
_CURE = "complete the recording"


@dataclass(frozen=True, eq=False, repr=False)
class TraceReport(TraceView):
    """Report the results of all views of kprof trace on one page; each trace is read once.

    The parts of the page are completeness, the views (breakdown, steps, top, gaps, tree, ops, ranks), and next: what to
    do, with the maximum time that it could save. -o page.html writes the page; --show gaps,next prints parts by name.

    Example:  kprof trace report trace.json.gz -o page.html

    Attributes:
        traces: data of each trace.
        runs: the traces, with each view over all of them.
    """

    help = "One page: completeness, breakdown, steps, kernels, gaps, operators, ranks, what to do."
    options = TraceReportOptions
    place = 0
    traces: Sequence[TracedRun]
    runs: TracedRuns

    @classmethod
    def answer(cls, paths: Sequence[Path_], options: Any, **_further: Any) -> "TraceReport":
        """Read each trace once, and compute every view."""
        runs = read_runs(paths, options)
        return cls(runs.left_out, runs.traces, runs)

    @property
    def answers(self) -> Mapping[str, TraceView]:
        """Views over all traces, by name, in the order of the page."""
        return self.runs.answers

    @property
    def issues(self) -> "list[TraceIssue]":
        """Issues found while reading, in the order of traces, followed by missing ranks."""
        ranks = self.answers.get("ranks")
        known = [issue for one in self.traces for issue in one.issues]
        return [*known, *(issue for issue in (ranks.issues if ranks else ()) if issue.kind == "missing-ranks")]

    @property
    def advice_of_all(self) -> list[tuple[float, str, str]]:
        """Advice as (maximum saving in ns, path of the trace, sentence), largest saving first."""
        found = [(0.0, issue.path or "", f"{_CURE}: {issue.cure}") for issue in self.issues if issue.cure]
        for one in self.traces:
            for name, answer in self.answers.items():
                advice = type(answer).advice(one.parts[name])
                found += [(each.saves_ns, one.info.path, each.sentence) for each in advice]
        return sorted(dict.fromkeys(found), key=lambda each: (not each[2].startswith(_CURE), -each[0]))

    @property
    def contents(self) -> dict[str, Any]:
        """The document: each part by its name."""
        return {
            "schema": "kprof.trace.report/1",
            "traces": [one.info for one in self.traces],
            _FIRST: self.issues,
            **{name: answer.contents for name, answer in self.answers.items()},
            _LAST: [{"saves_ns": ns, "path": path, "text": words} for ns, path, words in self.advice_of_all],
        }

    @property
    def conclusion(self) -> str:
        """The number of traces, the busy share of the GPUs, and what to do first, in one line."""
        whole = sum(one.operators.kernel_ns for one in self.traces)
        devices = [device for one in self.traces for device in one.breakdown.devices]
        busy, span = sum(d.busy_ns for d in devices), sum(d.span_ns for d in devices)
        words = f"{plural(len(self.traces), 'trace')}, {milliseconds(whole)} ms of kernels"
        words += f", GPU busy {percent(busy, span)}" if span else ""
        first = next((each for each in self.advice_of_all if each[0]), None)
        return f"{words}; next: {first[2]} (up to {milliseconds(first[0])} ms)" if first else words

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of the parts ``next`` and ``completeness``; other parts use the tables of their view."""
        issues = (
            Column("trace", lambda issue: label(issue.path or "", 40)),
            Column("what", lambda issue: issue.message, wide=True),
            Column("unknown", lambda issue: ", ".join(issue.unknown) or "-"),
            Column("fix", lambda issue: issue.cure or "-", wide=True),
        )
        advice = (
            Column("saves up to ms", lambda row: milliseconds(row[0]) if row[0] else "-"),
            Column("trace", lambda row: label(row[1], 40), wide=True, spare=True),
            Column("what to do", lambda row: row[2], wide=True),
        )
        fields = ("saves_ns", "path", "text")
        return (
            ViewTable(_LAST, advice, lambda found: found.advice_of_all, fields,
                  record=lambda row: dict(zip(fields, row, strict=True))),
            ViewTable(_FIRST, issues, lambda found: found.issues, ("path", "kind", "message", "unknown", "cure")),
        )  # fmt: skip

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """The report, which is the only part."""
        return [("", self)]

    def leading(self, part: Any) -> Mapping[str, Any]:  # noqa: ARG002 - each row names its trace
        """Return no additional first columns for data frames."""
        return {}

    def to_frame(self, table: str = "") -> "pd.DataFrame":
        """Return ``next``, ``completeness`` or the first table of a view by its name, as a data frame.

        Raises:
            KprofError: the part is unknown.
        """
        return self.answers[table].to_frame() if table in self.answers else super().to_frame(table)

    def lines(self, display: Any) -> list[str]:
        """Return the parts in order, each under its name; empty if a page is written and no part is requested."""
        names = [_FIRST, *self.answers, _LAST]
        for name in display.show:
            if name not in names:
                raise KprofError(f"the report has no part {name!r}", hint=near_hint(name, names, "there are"))
        if display.output is not None and not display.show:
            return []
        return [
            line for name in names if name in (display.show or names) for line in self._section_lines(name, display)
        ]

    def _section_lines(self, name: str, display: Any) -> list[str]:
        plain = AnswerOptions(top=display.top)
        if name in self.answers:
            answer = self.answers[name]
            return [f"== {name}: {one_line(answer.advised)}", *answer.lines(plain)]
        several = len(self.traces) > 1
        if name == _FIRST:
            head, found = self.incomplete or "complete", [str(issue) for issue in self.issues]
        else:
            found = [_sentence(row, several=several) for row in self.advice_of_all]
            head = "" if found else "nothing stands out"
        shown = found[: display.top] if display.top else found
        left = [f"and {len(found) - len(shown):,} more; -n 0 shows all"] if len(found) > len(shown) else []
        return [f"== {name}: {head}".rstrip(": "), *(wrapped(f"- {one_line(line)}") for line in shown), *left, ""]

    def to_html(self) -> str:
        """Return one self-contained page: the timeline, and each part under its name."""
        from kprof.reporters.grids import PAGE_ROWS
        from kprof.reporters.html.run import PagePart, run_page

        last, first = (table.grid(self, PAGE_ROWS) for table in self.tables())
        return run_page(
            [(one, page_parts(self.runs, place)) for place, one in enumerate(self.traces)],
            summary=self.summary,
            schema="kprof.trace.report/1",
            before=[PagePart(_FIRST, "", self.incomplete or "complete", [first])],
            after=[part_of("ranks", self.answers["ranks"]), PagePart(_LAST, "", "", [last])],
            notes=list(self.warnings()),
        )

    def remarks(self) -> Iterable[str]:
        """Return no remarks, because issues found while reading are a part of the report."""
        return ()


def _sentence(row: tuple[float, str, str], *, several: bool) -> str:
    saved, path, words = row
    where = f"{label(path, 40)}: " if several and path else ""
    return f"{where}up to {milliseconds(saved)} ms: {words}" if saved else f"{where}{words}"


trace_report = function_of(TraceReport)
