"""Text of ``kprof ingest results``: a description of the file, its slowest rows, and the parts that were skipped."""

from collections.abc import Sequence
from typing import Any

from kprof.inputs.results import ToolResults
from kprof.output.quantities import plural
from kprof.output.tables import rows_table

_HIDDEN = {"problem", "config", "run", "alpha", "beta", "grouped_gemm", "spatial_dim"}
_FIRST = ("m", "n", "k", "size_bytes", "label", "direction", "function", "dtype", "solver", "libtype", "place")
_LAST = (
    "time_us",
    "time_ms",
    "tflops",
    "algorithm_gbs",
    "bus_gbs",
    "sum",
    "unit",
    "count",
    "call_count",
    "performance",
)
_MOST = 12


def show(results: ToolResults, top: int) -> None:
    """Print the facts from the file, and its slowest rows, slowest first."""
    print(f"{results.tool}: {plural(len(results.rows), results.what)}")
    for name, value in results.facts.items():
        print(f"  {name}: {value}")
    print()
    rows = list(results.rows)
    if results.cost is not None:
        rows.sort(key=lambda row: -(row.get(results.cost or "") or 0.0))
    shown = rows[:top]
    names = _columns(shown)
    print(rows_table(names, [[_cell(row.get(name)) for name in names] for row in shown]))
    if len(rows) > top:
        print(f"  and {len(rows) - top:,} more: --top, or --json for all")
    for issue in results.issues:
        print(f"warning  {issue}")
    print()


def verdict(results: ToolResults) -> str:
    """Return the number of rows and of warnings."""
    total = _total(results)
    problems = f"; {plural(len(results.issues), 'warning')}" if results.issues else ""
    return f"{plural(len(results.rows), results.what)} of {results.tool}{total}{problems}"


def _total(results: ToolResults) -> str:
    """Return the total time of one call of each problem; empty for regions, because nested ones would count twice."""
    if results.what not in {"GEMM", "timed solver"}:
        return ""
    # If one of several solutions is marked as the fastest, the others are not separate calls.
    chosen = [row for row in results.rows if row.get("best") or row.get("winner") is True] or results.rows
    for name, unit in (("time_us", "us"), ("time_ms", "ms")):
        if any(name in row for row in results.rows):
            known = [row[name] for row in chosen if row.get(name)]
            return f", one call of each problem {sum(known):,.4g} {unit}" if known else ", without times"
    return ""


def _columns(rows: Sequence[Any]) -> list[str]:
    """Return the columns that identify a row or differ between rows, the most important first."""
    names = list(dict.fromkeys(name for row in rows for name in row if name not in _HIDDEN))
    useful = [name for name in names if any(row.get(name) is not None for row in rows)]
    differ = {name for name in useful if len({str(row.get(name)) for row in rows}) > 1}
    kept = [name for name in useful if name in _FIRST or name in _LAST or (name in differ and len(rows) > 1)]
    middle = [name for name in kept if name not in _FIRST and name not in _LAST]
    first = [name for name in _FIRST if name in kept]
    last = [name for name in _LAST if name in kept]
    return [*first, *middle[: max(0, _MOST - len(first) - len(last))], *last]


def _cell(value: object) -> object:
    return "" if value is None else "yes" if value is True else "no" if value is False else value
