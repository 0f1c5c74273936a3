"""The document of a comparison as JSON, and its schema."""

from typing import Any

import msgspec

from kprof.diffing.document import SCHEMA, Diff
from kprof.reporters.json_document import clean


def render(document: Diff) -> str:
    """``kprof.diff/1`` with two spaces of indentation and keys in the document's order."""
    encoded = msgspec.json.encode(document, enc_hook=str)
    return msgspec.json.format(encoded, indent=2).decode() + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema of the document, as published in ``docs/schema/diff-1.json``."""
    found: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        **clean(msgspec.json.schema(Diff)),
    }
    return found
