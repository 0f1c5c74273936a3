"""``kprof schema``: the JSON Schema of the documents."""

from typing import Annotated

import typer

from kprof.cli.common import write_output
from kprof.errors import KprofError, near_hint

HELP = "Print the JSON Schema of the --json document."

_DOCUMENTS = ("report", "diff")


def command(
    document: Annotated[str, typer.Argument(help="report, or diff for that of kprof diff.")] = "report",
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is standard output.")] = "-",
) -> None:
    """Print the JSON Schema of the --json document: kprof.report/1, or kprof.diff/1."""
    import json

    if document not in _DOCUMENTS:
        raise KprofError(f"no document {document!r}", hint=near_hint(document, _DOCUMENTS, "They are"))
    if document == "diff":
        from kprof.reporters.diff_json import schema
    else:
        from kprof.reporters.json_document import schema
    write_output(output, json.dumps(schema(), indent=2))
