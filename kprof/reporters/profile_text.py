"""Text of ``kprof profile``: the table of a step, and the changes that would save time."""

import shlex
import textwrap
from typing import TYPE_CHECKING

from kprof.condition import in_short
from kprof.findings import WORTH_A_CHANGE
from kprof.output.command_line import with_option
from kprof.output.headline import folded, on_screen, screen_width, with_next
from kprof.output.quantities import binary_bytes
from kprof.output.tables import rows_table
from kprof.reporters._plain_words import limit_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kprof_analyzers.whole_step.document import ProfileChange, ProfileDocument, ProfiledRow


_PLACES = {"module": "(no module)", "phase": "(not known)", "range": "(no range)", "place": "(not known)"}
"""Attributes by which rows can be grouped by place, each with the text for rows that lack it."""

_ROOM_FOR_NAMES = 100
"""Minimum terminal width in columns for names of rules."""

_MEAN = 4
"""Index of the column of mean times, which may be dropped because they follow from the other columns."""

_NAMED = 3
"""Maximum number of operators without a time that the verdict names."""


def lines(document: "ProfileDocument", by: str, limit: int) -> list[str]:
    """Return text lines: the table (all rows if ``limit`` is 0), the changes that save time, and the assumptions."""
    if document.other_gpus:
        return _side_by_side(document, by, limit)
    rows = document.rows[:limit] if limit else document.rows
    title = _title(by)
    headings = ("ms", "share", "range ms", "calls", "mean us", "bound by", title)
    table = [headings, *(_cells(row, by) for row in rows)]
    if _narrow():
        table = [(*line[:_MEAN], *line[_MEAN + 1 :]) for line in table]
    elif any(row.place for row in rows) and "place" not in groups(by):
        lines = ["line", *(place_of(row) for row in rows)]
        table = [(*line[:-1], place, line[-1]) for line, place in zip(table, lines, strict=True)]
    text = rows_table(table[0], table[1:], wide=len(table[0]) - 1).splitlines()
    left = len(document.rows) - len(rows)
    if left:
        text.append(f"and {left:,} more; -n 0 shows all")
    text += [*_changes(document), *_memory(document)]
    return [*text, *_notes(document.notes)]


def _notes(notes: "Iterable[str]") -> list[str]:
    """Return the assumptions as wrapped lines; if the output is not a terminal, an empty line follows."""
    return [*(line for note in notes for line in folded(f"Note: {note}.", screen_width())), *[""] * (not on_screen())]


def _side_by_side(document: "ProfileDocument", by: str, limit: int) -> list[str]:
    """Return a table with a column of milliseconds per GPU.

    Rows have the first GPU's order; changes are only in the JSON.
    """
    every = (document, *document.other_gpus)
    found: dict[str, dict[str, ProfiledRow]] = {}
    for one in every:
        for row in one.rows:
            found.setdefault("  ".join(filter(None, (heading(row, by), row.why))), {})[one.gpu] = row
    kept = list(found.items())[:limit] if limit else list(found.items())
    columns = [(*(_time_on_gpu(rows, one.gpu) for one in every), _counted(rows, every), name) for name, rows in kept]
    title = _title(by)
    gpus = [f"ms {one.gpu}" for one in every]
    text = rows_table((*gpus, "calls", title), columns, wide=len(every) + 1).splitlines()
    if len(kept) < len(found):
        text.append(f"and {len(found) - len(kept):,} more; -n 0 shows all")
    common = [note for note in document.notes if all(note in one.notes for one in every)]
    own = [f"on {one.gpu}, {note}" for one in every for note in one.notes if note not in common]
    return [*text, *_notes((*own, *common))]


def _time_on_gpu(rows: "Mapping[str, ProfiledRow]", gpu: str) -> str:
    """Return a row's milliseconds on a GPU; ``-`` if not known, empty if the row does not exist on that GPU."""
    row = rows.get(gpu)
    if row is None:
        return ""
    return "-" if row.us is None else _ms(row.us)


def _counted(rows: "Mapping[str, ProfiledRow]", every: "Sequence[ProfileDocument]") -> str:
    """Return the number of calls on each GPU, or one number if all are equal."""
    calls = [rows[one.gpu].calls if one.gpu in rows else 0 for one in every]
    return f"{calls[0]:,}" if len(set(calls)) == 1 else "/".join(f"{count:,}" for count in calls)


def _cells(row: "ProfiledRow", by: str) -> tuple[str, ...]:
    return (*cells(row), _called(row, by))


