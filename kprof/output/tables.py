"""Write tables to a folder, and show some of their rows on the terminal."""

import re
import shutil
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from kprof.output.csv_cells import guarded
from kprof.output.sink import one_line

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("parquet", "csv", "json")
# Minimum useful width of a column in characters.
_ROOM = 20
# Minimum width in characters at which two parts of a truncated text are shown.
_TOO_NARROW = 12
# Maximum number of common characters shown before the first difference. They let the second part of a cut text begin
# with a whole word.
_WORD = 5
_UNFINISHED = re.compile(r"(?:[0-9]*|[A-Za-z]*)$")


def write_tables(tables: "Mapping[str, pd.DataFrame]", folder: str, form: str, inputs: Iterable[str]) -> list[Path]:
    """Write one file per table and return the paths.

    Raises:
        KprofError: the format is unknown, the folder is an input or inside an input, or it cannot be written.
    """
    if form not in FORMATS:
        raise KprofError(f"--format takes {', '.join(FORMATS)}, got {form!r}")
    target = Path(folder).resolve()
    for given in inputs:
        source = Path(given).resolve()
        if source.is_dir() and target.is_relative_to(source):
            raise KprofError("the output folder is inside the input folder", path=folder, hint="choose another -o")
    try:
        target.mkdir(parents=True, exist_ok=True)
        return [_write(name, table, target, form) for name, table in tables.items()]
    except OSError as error:
        raise KprofError(f"cannot write tables: {error.strerror or error}", path=folder) from error


def _write(name: str, table: "pd.DataFrame", target: Path, form: str) -> Path:
    path = target / f"{name}.{form}"
    partial = target / f".{name}.{form}.partial"
    if form == "parquet":
        table.to_parquet(partial, index=False)
    elif form == "csv":
        texts = table.select_dtypes(include=["object", "string", "category"]).columns
        table.assign(**{name: table[name].map(guarded) for name in texts}).to_csv(partial, index=False)
    else:
        table.to_json(partial, orient="records", lines=False)
    partial.replace(path)
    return path


def rows_table(
    headings: Iterable[str],
    rows: Iterable[Iterable[Any]],
    *,
    wide: int | Sequence[int] = 0,
    width: int = 0,
    spare: int | None = None,
) -> str:
    """Return a table as text, with numbers aligned right; the widest of the columns in ``wide`` are cut to fit a line.

    If too little of those columns would remain, the column ``spare`` is omitted. ``width`` is the maximum length of a
    line, by default the terminal's width, or 110 in a pipe.
    """
    titles = list(headings)
    content = [[one_line(value) if isinstance(value, str) else number(value) for value in row] for row in rows]
    sizes = [max(len(line[place]) for line in [titles, *content]) for place in range(len(titles))]
    flexible = [wide] if isinstance(wide, int) else list(wide)
    excess = sum(sizes) + 2 * (len(sizes) - 1) - (width or table_width())
    if spare is not None and sum(sizes[place] for place in flexible) - excess < _ROOM * len(flexible) and excess > 0:
        kept = [place for place in range(len(titles)) if place != spare]
        lines = [[line[place] for place in kept] for line in [titles, *content]]
        left = [kept.index(place) for place in flexible if place != spare]
        return rows_table(lines[0], lines[1:], wide=left, width=width)
    for least in (16, 10):
        excess = _shrink(sizes, flexible, excess, least)
    right = [bool(content) and all(is_number(line[place]) for line in content) for place in range(len(titles))]
    for place in flexible:
        for line, cell in zip(content, cut_apart([line[place] for line in content], sizes[place]), strict=True):
            line[place] = cell
    return "\n".join(_line(cells, sizes, right) for cells in [titles, *content])


