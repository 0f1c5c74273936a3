"""Markdown for a comment on a pull request or for a job's summary."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from kprof.document import Report
from kprof.findings import Edit
from kprof.gate.rules import METRIC_WORDS, step_of
from kprof.output.sink import clean
from kprof.reporters._ci_findings import GateFinding, cure, fails, items, label, unknown, verified
from kprof.reporters._markdown_cells import COMMENT_LIMIT, STATUS_ICON, cell, code
from kprof.reporters.interface import Format, ReportRequest

_FINDINGS = ("| severity | rule | line | kernel | arch | what |", "|---|---|---|---|---|---|")
_OTHERS = 8
"""Maximum number of findings in a kernel's row, besides its metrics."""
_KERNELS = ("| kernel | arch | what is worse | fix | line |", "|---|---|---|---|---|")


class MarkdownReporter:
    """Reporter that writes the verdict, failing kernels and undetermined checks; other findings are collapsed.

    Args:
        limit: maximum number of characters; rows that do not fit are only counted.
    """

    def __init__(self, limit: int = COMMENT_LIMIT) -> None:
        self._limit = limit

    def render(self, report: Report) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        found = items(report)
        failing = [item for item in found if fails(item.finding)]
        unsure = [item for item in found if unknown(item.finding)]
        others = [item for item in found if not fails(item.finding) and not unknown(item.finding)]
        silent = [item for item in items(report, suppressed=True) if item.suppressed is not None]
        summary = cell(report.verdict.summary)
        if len(summary) > self._limit // 4:
            summary = f"{summary[: self._limit // 4]}… ({len(summary):,} characters)"
        lines = [f"### {STATUS_ICON[report.verdict.status]} kprof: {summary}", ""]
        # Reserve 600 characters for the lines with the numbers of omitted rows.
        room = self._limit - 600 - _length(lines)
        kernels = _section("Kernels that fail", _KERNELS, _kernel_rows(failing), room)
        room -= _length(kernels)
        # Suggested fixes may use half of the room; the other half is for the other findings.
        cures = _cures(failing, room // 2)
        room -= _length(cures)
        lines += [*kernels, *cures]
        for title, chosen, folded in (
            ("Cannot be determined", unsure, False),
            ("Other findings", others, True),
            ("Silenced by an ignore, the baseline or an allowance", silent, True),
        ):
            section = _section(title, _FINDINGS, [_row(item) for item in chosen], room, folded=folded)
            room -= _length(section)
            lines += section
        lines += _fitting([f"- {cell(note)}" for note in report.notes], room)
        return "\n".join(lines).rstrip() + "\n"


def _fitting(notes: Sequence[str], room: int) -> list[str]:
    """Return the notes that fit, followed by a line with the number of omitted notes."""
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


def _length(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _section(title: str, columns: Sequence[str], found: Sequence[str], room: int, *, folded: bool = False) -> list[str]:
    """Return a table with its title, the total number of rows, and as many rows as fit."""
    if not found:
        return []
    head = [f"<details><summary>{title}: {len(found)}</summary>", ""] if folded else [f"**{title}: {len(found)}**", ""]
    end = ["", "</details>", ""] if folded else [""]
    room -= _length((*head, *end, *columns)) + 40
    rows: list[str] = []
    for row in found:
        room -= len(row) + 1
        if room < 0:
            break
        rows.append(row)
    left = len(found) - len(rows)
    more = ["", f"{left} more do not fit here."] if left else []
    return [*head, *columns, *rows, *more, *end] if rows else [f"**{title}**: {left} more do not fit here.", ""]


def _kernel_rows(failing: Sequence[GateFinding]) -> list[str]:
    """Return one row per kernel: its metrics before and after, other failures, and actions, without duplicates."""
    by_kernel: dict[int, list[GateFinding]] = {}
    for item in failing:
        by_kernel.setdefault(id(item.kernel), []).append(item)
    return [_kernel_row(found) for found in by_kernel.values()]


def _kernel_row(failing: Sequence[GateFinding]) -> str:
    kernel = failing[0].kernel
    order = list(METRIC_WORDS)
    measured = [item.finding for item in failing if step_of(item.finding)]
    worse = ", ".join(map(step_of, sorted(measured, key=lambda one: order.index(one.evidence["metric"]))))
    changes = dict.fromkeys(str(finding.evidence.get("change", "")) for finding in measured)
    if any(changes):
        worse = f"{'; '.join(filter(None, changes))}: {worse}"
    others = [f"{i.finding.rule} {i.finding.name}: {i.text}" for i in failing if not step_of(i.finding)]
    if len(others) > _OTHERS:
        others[_OTHERS:] = [f"{len(others) - _OTHERS} more do not fit here."]
    # Put compiled advice first, because its gain is known.
    by_certainty = sorted(failing, key=lambda item: not verified(item.finding))
    cells = (
        code(label(kernel)),
        kernel.arch,
        cell("; ".join(filter(None, (worse, *others)))),
        cell(" ".join(_first(item.advice for item in by_certainty))),
        ", ".join(_first(code(item.where) for item in failing)),
    )
    return f"| {' | '.join(cells)} |"


def _first(texts: Iterable[str]) -> list[str]:
    """Return the first few distinct texts."""
    return list(dict.fromkeys(filter(None, texts)))[:_OTHERS]


def _cures(failing: Sequence[GateFinding], room: int) -> list[str]:
    """Return the verified fixes that consist of line edits, as GitHub suggestions; as many as fit."""
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
            f"**Fix** for {code(label(item.kernel))} on {item.kernel.arch}: {cell(item.advice)}",
            "",
        ]
        for edit in changes:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", edit.after)), default=0))
            block += [f"{code(f'{edit.file}:{edit.line}')}", "", f"{fence}suggestion", clean(edit.after), fence, ""]
        room -= _length(block)
        if room < 0:
            left += 1
            continue
        lines += block
    if left:
        lines += ["", f"**Fixes** left out for lack of room: {left}.", ""]
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
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        if request.kind == "diff":
            from kprof.reporters.diff_markdown import render

            return render(document)
        return MarkdownReporter().render(document)


FORMAT = _Markdown()
