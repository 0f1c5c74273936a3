"""The document itself, as JSON, and its schema."""

from typing import Any

import msgspec

from kprof.report import SCHEMA, Report


class JsonReporter:
    """Writes ``kprof.report/1`` with two spaces of indentation and keys in the document's order."""

    def render(self, report: Report) -> str:
        """See :class:`kprof.reporters.interface.Reporter`."""
        encoded = msgspec.json.encode(report, enc_hook=_plain)
        return msgspec.json.format(encoded, indent=2).decode() + "\n"


def _plain(value: Any) -> Any:
    """Constexprs may be any Python object; what JSON cannot hold is written as its text."""
    return str(value)


def schema() -> dict[str, Any]:
    """The JSON Schema of the document, as published in ``docs/schema/report-1.json``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        **msgspec.json.schema(Report),
    }
