"""Rows of a document as CSV: measurements, metrics of two runs, or entries of a list."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kprof.output.csv_cells import guarded
from kprof.reporters.interface import Format, ReportRequest

if TYPE_CHECKING:
    from kprof.bench.document import BenchReport

COUNTER_COLUMNS = (
    "kernel", "grid", "workgroup", "differs", "metric", "title", "unit", "before", "after", "ratio",
    "before_deviation", "after_deviation", "before_dispatches", "after_dispatches", "beyond_spread", "flag",
)  # fmt: skip
"""Columns of :func:`counter_rows`."""

OCCUPANCY_NAMES = (
    "name", "arch", "product", "vgpr", "agpr", "sgpr", "vgpr_allocated", "lds_bytes", "num_warps", "wavefront_size",
    "waves_per_simd", "max_waves_per_simd", "workgroups_per_cu", "limiter",
)  # fmt: skip
"""Columns for a kernel of ``kprof.occupancy/1``."""

_LISTED = {
    "rules": ("rule", "name", "severity", "summary"),
    "kernels": ("name", "summary", "cases", "parts", "path", "unsupported"),
    "architectures": ("name", "family", "products"),
}
# Columns of other documents, by the name of the list in the document; the columns are keys of the list's entries.


def counter_rows(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row per kernel and metric of ``kprof.counters.diff/1``, the duration first."""
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
    """CSV with a row per measurement (with its device), metric or entry; cells without a known value are empty."""

    name = "csv"
    help = "Write the rows of the result as CSV."
    extension = ".csv"
    documents = ("bench", "counters-diff", "occupancy", *_LISTED)

    def render(self, document: Any, request: ReportRequest) -> str:
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        if request.kind == "counters-diff":
            rows, columns = list(counter_rows(document)), list(COUNTER_COLUMNS)
        elif request.kind == "occupancy":
            rows = [_occupancy_columns(kernel) for kernel in document["kernels"]]
            columns = list(rows[0])
        elif request.kind in _LISTED:
            columns = list(_LISTED[request.kind])
            rows = [{name: _cell(row[name]) for name in columns} for row in document[request.kind]]
        else:
            rows = _measurements(document)
            columns = list(rows[0]) if rows else ["device"]
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: guarded(value) for name, value in row.items()} for row in rows)
        return text.getvalue()


def _occupancy_columns(kernel: Mapping[str, Any]) -> dict[str, Any]:
    """Return the resources and the occupancy of a kernel of ``kprof.occupancy/1``."""
    held = {name: getattr(kernel["occupancy"], name, None) for name in OCCUPANCY_NAMES}
    return {name: kernel.get(name, kernel["resources"].get(name, held[name])) for name in OCCUPANCY_NAMES}


def _cell(value: Any) -> Any:
    """Return a cell: lists of names are joined with blanks, and a value that cannot be known is written as ``?``."""
    return "?" if value is None else " ".join(value) if isinstance(value, list | dict) else value


def _measurements(document: "BenchReport") -> list[dict[str, Any]]:
    from kprof.bench.document import flat

    device = {"device": document.device.name, "arch": document.device.arch}
    return [{**device, **flat(m)} for m in document.measurements]


FORMAT = _Csv()
