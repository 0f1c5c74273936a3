"""``kprof ingest thread-trace``: thread traces (ATT), decoded or raw."""

from typing import Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

HELP = "Thread traces (ATT): cost by source line and instruction."


@format_options("measurements")
def command(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="ui_output_agent_*_dispatch_* folder, code.json, CSV, or raw .att.")
    ],
    top: Annotated[int, typer.Option("--top", "-n", help="Rows to show of each table.", min=1)] = 12,
    outputs: Outputs = NO_OUTPUTS,
) -> None:
    """Show where the traced wavefronts spent their cycles: by source line, by mnemonic and by instruction.

    Of a folder with several dispatches all are listed, and the first that was traced and is no fill is shown.

    Example:  kprof ingest thread-trace ui_output_agent_1_dispatch_20
    """
    from kprof.api.read_thread_trace import read_thread_trace
    from kprof.output.headline import tell_first, tell_last
    from kprof.reporters.thread_trace_text import show

    found = read_thread_trace(path)

    def text() -> None:
        tell_first(found.summary)
        show(found.trace, top)
        tell_last(found.summary)

    outputs.write(found.document, text)
