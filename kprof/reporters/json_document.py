"""The document itself, as JSON, and its schema."""

from inspect import cleandoc
from typing import Any

import msgspec

from kprof.document import SCHEMA, Report
from kprof.reporters.interface import DOCUMENTS, Format, ReportRequest


def encoded(document: Any) -> str:
    """A document as JSON with two spaces of indentation and keys in its order.

    Constexprs may be any Python object: what JSON cannot hold is written as its text, and a byte of a file name that is
    not UTF-8 as an escape.
    """
    try:
        data = msgspec.json.encode(document, enc_hook=str)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_encodable(msgspec.to_builtins(document, enc_hook=str)))
    return msgspec.json.format(data, indent=2).decode() + "\n"


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(each) for key, each in value.items()}
    return [_encodable(each) for each in value] if isinstance(value, list) else value


def schema(title: str = SCHEMA, kind: Any = Report) -> dict[str, Any]:
    """The JSON Schema of a document, the report by default, as published in ``docs/schema``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **clean(msgspec.json.schema(kind)),
    }


def clean(node: Any) -> Any:
    """Descriptions without indentation: Python 3.13 strips docstrings, older ones do not."""
    if isinstance(node, dict):
        return {
            key: cleandoc(value) if key == "description" and isinstance(value, str) else clean(value)
            for key, value in node.items()
        }
    return [clean(item) for item in node] if isinstance(node, list) else node


class _Json(Format):
    name = "json"
    help = "Write the whole result as JSON."
    extension = ".json"
    documents = tuple(DOCUMENTS)

    def starts_at_root(self, document: Any) -> bool:
        """What was found in kernels; tables of measurements are large, and have no lines of the program."""
        return isinstance(document, Report)

    def render(self, document: Any, request: ReportRequest) -> str:  # noqa: ARG002 - all of them are rendered alike
        """See :class:`kprof.reporters.interface.Format`."""
        return encoded(document)


FORMAT = _Json()
