"""Read the output of hipblaslt-bench and rocblas-bench, and hipBLASLt's tuning files.

All three contain lines of values below a line of column names. The column names of ``hipblaslt-bench`` may follow
``[0]:``, and details of the kernel follow the values as ``--Solution index: N``. In a tuning run, the winner is printed
again below ``Winner:``; the winner's row is marked. The programs misspell a column name as ``soulution_index``.

A tuning file (``HIPBLASLT_TUNING_FILE``) begins with ``Git Version:`` and has the same lines. Older files end each line
with the solution's index, newer files with the index and the name. An index is valid for one build of the library only.
"""

import re
from pathlib import Path
from typing import Any

from kprof.inputs.results.model import (
    ResultFormat,
    RowCollector,
    ToolResults,
    gemm_tflops,
    lines_of,
    positive,
    value_of,
)

_HEADING = re.compile(r"^\s*(?:\[\d+\]\s*:?\s*)?((?:\w[\w/ -]*)(?:,\s*\w[\w/() -]*){3,})\s*$", re.ASCII)
_DEVICE = re.compile(r"Device ID \d+\s*:\s*(.{1,120})")
_VERSION = re.compile(r"(hipBLASLt|rocBLAS)(?: git)? version:\s*(\S{1,80})")
_INDEX = re.compile(r"--Solution index:\s*(\d{1,12})")
_NAME = re.compile(r"--Solution name:\s*(\S{1,4096})")
_SPELLINGS = {"soulution_index": "solution_index", "transA": "trans_a", "transB": "trans_b"}
_RATES = ("hipblaslt-Gflops", "rocblas-Gflops")


def recognise(head: bytes) -> bool:
    """Return whether the file has column names for a rate, as in both programs' output, or for a GEMM solution."""
    return any(
        b"-Gflops" in line or b"ution_index" in line
        for line in head.split(b"\n")
        if b"," in line and (b"transA,transB" in line or b"rocblas-Gflops" in line) and b"<<" not in line
    )


def read(path: Path, shown: str) -> ToolResults:
    """Return one row per measured GEMM."""
    found = RowCollector()
    names: list[str] = []
    winner, tool = False, "hipblaslt-bench"
    for number, line in enumerate(lines_of(path, shown, found), 1):
        stripped = line.strip()
        if _store_facts(stripped, found):
            continue
        if stripped == "Winner:":
            winner = True
        elif (heading := _heading(stripped)) is not None:
            names = heading
            tool = "rocblas-bench" if "rocblas-Gflops" in heading else tool
        elif names and stripped.count(",") >= len(names) // 2:
            _row(stripped, names, number, found, winner=winner)
            winner = False
    if "git version" in found.facts and tool == "hipblaslt-bench" and "tuning file" in found.facts:
        tool = "hipBLASLt tuning file"
        del found.facts["tuning file"]
    return found.results(shown, tool, "GEMM", cost="time_us")


def _heading(line: str) -> list[str] | None:
    match = _HEADING.match(line)
    if match is None:
        return None
    names = [name.strip() for name in match[1].split(",")]
    known = set(names)
    return names if known & {*_RATES} or {"transA", "transB"} <= known else None


def _store_facts(line: str, found: RowCollector) -> bool:
    """Store facts that a line states about the machine, the library or the previous row; return whether it did."""
    if line.startswith("Git Version:"):
        found.facts["git version"] = line.partition(":")[2].strip()[:80]
        found.facts["tuning file"] = "yes"
        return True
    for pattern, key in ((_DEVICE, "GPU"), (_VERSION, "")):
        if (match := pattern.search(line)) is not None:
            found.facts.setdefault(key or match[1], match[match.lastindex or 1])
            return True
    for pattern, key in ((_INDEX, "solution_index"), (_NAME, "solution_name")):
        if (match := pattern.search(line)) is not None:
            if found.rows:
                found.rows[-1][key] = int(match[1]) if key == "solution_index" else match[1]
            return True
    return False


def _row(line: str, names: list[str], number: int, found: RowCollector, *, winner: bool) -> None:
    values = re.sub(r"^\[\d+\]\s*:?\s*", "", line).split(",")
    if len(values) != len(names):
        found.complain(number, f"{len(values)} values under {len(names)} names")
        return
    given = dict(zip(names, values, strict=True))
    row: dict[str, Any] = {}
    for name, text in given.items():
        if name not in (*_RATES, "us", "hipblaslt-GB/s"):
            row[_SPELLINGS.get(name, name.lower() if name in {"M", "N", "K"} else name)] = value_of(text)
    if "us" in given:
        row["time_us"] = positive(given["us"])
        if row["time_us"] is None:
            found.complain(number, f"{given['us'].strip()[:40]!r} is not a time")
    if "hipblaslt-GB/s" in given:
        row["bandwidth_gbs"] = positive(given["hipblaslt-GB/s"])
    rate = next((positive(given[name]) for name in _RATES if name in given), None)
    row["tflops"] = None if rate is None else rate / 1e3
    _check_rate(row, number, found)
    row["winner"] = winner
    found.rows.append(row)


def _check_rate(row: dict[str, Any], number: int, found: RowCollector) -> None:
    """Report a row whose printed rate disagrees with its printed time by more than rounding explains."""
    own = gemm_tflops(row.get("m"), row.get("n"), row.get("k"), row.get("batch_count", 1), row.get("time_us"))
    printed = row["tflops"]
    # The programs also count the operations of alpha, beta and the epilogue, so small sizes differ by more.
    if own and printed and not 0.9 < printed / own < 1.25:
        found.complain(number, f"the printed rate of {printed:.4g} TFLOP/s does not match the printed time, {own:.4g}")


FORMAT = ResultFormat("hipblaslt-bench, rocblas-bench or a hipBLASLt tuning file", recognise, read)
"""GEMM times measured by the benchmark programs of the libraries."""
