"""Read files of other tools with kprof and with another reader, and compare counts and sums.

Each file gives one row of docs/validation/formats.md: the number of records that both readers found, and the sum of one
number per record. The other readers are the csv, json and sqlite3 modules, PyYAML, and a regular expression for each
plain-text format.

    .venv/bin/python validation/formats_against_files.py FILE...
"""

import argparse
import csv
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kprof.inputs import results

Total = tuple[int, float]
_CLOSE = 1e-9


def _csv(path: Path, column: str) -> Total:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    return len(rows), sum(float(row[column]) for row in rows)


def _tuned(path: Path) -> Total:
    return _csv(path, "us")


def _winners(path: Path) -> Total:
    return _csv(path, "WinnerTimeUS")


def _find_db(path: Path) -> Total:
    times = re.findall(r"[=;]\w+:[^,;]+,([\d.eE+-]+),\d+,", path.read_text(encoding="utf-8"))
    return len(times), sum(map(float, times))


def _perf_sqlite(path: Path) -> Total:
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        count, sizes = connection.execute(
            "SELECT count(*), sum(c.in_channels) FROM perf_db p JOIN config c ON c.id = p.config"
        ).fetchone()
    return count, float(sizes)


def _logic(path: Path) -> Total:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    document = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    sizes = next(
        part
        for part in document[6:]
        if isinstance(part, list) and part and isinstance(part[0], list) and isinstance(part[0][0], list)
    )
    return len(sizes), sum(float(choice[1]) for _, choice in sizes)


def _rccl(path: Path) -> Total:
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [line for line in lines if len(line) >= 13 and line[0].isdigit() and line[1].isdigit()]
    return 2 * len(rows), sum(float(line[5]) + float(line[9]) for line in rows)


def _table(path: Path) -> Total:
    rows = [
        line.strip().strip("|").split("|") for line in path.read_text(encoding="utf-8").splitlines() if ">>>" in line
    ]
    cells = [[cell.strip() for cell in row] for row in rows if len(row) > 6]
    # Count, depth, metric and unit precede the sum; the first cell that is a whole number is the count.
    starts = [
        next(at for at, cell in enumerate(row) if cell.isdigit() and at and ">>>" in "".join(row[:at])) for row in cells
    ]
    sums = [row[at + 4] for row, at in zip(cells, starts, strict=True)]
    return len(cells), sum(float(text) for text in sums if re.fullmatch(r"[\d.]+", text))


def _nodes(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "node" in value and not value["node"]["prefix"].startswith("unknown-hash"):
            yield value["node"]
        for each in value.values():
            yield from _nodes(each)
    elif isinstance(value, list):
        for each in value:
            yield from _nodes(each)


def _tree(path: Path) -> Total:
    nodes = list(_nodes(json.loads(path.read_text(encoding="utf-8"))))
    return len(nodes), sum(node["inclusive"]["entry"]["repr_data"] for node in nodes)


def _bench(path: Path) -> Total:
    lines = path.read_text(encoding="utf-8").splitlines()
    heads = [at for at, line in enumerate(lines) if "-Gflops" in line and "transA" in line]
    rows = [dict(zip(lines[at].split(","), lines[at + 1].split(","), strict=False)) for at in heads]
    return len(rows), sum(float(row["us"]) for row in rows)


OTHERS: dict[str, tuple[str, Callable[[Path], Total], str]] = {
    "gradlib, vLLM or AITER": ("csv", _tuned, "time_us"),
    "Tensile benchmark": ("csv", _winners, "time_us"),
    "MIOpen find-db": ("re", _find_db, "time_ms"),
    "MIOpen perf-db": ("sqlite3", _perf_sqlite, "in_channels"),
    "Tensile library logic": ("PyYAML", _logic, "performance"),
    "rccl-tests": ("str.split", _rccl, "time_us"),
    "hipblaslt-bench": ("str.split", _bench, "time_us"),
    "Omnitrace, rocprof-sys or timemory": ("str.split", _table, "sum"),
}


def main() -> int:
    """Print a row for each file; the exit code is 1 if the readers disagree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    files: list[Path] = parser.parse_args().files
    wrong = 0
    print("| file | tool | records | sum of | kprof | other reading | by |\n|---|---|---|---|---|---|---|")
    for path in files:
        found = results.read(path)
        by, other, column = OTHERS[found.tool]
        if path.suffix == ".json":
            by, other = "json", _tree
        own = len(found.rows), sum(float(row.get(column) or 0) for row in found.rows)
        count, total = other(path)
        same = own[0] == count and abs(own[1] - total) <= _CLOSE * max(1.0, abs(total))
        wrong += not same
        print(
            f"| {path.name} | {found.tool} | {own[0]:,} | {column} | {own[1]:.8g} | "
            f"{'the same' if same else f'{count:,}, {total:.8g}'} | {by} |"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
