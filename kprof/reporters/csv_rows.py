"""A row a measurement, or a row a metric of two runs, as CSV."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from kprof.bench.document import BenchReport, flat
from kprof.output.csv_cells import guarded
from kprof.reporters.interface import Format, Request

COUNTER_COLUMNS = (
    "kernel", "grid", "workgroup", "differs", "metric", "title", "unit", "before", "after", "ratio",
    "before_deviation", "after_deviation", "before_dispatches", "after_dispatches", "beyond_spread", "flag",
)  # fmt: skip
"""What :func:`counter_rows` tells of each metric."""


def counter_rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row a kernel and metric of ``kprof.counters.diff/1``, the duration first."""
    for pair in document["kernels"]:
        sizes = {name: "x".join(map(str, pair["before"][name] or ())) or None for name in ("grid", "workgroup")}
        first = {"kernel": pair["kernel"], **sizes, "differs": " ".join(pair["differs"]) or None}
        first |= {f"{side}_dispatches": pair[side]["dispatches"] for side in ("before", "after")}
        time = {"title": "duration", "unit": "ns", **pair["nanoseconds"]}
        for name, found in {"nanoseconds": time, **pair["metrics"]}.items():
            spreads = {side: found[f"{side}_spread"] or {} for side in ("before", "after")}
            yield {
                **first,
                "metric": name,
                **{column: found.get(column) for column in COUNTER_COLUMNS if column in found},
                **{f"{side}_deviation": spread.get("deviation") for side, spread in spreads.items()},
            }


class _Csv(Format):
    """A line a measurement, with the device in front, or a metric of two runs; empty where nothing is known."""

    name = "csv"
    help = "Write the measurements as CSV."
    extension = ".csv"
    documents = ("bench", "counters-diff")

    def render(self, document: Any, request: Request) -> str:
        """See :class:`kprof.reporters.interface.Format`."""
        if request.kind == "counters-diff":
            rows, columns = list(counter_rows(document)), list(COUNTER_COLUMNS)
        else:
            rows = _measurements(document)
            columns = list(rows[0]) if rows else ["device"]
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: guarded(value) for name, value in row.items()} for row in rows)
        return text.getvalue()


def _measurements(document: BenchReport) -> list[dict[str, Any]]:
    device = {"device": document.device.name, "arch": document.device.arch}
    return [{**device, **flat(m)} for m in document.measurements]


FORMAT = _Csv()
