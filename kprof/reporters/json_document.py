"""The document itself, as JSON, and its schema."""

from inspect import cleandoc
from typing import Any

import msgspec

from kprof.document import SCHEMA, Report


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
        **clean(msgspec.json.schema(Report)),
    }


def clean(node: Any) -> Any:
    """Descriptions without indentation: Python 3.13 strips docstrings, older ones do not."""
    if isinstance(node, dict):
        return {
            key: cleandoc(value) if key == "description" and isinstance(value, str) else clean(value)
            for key, value in node.items()
        }
    return [clean(item) for item in node] if isinstance(node, list) else node
