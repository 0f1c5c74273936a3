"""``kprof schema``: the JSON Schema of the documents."""

from typing import Annotated, Any

import typer

from kprof.errors import KprofError, near_hint
from kprof.output.writing import write_output

HELP = "Print the JSON Schema of the --json document."

_DOCUMENTS = ("report", "diff", "tune", "doctor")


def command(
    document: Annotated[str, typer.Argument(help="report, or that of another command: diff, tune, doctor.")] = "report",
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is standard output.")] = "-",
) -> None:
    """Print the JSON Schema of a --json document: kprof.report/1, kprof.diff/1, kprof.tune/1 or kprof.doctor/1."""
    import json

    if document not in _DOCUMENTS:
        raise KprofError(f"no document {document!r}", hint=near_hint(document, _DOCUMENTS, "They are"))
    write_output(output, json.dumps(schema_of(document), indent=2))


def schema_of(document: str) -> dict[str, Any]:
    """The schema of one of the documents, as published in ``docs/schema``."""
    if document == "diff":
        from kprof.reporters.diff_json import schema

        return schema()
    from kprof.reporters import json_document

    if document == "report":
        return json_document.schema()
    import msgspec

    from kprof.doctor import document as doctor
    from kprof.tuning import document as tune

    title, kind = (doctor.SCHEMA, doctor.Diagnosis) if document == "doctor" else (tune.SCHEMA, tune.TuneReport)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **json_document.clean(msgspec.json.schema(kind)),
    }
