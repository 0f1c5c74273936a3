"""Read text tables of Omnitrace, rocprof-sys and timemory, such as ``wall_clock.txt`` and ``sampling_*.txt``.

Columns are separated by bars, with one row per region. The label contains thread and depth: ``|00>>> |_name`` is a
child of the row above. The label begins with ``|MM|NN>>>`` if there are several ranks, and with ``>>>`` if threads are
collapsed. Long labels end in ``..``; the JSON file of the same run has them in full. A region's sum includes its
children.
"""

import re
from pathlib import Path
from typing import Any

from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults, lines_of, number, whole_number

_LABEL = re.compile(r"^((?:\|\d{1,9})*)>>>\s?( *)(?:\|_)?(.*)$", re.ASCII)
_HEADING = re.compile(r"^\|\s*LABEL\s*\|.*COUNT\s*\|")
_TITLE = re.compile(r"^\|\s{2,}([^|]{4,200}?)\s{2,}\|$")
_COLUMNS = {"SUM": "sum", "MEAN": "mean", "MIN": "min", "MAX": "max", "STDDEV": "stddev", "% SELF": "self_percent"}


def recognise(head: bytes) -> bool:
    """Return whether the file contains the heading of the table."""
    return re.search(rb"(?m)^[ \t]*\|\s*LABEL\s*\|\s*COUNT\s*\|", head) is not None


def read(path: Path, shown: str) -> ToolResults:
    """Return one row per region."""
    found = RowCollector()
    names: list[str] = []
    title = ""
    for at, line in enumerate(lines_of(path, shown, found), 1):
        text = line.strip()
        if _HEADING.match(text):
            names = [name.strip() for name in text.strip("|").split("|")]
            found.facts["metric"] = ", ".join(filter(None, (found.facts.get("metric"), title)))
        elif names and ">>>" in text and text.startswith("|"):
            _row(text, names, at, found)
        elif (match := _TITLE.match(text)) is not None:
            title = match[1].lower()
    return found.results(shown, "Omnitrace, rocprof-sys or timemory", "region", cost="sum")


def _row(text: str, names: list[str], at: int, found: RowCollector) -> None:
    # The label itself contains bars, so the other columns are counted from the right.
    cells = text.rstrip("|").rsplit("|", len(names) - 1)
    label = _LABEL.match(cells[0][1:].strip()) if len(cells) == len(names) and text.endswith("|") else None
    if label is None:
        found.complain(at, "the row is cut off, or has other columns than the heading")
        return
    given = {name: cell.strip() for name, cell in zip(names, ("", *cells[1:]), strict=True)}
    ids = [int(part) for part in label[1].split("|") if part]
    count, depth = whole_number(given.get("COUNT", "")), whole_number(given.get("DEPTH", ""))
    row: dict[str, Any] = {
        "label": label[3].strip(),
        "depth": depth,
        "rank": ids[0] if len(ids) > 1 else None,
        "thread": ids[-1] if ids else None,
        "metric": given.get("METRIC"),
        "count": count,
        "unit": given.get("UNITS"),
    }
    row |= {key: number(given.get(name, "")) for name, key in _COLUMNS.items()}
    if count is None:
        found.complain(at, f"{given.get('COUNT', '')[:40]!r} is not a count")
        return
    # Omnitrace prints unknown values as blanks or dashes; they become unknown, not zero.
    found.rows.append(row)


FORMAT = ResultFormat("table of Omnitrace or rocprof-sys", recognise, read)
"""Regions of a program with their recorded metrics."""
