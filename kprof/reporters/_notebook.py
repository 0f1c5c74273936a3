"""HTML for results in a notebook: a sentence and small tables, without scripts, style sheets or links."""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kprof.diffing.document import Diff
from kprof.document import KernelReport, Report
from kprof.output.assignments import assigned
from kprof.output.quantities import duration
from kprof.reporters._kernel_words import better
from kprof.reporters.answer import CauseText, cause_text, causes_of, job_line

if TYPE_CHECKING:
    import pandas as pd

    from kprof.measured import Measured
    from kprof.tuning.document import TuneReport
    from kprof.tuning.trials import Trials

ROWS = 30
"""Maximum number of rows of a table; the number of further rows is shown below it."""

_TABLE = "border-collapse:collapse;margin:.4em 0"
_CELL = "padding:.15em .8em .15em 0;text-align:left;vertical-align:top;font-variant-numeric:tabular-nums"


def fragment(summary: str, *tables: str, notes: Sequence[str] = ()) -> str:
    """Return the HTML of a result: the summary, then tables, then notes."""
    said = [f'<div style="opacity:.7">{escape(note)}</div>' for note in notes[:ROWS]]
    return f"<div><div><b>{escape(summary)}</b></div>{''.join(tables)}{''.join(said)}</div>"


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a table, or "" if there are no rows. ``None`` (not known) is shown as a question mark."""
    if not rows:
        return ""
    head = "".join(f'<th style="{_CELL}">{escape(heading)}</th>' for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows[:ROWS])
    more = f"<caption>and {len(rows) - ROWS:,} more</caption>" if len(rows) > ROWS else ""
    caption = more.replace("<caption>", '<caption style="caption-side:bottom;text-align:left">')
    return f'<table style="{_TABLE}">{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(value: Any) -> str:
    return f'<td style="{_CELL}">{escape(_text(value))}</td>'


def _text(value: Any) -> str:
    if value is None:
        return "?"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def report(document: Report) -> str:
    """Return a report for a notebook: the verdict, one row per kernel, and the findings."""
    causes = [_cause(cause_text(kernel, cause), kernel) for kernel in document.kernels for cause in causes_of(kernel)]
    known = [(k.name, better(found), found.code) for k in document.kernels if (found := k.advised) is not UNSET]
    headings = ("kernel", "arch", "VGPRs", "spilled", "LDS bytes", "waves/SIMD", "limited by", "time", "bound")
    return fragment(
        document.verdict.summary,
        "".join(f"<div>{escape(job_line(job, document.kernels))}</div>" for job in document.jobs),
        table(headings, [_kernel(kernel) for kernel in document.kernels]),
        table(("kernel", "better", "configuration"), known),
        table(("severity", "rule", "what was found", "cost (model)", "what to do", "line", "kernel"), causes),
        notes=document.notes,
    )


def _cause(text: CauseText, kernel: KernelReport) -> tuple[str, ...]:
    """Return the table row of a cause, with its compiled fix or else what to try, and the change of the code."""
    what = f"{text.message}; same cause: {text.followers}" if text.followers else text.message
    todo = [f"{kind}: {words}" for kind, words in text.todo.items()]
    rule = f"{text.finding.rule} {text.finding.name}"
    return text.severity.value, rule, what, text.cost, "; ".join(todo), text.place, kernel.name


def _kernel(kernel: KernelReport) -> tuple[Any, ...]:
    taken = kernel.resources
    known = None if kernel.occupancy is UNSET else kernel.occupancy
    model = None if kernel.model is UNSET else kernel.model
    figures = (None, None, None) if taken is UNSET else (taken.vgpr_allocated, taken.vgpr_spills, taken.lds_bytes)
    return (
        kernel.name,
        kernel.arch,
        *(None if figure is UNSET else figure for figure in figures),
        None if known is None else f"{known.waves_per_simd:g} of {known.max_waves_per_simd}",
        None if known is None else known.limiter,
        None if model is None or model.time_us is None else f"{duration(model.time_us)} (modelled)",
        None if model is None else model.bound,
    )


def comparison(document: Diff) -> str:
    """Return a comparison for a notebook: the verdict, and the changes of the last version, the worst kernels first."""
    rows = [
        (kernel.name, kernel.arch, kernel.status, change.text, change.old, change.new, change.effect, change.where)
        for kernel in document.kernels
        for change in (kernel.steps[-1].changes if kernel.steps else ())
    ]
    before, after = (side.label for side in document.sides[-2:])
    headings = ("kernel", "arch", "status", "what", before, after, "effect", "loop")
    return fragment(document.verdict.summary, table(headings, rows), notes=document.notes)


def advice(summary: str, trials: "Trials | None", measured: "Measured | None") -> str:
    """Return advice for a notebook: what to try, and the verdicts of measurements on the findings."""
    rows: list[tuple[Any, ...]] = []
    for trial in () if trials is None else (trials.start, *trials.best):
        known = trial.measure
        change = assigned(trial.change) or "as it is"
        figures = (None,) * 4 if known is None else (known.vgpr_spills, known.vgprs, known.waves, known.lds_bytes)
        rows.append((change, None if trial.time_us is None else duration(trial.time_us), *figures))
    judged = [(one.standing, one.rule, one.message, one.words) for one in (measured.judgements if measured else ())]
    headings = ("change", "predicted", "spilled", "VGPRs", "waves/SIMD", "LDS bytes")
    return fragment(summary, table(headings, rows), table(("measured", "rule", "finding", "what was measured"), judged))


def tuning(summary: str, document: "TuneReport") -> str:
    """Return a search for a notebook: the short list of each problem."""
    from kprof.reporters.tune_text import predicted

    rows = [
        (
            problem.name,
            rank,
            assigned(one.config),
            predicted(one) if one.measured_ms is None else f"{duration(1000 * one.measured_ms)} (measured)",
            one.bound,
            one.resources.vgpr_allocated,
            one.resources.vgpr_spills,
        )
        for problem in document.problems
        for rank, one in enumerate((problem.ranking[place] for place in problem.short_list), 1)
    ]
    headings = ("problem", "rank", "configuration", "predicted", "bound", "VGPRs", "spilled")
    return fragment(summary, table(headings, rows))


def framed(summary: str, frame: "pd.DataFrame", notes: Sequence[str] = ()) -> str:
    """Return a result with a single table for a notebook: the summary, and the first rows of the table."""
    known = frame.head(ROWS).astype(object)
    rows = known.where(known.notna(), None).to_numpy().tolist()
    more = [f"and {len(frame) - ROWS:,} more"] if len(frame) > ROWS else []
    return fragment(summary, table([str(name) for name in frame.columns], rows), notes=[*more, *notes])
