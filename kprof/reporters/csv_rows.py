"""A row a measurement, as CSV."""

import csv
import io

from kprof.bench.document import BenchReport, flat
from kprof.output.csv_cells import guarded
from kprof.reporters.interface import Format, Request


class _Csv(Format):
    """One line a measurement, with the device in front; empty where nothing is known."""

    name = "csv"
    help = "Write the measurements as CSV."
    extension = ".csv"
    documents = ("bench",)

    def render(self, document: BenchReport, request: Request) -> str:  # noqa: ARG002 - there is one way
        """See :class:`kprof.reporters.interface.Format`."""
        device = {"device": document.device.name, "arch": document.device.arch}
        rows = [{**device, **flat(m)} for m in document.measurements]
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]) if rows else ["device"], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: guarded(value) for name, value in row.items()} for row in rows)
        return text.getvalue()


FORMAT = _Csv()