def reasons_table(headings: Sequence[str], rows: Iterable[Sequence[Any]], *, width: int = 0) -> str:
    """Return a table like :func:`rows_table` whose last column contains sentences, which are wrapped.

    Args:
        headings: one per column.
        rows: one cell per column.
        width: maximum length of a line; by default the terminal's width, or 110 in a pipe.
    """
    content = [list(row) for row in rows]
    facts = rows_table(headings[:-1], [row[:-1] for row in content], width=sys.maxsize).splitlines()
    indent = max(map(len, facts)) + 2
    room = (width or table_width()) - indent
    if room < _ROOM:
        # If too little room remains beside the other columns, put each sentence on the line below its row.
        indent, room = 4, max((width or table_width()) - 4, _ROOM)
    found = []
    for line, sentence in zip(facts, [headings[-1], *(row[-1] for row in content)], strict=True):
        first, *rest = textwrap.wrap(sentence, room, break_long_words=False, break_on_hyphens=False) or [""]
        found += [f"{line:<{indent - 2}}  {first}".rstrip()] if indent > 4 else [line, " " * indent + first]
        found += [" " * indent + more for more in rest]
    return "\n".join(found)


def cut_apart(cells: Sequence[str], size: int) -> list[str]:
    """Cut each text to at most ``size`` characters; texts that would be cut to the same also show where they differ.

    >>> cut_apart(["gemm_bf16_f32_MT16x16_ISA942", "gemm_bf16_f32_MT32x16_ISA942", "copy"], 14)
    ['gemm_b…MT16x1…', 'gemm_b…MT32x1…', 'copy']
    """
    alike: dict[str, set[str]] = defaultdict(set)
    for cell in cells:
        alike[_cut(cell, size)].add(cell)
    shown: dict[str, str] = {}
    for begin, texts in alike.items():
        group = sorted(texts)
        if len(group) == 1 or size < _TOO_NARROW:
            shown.update(dict.fromkeys(group, begin))
            continue
        head = size // 2 - 1
        room = size - head - 1
        # The texts are sorted, so the common prefix of the first and the last is common to all.
        differ = next((i for i, (a, b) in enumerate(zip(group[0], group[-1], strict=False)) if a != b), len(group[0]))
        repeated = _UNFINISHED.search(group[0][max(head, differ - min(_WORD, room - 2)) : differ])
        fills = max(len(text) for text in group) - room
        start = min(differ - (len(repeated[0]) if repeated else 0), max(head, fills))
        ends = cut_apart([text[start:] for text in group], room)
        shown.update((text, f"{text[:head]}…{end}") for text, end in zip(group, ends, strict=True))
    return [shown[cell] for cell in cells]


def _shrink(sizes: list[int], flexible: list[int], excess: int, least: int) -> int:
    """Narrow the widest flexible columns until the line fits; return the number of characters that still do not fit."""
    while excess > 0 and flexible:
        place = max(flexible, key=lambda one: sizes[one])
        if sizes[place] <= least:
            return excess
        next_widest = max((sizes[other] for other in flexible if other != place), default=0)
        target = max(least, sizes[place] - excess, min(next_widest, sizes[place] - 1))
        excess -= sizes[place] - target
        sizes[place] = target
    return excess


def _line(cells: list[str], sizes: list[int], right: list[bool]) -> str:
    cut = [_cut(cell, size) for cell, size in zip(cells, sizes, strict=True)]
    padded = (c.rjust(s) if r else c.ljust(s) for c, s, r in zip(cut, sizes, right, strict=True))
    return "  ".join(padded).rstrip()


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else text[: size - 1] + "…"


def table_width() -> int:
    """Return the maximum length of a line: the terminal's width, or 110 in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 110


def is_number(text: str) -> bool:
    """Return whether a cell's text may occur in a column of numbers."""
    digits = (
        text.replace(",", "").replace(".", "").replace("%", "").strip().lstrip("+").replace("-", "").removesuffix("x")
    )
    return digits.strip().isdigit() or text in {"", "?", "-", "new", "gone"}


def number(value: Any) -> str:
    """Format a number with thousands separators, and fractions with four digits; ``?`` if it is unknown."""
    if value is None or value != value or str(value) == "<NA>":  # noqa: PLR0124 - not a number
        return "?"
    if isinstance(value, int) or (isinstance(value, float) and value == int(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    try:
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:#.4g}".removesuffix(".")
    except (TypeError, ValueError):
        return str(value)
