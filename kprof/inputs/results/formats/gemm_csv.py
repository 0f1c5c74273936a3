"""Read tuned GEMMs from CSV files of gradlib, vLLM and AITER, such as ``tuned.csv`` and ``bf16_tuned_gemm.csv``.

The heading of the CSV table contains ``M``, ``N``, ``K`` and a column that identifies the library's fastest solution.
The time column is ``us`` or ``soltimes``. Old versions of gradlib write ``soltimes`` in milliseconds and no rate; newer
versions write microseconds and a rate. If there is a rate, the unit of each row is derived from it. The GEMM multiplies
row-major matrices of ``M x K`` and ``K x N``.
"""

from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.inputs.csv_records import records
from kprof.inputs.results.model import (
    ResultFormat,
    RowCollector,
    ToolResults,
    gemm_tflops,
    lines_of,
    number,
    positive,
    value_of,
)

_MAX_RATE_DIFFERENCE = 0.05
"""Maximum relative difference between a rate written with few digits and the rate computed from the time."""
_KNOWN = {"m", "n", "k", "b", "us", "soltimes", "tflops", "bw", "errratio", "err_ratio", "kernelname"}


def recognise(head: bytes) -> bool:
    """Return whether the first line is the heading of a table of tuned GEMMs."""
    names = {name.strip() for name in head.lstrip(b"\xef\xbb\xbf").split(b"\n", 1)[0].split(b",")}
    return {b"M", b"N", b"K"} <= names and bool(
        names & {b"solidx", b"soltimes", b"kernelName", b"kernelId", b"libtype"}
    )


def read(path: Path, shown: str) -> ToolResults:
    """Return one row per GEMM problem."""
    found = RowCollector()
    parsed = records(lines_of(path, shown, found), shown)
    heading = [name.strip() for name in next(parsed, [])]
    # A quote before the heading changes its column names, although the file was recognised.
    if not {"M", "N", "K"} <= {*heading}:
        raise InputError("the heading is damaged: it has no columns M, N and K", path=shown, place="line 1")
    units: set[str] = set()
    for at, fields in enumerate(parsed, 2):
        if not any(fields):
            continue
        if len(fields) != len(heading):
            found.complain(at, f"{len(fields)} values under {len(heading)} names")
            continue
        row = _row(dict(zip(heading, fields, strict=True)), at, found, units)
        if row is not None:
            found.rows.append(row)
    if "assumed" in units:
        found.complain(None, "the file does not name soltimes' unit: milliseconds are assumed, as gradlib writes them")
    gpus = {str(row["gfx"]) for row in found.rows if row.get("gfx")}
    if gpus:
        found.facts["GPU"] = ", ".join(sorted(gpus))
    return found.results(shown, "gradlib, vLLM or AITER", "GEMM", cost="time_us")


def _row(given: dict[str, str], at: int, found: RowCollector, units: set[str]) -> dict[str, Any] | None:
    sizes = {name: value_of(given[name.upper()]) for name in ("m", "n", "k")}
    if not all(isinstance(size, int) and size > 0 for size in sizes.values()):
        found.complain(at, "M, N and K are not sizes: " + ", ".join(str(size)[:20] for size in sizes.values()))
        return None
    row: dict[str, Any] = dict(sizes)
    batch = value_of(given["B"]) if "B" in given else 1
    row["batch"] = batch if isinstance(batch, int) else None
    row |= {name: value_of(text) for name, text in given.items() if name.lower() not in _KNOWN}
    row["kernel"] = given.get("kernelName", "").strip() or None
    written = positive(given.get("tflops", ""))
    row["time_us"] = _microseconds(given, row, written, units, found=found, at=at)
    row["tflops"] = gemm_tflops(row["m"], row["n"], row["k"], row["batch"], row["time_us"])
    row["error_ratio"] = number(given.get("err_ratio", given.get("errRatio", "")))
    if written and row["tflops"] and written > 1 and abs(written / row["tflops"] - 1) > _MAX_RATE_DIFFERENCE:
        found.complain(at, f"the written rate of {written:.4g} TFLOP/s does not match its time, {row['tflops']:.4g}")
    return row


def _microseconds(
    given: dict[str, str], row: dict[str, Any], written: float | None, units: set[str], *, found: RowCollector, at: int
) -> float | None:
    column = "us" if "us" in given else "soltimes" if "soltimes" in given else None
    if column is None:
        return None
    value = positive(given[column])
    if value is None:
        found.complain(at, f"{given[column][:40]!r} is not a time")
        return None
    if column == "us":
        return value
    as_us = gemm_tflops(row["m"], row["n"], row["k"], row["batch"], value)
    if written and as_us:
        # The two units differ by a factor of a thousand, so rounding cannot confuse them.
        return value if written / as_us > 0.03 else 1e3 * value
    if "tflops" in given:
        return value
    units.add("assumed")
    return 1e3 * value


FORMAT = ResultFormat("tuned GEMMs of gradlib, vLLM or AITER", recognise, read)
"""Fastest solution of each GEMM of a model."""
