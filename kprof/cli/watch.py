"""``kprof watch``: a kernel again at each save, with what changed."""

import sys
import time
from typing import TYPE_CHECKING

import typer

from kprof.cli._arguments import TargetArgument
from kprof.cli._options import takes_options
from kprof.options.kernels import WatchOptions
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.live.watch import Update

HELP = "Analyse a kernel again at each save of its file, and show what changed."


@takes_options()
def command(target: TargetArgument, options: WatchOptions, outputs: Outputs) -> None:
    """Analyse a kernel, and again whenever its file or one that it imports is saved, until Ctrl-C.

    Each screen ends with what changed in the compiled code. A compile error is shown with its line.

    Example:  kprof watch my.py::fn --arch MI300X --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024
    """
    from kprof.api.live.watch import watch

    try:
        for update in watch(target, options):
            _show(update, outputs)
    except KeyboardInterrupt:
        # How a watch is ended.
        raise typer.Exit(0) from None


def _show(update: "Update", outputs: Outputs) -> None:
    from kprof.output.terminal import terminal
    from kprof.reporters.console import ConsoleReporter
    from kprof.reporters.diff_text import DiffTextReporter

    console = terminal(no_color=outputs.no_color)
    if console.is_terminal:
        console.clear()
    if update.analysis is not None:
        reporter = ConsoleReporter(console, outputs.verbose)
        (reporter.verdict if outputs.quiet else reporter.show)(update.analysis.document)
    if update.changed is not None:
        print()
        DiffTextReporter(console, outputs.verbose).show(update.changed.document)
    if update.error is not None:
        console.print(f"kprof: {update.error}", style="bold red", markup=False)
        if update.last is not None:
            console.print(f"the last that compiled: {update.last.summary}", style="dim", markup=False)
    console.print(f"{time.strftime('%H:%M:%S')}: waiting for the next save; Ctrl-C ends", style="dim", markup=False)
    sys.stdout.flush()
