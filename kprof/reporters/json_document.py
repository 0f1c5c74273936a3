"""Write documents as JSON, and return their schemas."""

from inspect import cleandoc
from typing import Any

import msgspec

from kprof.document import SCHEMA, Report
from kprof.reporters.interface import DOCUMENTS, Format, ReportRequest


def encoded(document: Any) -> str:
    """Return a document as JSON, indented by two spaces, with keys in the document's order.

    Constexprs may be any Python object, so values that JSON cannot represent are written as text. Bytes of a file name
    that are not UTF-8 are written as escapes.
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
    """Return the JSON Schema of a document, by default the report, as published in ``docs/schema``."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **clean(msgspec.json.schema(kind)),
    }


def clean(node: Any) -> Any:
    """Remove the indentation of descriptions, because only Python 3.13 and later remove it from docstrings."""
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
        """Return True for reports on kernels.

        Tables of measurements are large and name no source lines, so they are skipped.
        """
        return isinstance(document, Report)

    def render(self, document: Any, request: ReportRequest) -> str:  # noqa: ARG002 - all of them are rendered alike
        """Return the document in this format; see :class:`kprof.reporters.interface.Format`."""
        return encoded(document)


FORMAT = _Json()
