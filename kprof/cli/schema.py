"""``kprof schema``: the JSON Schema of the documents."""

from typing import Annotated, Any

import typer

from kprof.cli.common import write_output
from kprof.errors import KprofError, near_hint

HELP = "Print the JSON Schema of the --json document."

_DOCUMENTS = ("report", "diff", "tune")


def command(
    document: Annotated[str, typer.Argument(help="report, diff (of kprof diff) or tune (of kprof tune).")] = "report",
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is standard output.")] = "-",
) -> None:
    """Print the JSON Schema of a --json document: kprof.report/1, kprof.diff/1 or kprof.tune/1."""
    import json

    if document not in _DOCUMENTS:
        raise KprofError(f"no document {document!r}", hint=near_hint(document, _DOCUMENTS, "They are"))
    write_output(output, json.dumps(schema_of(document), indent=2))


def schema_of(document: str) -> dict[str, Any]:
    """The schema of ``report``, ``diff`` or ``tune``, as published in ``docs/schema``."""
    if document == "diff":
        from kprof.reporters.diff_json import schema

        return schema()
    from kprof.reporters import json_document

    if document == "report":
        return json_document.schema()
    import msgspec

    from kprof.tuning.document import SCHEMA, TuneReport

    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        **json_document.clean(msgspec.json.schema(TuneReport)),
    }
