"""Read JSON profiles of Omnitrace, rocprof-sys and timemory, such as ``wall_clock.json``.

The object ``timemory`` has one entry per metric. In an entry, ``ranks`` lists the regions one after the other, and
``graph`` (``mpi`` if there are several ranks) contains them as a tree below an unnamed root. Files named
``*.tree.json`` have only the tree. Values are in the metric's ``unit_repr``. A region's value includes its children;
only the tree also contains exclusive values.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.results.model import LARGEST, ResultFormat, RowCollector, ToolResults

_PREFIX = re.compile(r"^((?:\|\d{1,9})*)>>>\s?( *)(?:\|_)?(.*)$", re.ASCII | re.DOTALL)


class _Entry(msgspec.Struct):
    laps: int = 0
    repr_data: float | dict[str, Any] | list[Any] | None = None


class _Stats(msgspec.Struct):
    sum: float | None = None
    count: int | None = None
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    stddev: float | None = None


class _Region(msgspec.Struct):
    prefix: str
    depth: int
    entry: _Entry
    # Metrics with several values have lists here, so the type is not fixed.
    stats: Any = None


class _Rank(msgspec.Struct):
    graph: list[Any]
    rank: int = 0


class _Values(msgspec.Struct):
    entry: _Entry
    stats: Any = None


class _Node(msgspec.Struct):
    prefix: str
    depth: int
    inclusive: _Values
    exclusive: _Values
    tid: list[int] = []


class _Tree(msgspec.Struct):
    node: _Node
    children: list[Any] = []


class _Metric(msgspec.Struct):
    ranks: list[_Rank] = []
    graph: list[list[Any]] = []
    mpi: list[list[Any]] = []
    unit_repr: Any = ""
    description: str = ""


class _File(msgspec.Struct):
    timemory: dict[str, Any]


def recognise(head: bytes) -> bool:
    """Return whether ``timemory`` is the first key of the JSON object."""
    return re.match(rb'(?:\xef\xbb\xbf)?\s*\{\s*"timemory"\s*:', head) is not None


def read(path: Path, shown: str) -> ToolResults:
    """Return one row per region of each metric."""
    found = RowCollector()
    data = boundary.read_bytes(path, most=LARGEST, shown=shown)
    content = boundary.json_of(data, _File, shown, "is not a profile of Omnitrace")
    for name, raw in content.timemory.items():
        try:
            metric = msgspec.convert(raw, _Metric)
        except msgspec.ValidationError as error:
            raise InputError(
                f"is not a profile of Omnitrace: {error}", path=shown, place=f"timemory.{name[:60]}"
            ) from None
        for rank in metric.ranks:
            for at, region in enumerate(rank.graph):
                _row((name, rank.rank, at), metric, region, found)
        if not metric.ranks:
            for number, tree in enumerate(metric.graph or metric.mpi):
                for row in _tree_rows(tree, found, f"timemory.{name[:60]}.{number}"):
                    found.rows.append({"rank": number, "metric": name, "unit": _unit(metric)} | row)
        found.facts[name[:60]] = metric.description[:120]
    return found.results(shown, "Omnitrace, rocprof-sys or timemory", "region", cost="sum")


def _row(where: tuple[str, int, int], metric: _Metric, raw: object, found: RowCollector) -> None:
    name, rank, at = where
    place = f"timemory.{name[:60]}.ranks.{rank}.graph.{at}"
    try:
        region = msgspec.convert(raw, _Region)
    except msgspec.ValidationError as error:
        found.complain(None, f"{place}: {error}")
        return
    match = _PREFIX.match(region.prefix)
    ids = [int(part) for part in match[1].split("|") if part] if match else []
    found.rows.append(
        {
            "label": match[3].strip() if match else region.prefix,
            "depth": region.depth,
            "rank": rank,
            "thread": ids[-1] if ids else None,
            "metric": name,
            "unit": _unit(metric),
            **_values(region.entry, region.stats),
        }
    )


def _values(entry: _Entry, raw: object) -> dict[str, Any]:
    """Return sum and statistics of an entry; they are None for a metric with several values."""
    try:
        stats = msgspec.convert(raw or {}, _Stats)
    except msgspec.ValidationError:
        stats = _Stats()
    return {
        "count": entry.laps,
        "sum": _number(entry.repr_data),
        "mean": stats.mean,
        "min": stats.min,
        "max": stats.max,
        "stddev": stats.stddev,
    }


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _unit(metric: _Metric) -> str | None:
    return metric.unit_repr if isinstance(metric.unit_repr, str) else None


def _tree_rows(roots: list[Any], found: RowCollector, place: str) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a tree, parents first, without the root node of the process."""
    waiting = list(reversed(roots))
    while waiting:
        try:
            tree = msgspec.convert(waiting.pop(), _Tree)
        except msgspec.ValidationError as error:
            found.complain(None, f"{place}: {error}")
            continue
        waiting.extend(reversed(tree.children))
        node = tree.node
        if node.depth == 0 and node.prefix.startswith("unknown-hash"):
            continue
        yield {
            "label": node.prefix,
            "depth": node.depth - 1,
            "thread": node.tid[0] if len(node.tid) == 1 else None,
            **_values(node.inclusive.entry, node.inclusive.stats),
            "own": _number(node.exclusive.entry.repr_data),
        }


FORMAT = ResultFormat("profile of Omnitrace or rocprof-sys in JSON", recognise, read)
"""Regions of a program with their recorded metrics."""
