"""Markdown for a comment on a pull request or a job's summary."""

import re
from collections.abc import Sequence
from typing import Any

from kprof.document import Report
from kprof.findings import Edit
from kprof.output.sink import clean
from kprof.reporters._ci_findings import GateFinding, cure, fails, items, label, unknown
from kprof.reporters._markdown_cells import COMMENT_LIMIT, STATUS_ICON, cell, code
from kprof.reporters.interface import Format, ReportRequest

_HEAD = ("| severity | rule | line | kernel | arch | what |", "|---|---|---|---|---|---|")


class MarkdownReporter:
    """The verdict, what fails, what cannot be determined, and the rest folded away.

    Args:
        limit: characters; rows that do not fit are counted instead.
    """

    def __init__(self, limit: int = COMMENT_LIMIT) -> None:
        self._limit = limit

    def render(self, report: Report) -> str:
        """See :class:`kprof.reporters.interface.Format`."""
        found = items(report)
        failing = [item for item in found if fails(item.finding)]
        unsure = [item for item in found if unknown(item.finding)]
        others = [item for item in found if not fails(item.finding) and not unknown(item.finding)]
        silent = [item for item in items(report, suppressed=True) if item.suppressed is not None]
        summary = cell(report.verdict.summary)
        if len(summary) > self._limit // 4:
            summary = f"{summary[: self._limit // 4]}… ({len(summary):,} characters)"
        lines = [f"### {STATUS_ICON[report.verdict.status]} kprof: {summary}", ""]
        # What says how much is left out has its place, too.
        room = self._limit - 600 - sum(len(line) + 1 for line in lines)
        for title, chosen, folded in (
            ("Fails", failing, False),
            ("Cannot be determined", unsure, False),
            ("Other findings", others, True),
            ("Silenced by an ignore, the baseline or an allowance", silent, True),
        ):
            section = _section(title, chosen, room, folded=folded)
            room -= sum(len(line) + 1 for line in section)
            lines += section
            if chosen is failing:
                # Half of it is for what else was found.
                cures = _cures(failing, room // 2)
                room -= sum(len(line) + 1 for line in cures)
                lines += cures
        lines += _fitting([f"- {cell(note)}" for note in report.notes], room)
        return "\n".join(lines).rstrip() + "\n"


def _fitting(notes: Sequence[str], room: int) -> list[str]:
    """As many notes as there is room for, and how many more there are."""
    shown: list[str] = []
    for note in notes:
        room -= len(note) + 1
        if room < 0:
            break
        shown.append(note)
    left = len(notes) - len(shown)
    return (
        [*shown, f"- {left} more remark{'s' if left > 1 else ''} do{'' if left > 1 else 'es'} not fit here"]
        if left
        else shown
    )


def _section(title: str, found: Sequence[GateFinding], room: int, *, folded: bool) -> list[str]:
    if not found:
        return []
    head = [f"<details><summary>{title}: {len(found)}</summary>", ""] if folded else [f"**{title}: {len(found)}**", ""]
    end = ["", "</details>", ""] if folded else [""]
    room -= sum(len(line) + 1 for line in (*head, *end, *_HEAD)) + 40
    rows: list[str] = []
    for item in found:
        row = _row(item)
        room -= len(row) + 1
        if room < 0:
            break
        rows.append(row)
    left = len(found) - len(rows)
    more = ["", f"{left} more do not fit here."] if left else []
    return [*head, *_HEAD, *rows, *more, *end] if rows else [f"**{title}: {len(found)}** (no room for the table)", ""]


def _cures(failing: Sequence[GateFinding], room: int) -> list[str]:
    """Each verified cure that is a change of lines, as suggestions; as many as there is room for."""
    lines: list[str] = []
    left = 0
    done: set[Edit] = set()
    for item in failing:
        changes = [edit for edit in cure(item.finding) if edit not in done]
        if not changes:
            continue
        done |= set(changes)
        block = [
            "",
            f"**Cure** of {code(label(item.kernel))} on {item.kernel.arch}: {cell(item.advice)}",
            "",
        ]
        for edit in changes:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", edit.after)), default=0))
            block += [f"{code(f'{edit.file}:{edit.line}')}", "", f"{fence}suggestion", clean(edit.after), fence, ""]
        room -= sum(len(line) + 1 for line in block)
        if room < 0:
            left += 1
            continue
        lines += block
    if left:
        lines += ["", f"**Cures** that do not fit here: {left}.", ""]
    return lines


def _row(item: GateFinding) -> str:
    finding = item.finding
    text = " ".join(filter(None, (f"{item.text}.", item.advice)))
    if item.suppressed is not None:
        text = f"{text} ({item.suppressed})"
    cells = (
        finding.severity.value,
        f"{finding.rule} {finding.name}",
        code(item.where),
        code(label(item.kernel)),
        item.kernel.arch,
        cell(text),
    )
    return f"| {' | '.join(cells)} |"


class _Markdown(Format):
    name = "markdown"
    help = "Write Markdown for a comment."
    extension = ".md"
    documents = ("report", "check", "lint", "diff")
    from_root = True

    def render(self, document: Any, request: ReportRequest) -> str:
        """See :class:`kprof.reporters.interface.Format`."""
        if request.kind == "diff":
            from kprof.reporters.diff_markdown import render

            return render(document)
        return MarkdownReporter().render(document)


FORMAT = _Markdown()
