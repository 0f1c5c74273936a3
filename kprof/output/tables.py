"""Write tables to a folder, and show some of their rows on the terminal."""

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from kprof.output.csv_cells import guarded
from kprof.output.sink import one_line

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("parquet", "csv", "json")
# Characters a column needs to tell something.
_ROOM = 20


def write_tables(tables: "Mapping[str, pd.DataFrame]", folder: str, form: str, inputs: Iterable[str]) -> list[Path]:
    """One file a table.

    Raises:
        KprofError: unknown format, the folder is one of the inputs or inside it, or cannot be written.
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
    """Columns of text, numbers to the right; the widest of the columns ``wide`` are cut to make a line fit.

    Where little is left of those columns, the column ``spare`` is left out. A line may be ``width`` characters long: by
    default the terminal's width, 110 in a pipe.
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
    right = [bool(content) and all(_is_number(line[place]) for line in content) for place in range(len(titles))]
    return "\n".join(_line(cells, sizes, right) for cells in [titles, *content])


def _shrink(sizes: list[int], flexible: list[int], excess: int, least: int) -> int:
    """Cut the widest of the flexible columns again and again; returns what is still too much."""
    while excess > 0:
        place = max(flexible, key=lambda one: sizes[one])
        if sizes[place] <= least:
            return excess
        next_widest = max((sizes[other] for other in flexible if other != place), default=0)
        target = max(least, sizes[place] - excess, min(next_widest, sizes[place] - 1))
        excess -= sizes[place] - target
        sizes[place] = target
    return excess


def _line(cells: list[str], sizes: list[int], right: list[bool]) -> str:
    cut = [cell if len(cell) <= size else cell[: size - 1] + "…" for cell, size in zip(cells, sizes, strict=True)]
    padded = (c.rjust(s) if r else c.ljust(s) for c, s, r in zip(cut, sizes, right, strict=True))
    return "  ".join(padded).rstrip()


def table_width() -> int:
    """Characters a line may have: the terminal's, 110 in a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 110


def _is_number(text: str) -> bool:
    digits = (
        text.replace(",", "").replace(".", "").replace("%", "").strip().lstrip("+").replace("-", "").removesuffix("x")
    )
    return digits.strip().isdigit() or text in {"", "?", "-", "new", "gone"}


def number(value: Any) -> str:
    """A number for people: thousands separated, fractions with four digits; ``?`` for what is not known."""
    if value is None or value != value or str(value) == "<NA>":  # noqa: PLR0124 - not a number
        return "?"
    if isinstance(value, int) or (isinstance(value, float) and value == int(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    try:
        return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:#.4g}".removesuffix(".")
    except (TypeError, ValueError):
        return str(value)