def cells(row: "ProfiledRow") -> tuple[str, ...]:
    """Return the cells of a row: milliseconds, share, range, calls, mean and bound."""
    return (
        "-" if row.us is None else _ms(row.us),
        "-" if row.share is None else f"{100 * row.share:.1f} %",
        "-" if row.low_us is None or row.high_us is None else f"{_ms(row.low_us)}-{_ms(row.high_us)}",
        f"{row.calls:,}",
        "-" if row.us is None else f"{row.us / row.calls:,.1f}",
        _bound(row),
    )


def _bound(row: "ProfiledRow") -> str:
    """Return what limits a row, in words. For matrix products the limit ``launch`` means that there are few tiles."""
    if row.bound == "launch":
        return "few tiles" if "product" in row.kind else "fixed cost"
    return row.bound.replace("_", " ") or "-"


def place_of(row: "ProfiledRow") -> str:
    """Return the source line with most of a row's time, and the number of other lines: ``train.py:8 +2``."""
    name = row.place.replace("\\", "/").rpartition("/")[2]
    return f"{name} +{row.places - 1}" if row.places > 1 else name


def _narrow() -> bool:
    return (screen_width() or _WIDTH) < _ROOM_FOR_NAMES


def _called(row: "ProfiledRow", by: str) -> str:
    # In a narrow terminal, a rule's identifier replaces its name.
    finding = row.finding.partition(" ")[0] if _narrow() else row.finding
    return "  ".join(filter(None, (heading(row, by), finding, row.why)))


def _title(by: str) -> str:
    words = {"name": "kernel or operator", "shapes": "kernel or operator, and shapes"}
    return ", ".join(words.get(one, one) for one in groups(by))


def groups(by: str) -> list[str]:
    """Return the attributes by which ``--by`` groups rows, without repetitions."""
    return list(dict.fromkeys(filter(None, map(str.strip, by.split(",")))))


def heading(row: "ProfiledRow", by: str) -> str:
    """Return the name of a row: the values of the attributes by which rows are grouped."""
    parts = []
    for one in groups(by):
        if one in _PLACES:
            parts.append(getattr(row, one) or _PLACES[one])
        else:
            name = row.name.removeprefix("aten::") + (" [triton]" if row.kind == "triton" else "")
            parts.append(f"{name} {row.shapes}".rstrip())
    return "  ".join(dict.fromkeys(parts))


def _ms(us: float) -> str:
    ms = us / 1e3
    return f"{ms:,.1f}" if ms >= 100 else f"{ms:.3g}"


def _changes(document: "ProfileDocument") -> list[str]:
    if not document.changes:
        return []
    rows = [change_cells(one) for one in document.changes]
    wide = [max(len(row[at]) for row in rows) for at in range(3)]
    title = "Changes that save time, by the model (ms, share, calls; savings overlap and do not add up):"
    text = ["", *folded(title, screen_width())]
    for ms, share, calls, what, sure in rows:
        head = f"{ms:>{wide[0]}}  {share:>{wide[1]}}  {calls:>{wide[2]}}  "
        text += wrapped(what, head)
        text += wrapped(sure, " " * len(head)) if sure else []
    return text


_WIDTH = 120


def wrapped(words: str, head: str) -> list[str]:
    """Wrap words after a prefix; further lines are aligned with the first word."""
    width = min(_WIDTH, screen_width() or _WIDTH)
    further = " " * len(head)
    return textwrap.wrap(words, width, initial_indent=head, subsequent_indent=further, break_on_hyphens=False)


def change_cells(one: "ProfileChange") -> tuple[str, ...]:
    """Return a change's cells: saved milliseconds, share of the step, calls, description, basis of the estimate."""
    most = "up to " if one.at_most else ""
    sure = f"{one.sure}; {_ms(one.now_us)} ms now" if one.now_us else one.sure
    return f"{most}{_ms(one.us)}", f"{100 * one.share:.1f} %", f"{one.calls:,}", one.what, sure


def facts(document: "ProfileDocument") -> dict[str, str]:
    """Return the named totals of a step on one GPU."""
    found = {
        "GPU time": f"{_ms(document.us)} ms, {_ms(document.low_us)} to {_ms(document.high_us)}",
        "in Triton's kernels": f"{_ms(document.triton_us)} ms",
        "calls": f"{document.calls:,}, {document.unknown_calls:,} of them without a time",
    }
    if document.peak_bytes is not None:
        found["memory in use at most"] = binary_bytes(document.peak_bytes)
    if document.memory_bytes is not None:
        found["memory of the GPU"] = binary_bytes(document.memory_bytes)
    return found


