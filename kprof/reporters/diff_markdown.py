"""A comparison as Markdown, for a comment on a pull request."""

from kprof.diffing.document import Diff, Explanation, KernelDiff, Since
from kprof.reporters import _diff_wording as words
from kprof.reporters import _since_wording as since_words
from kprof.reporters._markdown_cells import COMMENT_LIMIT, STATUS_ICON, cell, code

_ROOM_FOR_END = 300


def render(diff: Diff, limit: int = COMMENT_LIMIT) -> str:
    """Return the verdict, a table of regressions, their explanations, and a collapsed table of improvements.

    Args:
        diff: the document.
        limit: maximum number of characters; rows that do not fit are only counted.
    """
    lines = [f"### {STATUS_ICON[diff.verdict.status]} kprof: {cell(diff.verdict.summary)}", ""]
    harmed = words.with_status(diff.kernels, {"worse", "mixed", "unknown"})
    others = words.with_status(diff.kernels, {"better", "new", "gone", "changed"})
    room = limit - _ROOM_FOR_END - len(lines[0])
    if isinstance(diff.since, Since):
        part = _since(diff.since, room)
        room -= sum(len(line) + 1 for line in part)
        lines += part
    for chosen, folded in ((harmed, False), (others, True)):
        part = _table(diff, chosen, room, folded=folded)
        room -= sum(len(line) + 1 for line in part)
        lines += part
        if not folded:
            for kernel in chosen:
                if isinstance(kernel.explanation, Explanation):
                    part = _explanation(diff, kernel, kernel.explanation)
                    size = sum(len(line) + 1 for line in part)
                    if size < room:
                        room -= size
                        lines += part
    for text in [p for side in diff.sides for p in side.problems] + diff.notes:
        line = f"- {cell(text)}"
        room -= len(line) + 1
        if room > 0:
            lines.append(line)
    return "\n".join(lines).rstrip() + "\n"


def _since(since: Since, room: int) -> list[str]:
    """Return the numbers of kernels by status, and as many changed kernels as fit."""
    first, *others = since_words.head(since)
    lines = [cell(first), "", *(f"- {cell(line.strip())}" for line in others), ""]
    room -= sum(len(line) + 1 for line in lines)
    found = since_words.changed(since)
    rows: list[str] = []
    for number, kernel in enumerate(found):
        row = f"- {'<br>'.join(cell(line) for line in since_words.kernel(kernel, verbose=False))}"
        room -= len(row) + 1
        if room < 0:
            rows.append(f"- {len(found) - number} more kernels do not fit here.")
            break
        rows.append(row)
    return [*lines, *rows, *([""] * bool(rows))]


def _table(diff: Diff, kernels: list[KernelDiff], room: int, *, folded: bool) -> list[str]:
    if not kernels:
        return []
    way = " → ".join(cell(side.label) for side in diff.sides)
    head = [f"| kernel | arch | harm | what | {way} | where |", "|---|---|---|---|---:|---|"]
    if folded:
        head = [f"<details><summary>Not worse: {len(kernels)}</summary>", "", *head]
    end = ["", "</details>", ""] if folded else [""]
    room -= sum(len(line) + 1 for line in (*head, *end)) + 60
    rows: list[str] = []
    left = 0
    for kernel in kernels:
        part = _rows(diff, kernel)
        room -= sum(len(row) + 1 for row in part)
        if room < 0:
            left += 1
        else:
            rows += part
    more = ["", f"{left} more kernels do not fit here."] if left else []
    return [*head, *rows, *more, *end]


def _rows(diff: Diff, kernel: KernelDiff) -> list[str]:
    step = words.step_of(kernel)
    head = f"| {code(words.title(diff, kernel))} | {kernel.arch} |"
    if step is None or not step.changes:
        what = ", ".join(filter(None, (words.since(diff, kernel), words.predicted(kernel))))
        return [f"{head} {kernel.status} | {cell(what)} | | |"]
    changes, _left = words.shown(step, 0)
    rows = [
        f"{head if number == 0 else '| | |'} {words.kind(change)} | {cell(words.what(change))} | "
        f"{words.values(kernel, step, change, len(diff.sides))} | {cell(words.where(kernel, change))} |"
        for number, change in enumerate(changes)
    ]
    if words.differs(step):
        rows.append(f"| | | | compiled differently: {cell(words.differs(step))} | | |")
    rows += [f"| | | | {cell(remark)} | | |" for remark in words.remarks(kernel, step)]
    return rows


def _explanation(diff: Diff, kernel: KernelDiff, found: Explanation) -> list[str]:
    lines = [f"**Why** {code(words.title(diff, kernel))} on {kernel.arch}: {cell(found.summary)}", ""]
    if by_stage := words.stage_line(diff, found):
        lines += [cell(by_stage), ""]
    if not (found.causes or found.cures):
        return lines
    lines += [f"| | {' | '.join(words.FIGURES.values())} | price |", f"|---|{'---:|' * len(words.FIGURES)}---|"]
    roles = ["", "", *["cause: " if t.cured else "in part: " for t in found.causes], *["fix: "] * len(found.cures)]
    for role, (label, figures, price) in zip(roles, words.trial_rows(diff, kernel, found), strict=True):
        cells = " | ".join("" if value is None else words.number(value) for value in figures)
        lines.append(f"| {role}{code(label) if role else cell(label)} | {cells} | {cell(price)} |")
    return [*lines, "", *(f"- {cell(line)}" for line in words.cure_times(found)), ""]
