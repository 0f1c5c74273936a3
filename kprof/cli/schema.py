"""``kprof schema``: the JSON Schema of the document."""

from typing import Annotated

import typer

from kprof.cli.common import write_output

HELP = "Print the JSON Schema of the --json document."


def command(
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is standard output.")] = "-",
) -> None:
    """Print the JSON Schema of the --json document (kprof.report/1)."""
    import json

    from kprof.reporters.json_document import schema

    write_output(output, json.dumps(schema(), indent=2))
