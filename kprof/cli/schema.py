"""``kprof schema``: print the JSON Schema of a document."""

from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.options.groups import OutputOptions
from kprof.output.writing import write_output
from kprof.reporters.outputs import Outputs

HELP = "Print the JSON Schema of the --json document."


@takes_options()
def command(
    options: OutputOptions,
    outputs: Outputs,
    document: Annotated[
        str, typer.Argument(help="report, or another: diff, tune, doctor, bench, profile, server-configs.")
    ] = "report",
) -> None:
    """Print the JSON Schema of a --json document, kprof.report/1 by default."""
    import json

    from kprof.api.schema import schema_of

    # --quiet and --verbose do not apply to a schema.
    del outputs
    write_output(options.output or "-", json.dumps(schema_of(document), indent=2))