def _memory(document: "ProfileDocument") -> list[str]:
    if document.peak_bytes is None:
        return []
    of = f" of {binary_bytes(document.memory_bytes)}" if document.memory_bytes is not None else ""
    return ["", f"Memory: {binary_bytes(document.peak_bytes)} in use at most{of}"]


def verdict(document: "ProfileDocument") -> str:
    """Return the predicted total with its range, and how many calls have no time."""
    known = document.calls - document.unknown_calls
    span = f"likely {_ms(document.low_us)} to {_ms(document.high_us)} ms"
    least = "" if document.complete and not document.unwritten else "at least "
    where = f"{document.gpu}, {in_short(document.condition)}"
    head = f"{least}{_ms(document.us)} ms of GPU time predicted on {where} ({span})"
    if document.layers:
        few, more, wanted = document.layers
        head += f", for {wanted} layers from runs with {few} and {more}"
    parts = [", ".join([head, *_longest(document)])]
    if not document.fits and document.peak_bytes is not None and document.memory_bytes is not None:
        parts.insert(0, f"does not fit: {binary_bytes(document.peak_bytes)} of {binary_bytes(document.memory_bytes)}")
    if not document.complete:
        parts.insert(0, f"no time for {document.unknown_kernel_calls:,} launches of {_named(document.unknown_kernels)}")
    if document.us:
        parts.append(f"{100 * document.triton_us / document.us:.0f} % of it in Triton's kernels")
    parts.append(f"{known:,} of {document.calls:,} calls have a time")
    if document.unwritten:
        left = len(document.unwritten) - _NAMED
        places = ", ".join([*document.unwritten[:_NAMED], *([f"{left} more places"] if left > 0 else [])])
        parts.append(f"not in it: work that depends on values that no kernel wrote, {places}")
    others = document.unknown_calls - document.unknown_kernel_calls
    if others:
        named = _named([words for words in document.unknown if words not in document.unknown_kernels])
        parts.append(f"no time for {others:,} calls: {named}")
    conclusion, step = "; ".join(parts), "" if document.other_gpus else _next_step(document)
    return with_next(conclusion, step) if step else conclusion


def _longest(document: "ProfileDocument") -> list[str]:
    """Return a phrase for the row that takes most of the time, with its share and its limit; empty if there is none."""
    row = next((one for one in document.rows if one.us is not None), None)
    if row is None or row.share is None:
        return []
    words = "too few tiles to fill the GPU" if _bound(row) == "few tiles" else limit_words(row.bound)
    bound = f", limited by {words}" if row.bound else ""
    at = f" ({place_of(row)})" if row.place and row.name else ""
    return [f"{100 * row.share:.0f} % of it in {_name(row)}{at}{bound}"]


def _name(row: "ProfiledRow") -> str:
    parts = (f"{row.name.removeprefix('aten::')} {row.shapes}".strip(), row.module, row.phase, row.range, row.place)
    return next(filter(None, parts), "the program")


def _next_step(document: "ProfileDocument") -> str:
    """Return the change to make first with its predicted saving, or else the command that shows more."""
    from kprof_analyzers.whole_step.cures import ANY_PROGRAM
    from kprof_analyzers.whole_step.document import UNSEARCHED

    whole = _ms(document.us)
    first = document.changes[0] if document.changes else None
    row = next((one for one in document.rows if one.us is not None), None)
    search = next((note.removeprefix(UNSEARCHED) for note in document.notes if note.startswith(UNSEARCHED)), "")
    if search and row is not None and row.kind == "triton" and (first is None or first.share < WORTH_A_CHANGE):
        why = f"compiles other configurations of {_name(row)}"
        rest = "all that it takes" if row.limit_us is None else "down to the GPU's limit"
        most = _ms(max(0.0, (row.us or 0.0) - (row.limit_us or 0.0)))
        return f"{search} ({why}; gain not known, at most {most} of {whole} ms, {rest})"
    if first is not None:
        most = "gain not known, at most " if first.at_most else "gain "
        gain = f"{most}{_ms(first.us)} of {whole} ms by the model"
        what = first.what.replace(ANY_PROGRAM, shlex.join(document.program) or ANY_PROGRAM)
        head = f"{what[:-1]}; " if what.endswith(")") else f"{what} ("
        return f"{head}{', '.join(filter(None, (gain, first.sure)))})"
    if row is None:
        return ""
    command = with_option("--by module,shapes")
    return f"{command} (where {_name(row)} is called, with which shapes; gain not known)"


def _named(words: "Sequence[str]") -> str:
    """Return the names of the first few operators without a time."""
    return ", ".join([*words[:_NAMED], *["..."] * (len(words) > _NAMED)])
