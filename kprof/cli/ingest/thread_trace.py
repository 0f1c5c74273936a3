"""``kprof ingest thread-trace``: read thread traces (ATT), decoded or raw."""

from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.options.groups import RowOptions
from kprof.reporters.outputs import Outputs

HELP = "Thread traces (ATT): cost by source line and instruction."


@takes_options("measurements")
def command(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="ui_output_agent_*_dispatch_* folder, code.json, CSV, or raw .att.")
    ],
    options: RowOptions,
    outputs: Outputs,
) -> None:
    """Show where the traced wavefronts spent their cycles: by source line, by mnemonic and by instruction.

    If a folder contains several dispatches, all are listed, and the first traced one that is not a fill kernel is
    shown.

    Example:  kprof ingest thread-trace ui_output_agent_1_dispatch_20
    """
    from kprof.api.read_thread_trace import read_thread_trace
    from kprof.reporters.thread_trace_text import show

    found = read_thread_trace(path)

    outputs.tell(found, lambda: show(found.trace, options.rows))
