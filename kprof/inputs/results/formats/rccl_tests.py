"""Read the output of rccl-tests, and of nccl-tests, from which rccl-tests was ported.

The results are lines of numbers between comments. The heading has one block of column names for out-of-place and one
for in-place operation. Older programs have no ``root`` column, and a maximum error instead of ``#wrong``. Bandwidths
are in GB/s of 10^9 bytes. The bus bandwidth is the algorithm bandwidth times a factor that depends on the collective
and the number of ranks, such as ``2 (n-1) / n`` for an all-reduce. Newer versions append columns, such as the
algorithm. A log may contain several runs, each with a heading. Only newer versions print the collective's name.
"""

import re
from pathlib import Path
from typing import Any

from kprof.inputs.results.model import ResultFormat, RowCollector, ToolResults, lines_of, number, positive, whole_number

_RANK = re.compile(r"#?\s*Rank\s+(\d{1,7}) .*?device\s+\S+ \[\S+\] (.{1,80})")
_SUMMARY = re.compile(r"#?\s*(Avg bus bandwidth|Out of bounds values)\s*:\s*(\S{1,40})")
_VERSION = re.compile(r"(RCCL version|HIP version|ROCm version)\s*:\s*(\S{1,80})")
_STARTING = re.compile(r"#\s*Collective test starting:\s*(\w{1,60})")
_SCHEDULER = re.compile(r"^\s*(?:\[\d+,\d+\]<\w+>:|\d+:\s)?\s*")
_PLACES = ("out-of-place", "in-place")
_BLOCK_COLUMNS = 4
"""Number of columns per block: time, algorithm bandwidth, bus bandwidth, wrong results."""


def recognise(head: bytes) -> bool:
    """Return whether the file contains the heading above the numbers."""
    return re.search(rb"size\s+count\s.*time\s+algbw\s+busbw", head) is not None


def read(path: Path, shown: str) -> ToolResults:
    """Return two rows per message size: out-of-place and in-place."""
    found = RowCollector()
    ranks: dict[int, str] = {}
    names: list[str] = []
    collectives: list[str] = []
    run = 0
    for at, line in enumerate(lines_of(path, shown, found), 1):
        text = _SCHEDULER.sub("", line).strip()
        if (rank := _RANK.match(text)) is not None:
            ranks[int(rank[1])] = rank[2].strip()
        elif (summary := _SUMMARY.match(text)) is not None:
            _summary(summary[1].lower(), summary[2], run, found)
        elif (version := _VERSION.match(text)) is not None:
            found.facts.setdefault(version[1], version[2])
        elif (started := _STARTING.match(text)) is not None:
            collectives.append(started[1])
        elif "busbw" in text and "size" in text:
            names = text.lstrip("# ").split()
            run += 1
        elif names and text[:1].isdigit():
            _rows(text.split(), names, run, at, found)
    if ranks:
        found.facts["ranks"] = str(len(ranks))
        found.facts["GPU"] = ", ".join(sorted(set(ranks.values()))[:4])
    if collectives:
        found.facts["collective"] = ", ".join(dict.fromkeys(collectives))
    runs = len({row["run"] for row in found.rows})
    if runs > 1:
        found.facts["runs"] = str(runs)
    return found.results(shown, "rccl-tests", "collective")


def _summary(name: str, text: str, run: int, found: RowCollector) -> None:
    key = "average bus bandwidth, GB/s" if name.startswith("avg") else "results out of bounds"
    found.facts[key if run < 2 else f"{key} (run {run})"] = text
    if key.startswith("results") and text != "0":
        found.complain(None, f"{text} results of run {run} are wrong, so its bandwidths are not valid")


def _rows(fields: list[str], names: list[str], run: int, at: int, found: RowCollector) -> None:
    """Parse a line: sizes and operation, blocks of four numbers (out-of-place, in-place), and additional columns."""
    places = [at for at, name in enumerate(names) if name == "time"]
    if len(fields) != len(names) or not 0 < len(places) <= len(_PLACES) or places[-1] + _BLOCK_COLUMNS > len(names):
        found.complain(at, f"{len(fields)} values under {len(names)} names")
        return
    size = whole_number(fields[0])
    count = whole_number(fields[1])
    if size is None or count is None:
        found.complain(at, f"{' '.join(fields[:2])[:40]!r} are not a size and a count")
        return
    shared: dict[str, Any] = {"run": run, "size_bytes": size, "count": count}
    numbers = {first + offset for first in places for offset in range(_BLOCK_COLUMNS)}
    shared |= {name: fields[i] for i, name in enumerate(names) if i > 1 and i not in numbers}
    for place, first in zip(_PLACES, places, strict=False):
        time, algorithm, bus, wrong = fields[first : first + _BLOCK_COLUMNS]
        row = {
            **shared,
            "place": place,
            "time_us": positive(time),
            "algorithm_gbs": number(algorithm),
            "bus_gbs": number(bus),
            # N/A means that results were not checked; 4e-07 is the maximum error, which older programs print here.
            "wrong": number(wrong),
        }
        if row["time_us"] is None:
            found.complain(at, f"{time[:40]!r} is not a time")
        else:
            _check(row, at, found)
        found.rows.append(row)


def _check(row: dict[str, Any], at: int, found: RowCollector) -> None:
    """Report a row whose algorithm bandwidth is more than 5 % off its bytes divided by its time."""
    own = row["size_bytes"] / row["time_us"] / 1e3
    printed = row["algorithm_gbs"]
    if printed is not None and printed > 1 and not 0.95 < own / printed < 1.05:
        found.complain(at, f"{printed:.4g} GB/s does not match {row['size_bytes']:,} bytes in {row['time_us']:.4g} us")


FORMAT = ResultFormat("rccl-tests", recognise, read)
"""Times and bandwidths of collectives, by message size."""
