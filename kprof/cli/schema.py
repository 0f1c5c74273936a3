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
    from kprof.reporters.json_document import schema

    if document == "report":
        return schema()
    from kprof.diffing import document as diff
    from kprof.doctor import document as doctor
    from kprof.tuning import document as tune

    kinds = {
        "diff": (diff.SCHEMA, diff.Diff),
        "doctor": (doctor.SCHEMA, doctor.Diagnosis),
        "tune": (tune.SCHEMA, tune.TuneReport),
    }
    return schema(*kinds[document])
