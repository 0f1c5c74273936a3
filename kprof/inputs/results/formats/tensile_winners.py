"""Read Tensile's benchmark tables (``00_Final.csv``, ``*_CSVWinner.csv``): every solution's rate for each size.

The heading names the sizes, the winner and one column per solution. Rates are in GFLOP/s, the winner's time in
microseconds. The sizes M, N, batch, K are the columns ``SizeI`` to ``SizeL``. A rate of -1 or 0 means that the solution
was not run.
"""

from pathlib import Path
from typing import Any

from kprof.inputs.csv_records import records
from kprof.inputs.results.model import (
    ResultFormat,
    RowCollector,
    ToolResults,
    gemm_tflops,
    lines_of,
    positive,
    whole_number,
)

_SIZES = {"SizeI": "m", "SizeJ": "n", "SizeK": "batch", "SizeL": "k"}


def recognise(head: bytes) -> bool:
    """Return whether the first line is the table's heading."""
    first = head.split(b"\n", 1)[0]
    return first.lstrip(b"\xef\xbb\xbf").startswith(b"GFlops") and b"SizeI" in first and b"SizeL" in first


def read(path: Path, shown: str) -> ToolResults:
    """Return one row per line of the table, with the winner and its lead over the second-fastest solution."""
    found = RowCollector()
    parsed = records(lines_of(path, shown, found), shown, skip_spaces=True)
    heading = [name.strip() for name in next(parsed, [])]
    last = max((at for at, name in enumerate(heading) if name.startswith(("Size", "LD", "Winner", "Total"))), default=0)
    found.facts["solutions"] = str(len(heading) - last - 1)
    for at, fields in enumerate(parsed, 2):
        if not any(fields):
            continue
        if len(fields) < last + 1 or len(fields) > len(heading):
            found.complain(at, f"{len(fields)} values under {len(heading)} names")
            continue
        _row(dict(zip(heading[: last + 1], fields, strict=False)), fields[last + 1 :], at, found)
    return found.results(shown, "Tensile benchmark", "GEMM", cost="time_us")


def _row(given: dict[str, str], rates: list[str], at: int, found: RowCollector) -> None:
    row: dict[str, Any] = {name: whole_number(given.get(column, "")) for column, name in _SIZES.items()}
    if any(size is None for size in row.values()):
        found.complain(at, "the sizes are not integers")
        return
    ran = sorted((rate for text in rates if (rate := positive(text)) is not None), reverse=True)
    written = positive(given.get("WinnerGFlops", ""))
    row["winner"] = given.get("WinnerName", "").strip() or None
    row["time_us"] = positive(given.get("WinnerTimeUS", ""))
    row["tflops"] = written / 1e3 if written else ran[0] / 1e3 if ran else None
    row["solutions_run"] = len(ran)
    row["ahead_of_second"] = ran[0] / ran[1] - 1 if len(ran) > 1 else None
    own = gemm_tflops(row["m"], row["n"], row["k"], row["batch"], row["time_us"])
    if own and row["tflops"] and not 0.9 < own / row["tflops"] < 1.1:
        found.complain(at, f"the winner's rate of {row['tflops']:.4g} TFLOP/s does not match its time, {own:.4g}")
    found.rows.append(row)


FORMAT = ResultFormat("Tensile benchmark", recognise, read)
"""Winning solutions of a Tensile tuning run."""
