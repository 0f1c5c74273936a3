"""``kprof watch``: a kernel again at each save, with what changed."""

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli._compile_options import MEASURED, NO_OPTIONS, compile_options
from kprof.cli._completion import targets
from kprof.cli.common import NoColorOption, VerboseOption

if TYPE_CHECKING:
    from kprof.api.live.watch import Update

HELP = "Analyse a kernel again at each save of its file, and show what changed."


@compile_options(without=["all_configs", "passes", *MEASURED])
def command(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET", help="FILE.py::FUNCTION, an .amdgcn or .hsaco file, ...", autocompletion=targets
        ),
    ],
    compile_with: Mapping[str, Any] = NO_OPTIONS,
    verbose: VerboseOption = 0,
    no_color: NoColorOption = False,
) -> None:
    """Analyse a kernel, and again whenever its file or one that it imports is saved, until Ctrl-C.

    Each screen ends with what changed in the compiled code. A compile error is shown with its line.

    Example:  kprof watch my.py::fn --arch MI300X --signature '*fp16,*fp16,i32:16' --constexpr BLOCK=1024
    """
    from kprof.api.live.watch import watch

    updates = watch(
        target,
        **compile_with,
    )
    try:
        for update in updates:
            _show(update, verbose=verbose, no_color=no_color)
    except KeyboardInterrupt:
        # How a watch is ended.
        raise typer.Exit(0) from None


def _show(update: "Update", *, verbose: int, no_color: bool) -> None:
    from kprof.output.terminal import terminal
    from kprof.reporters.console import ConsoleReporter
    from kprof.reporters.diff_text import DiffTextReporter

    console = terminal(no_color=no_color)
    if console.is_terminal:
        console.clear()
    if update.analysis is not None:
        ConsoleReporter(console, verbose).show(update.analysis.document)
    if update.changed is not None:
        print()
        DiffTextReporter(console, verbose).show(update.changed.document)
    if update.error is not None:
        console.print(f"kprof: {update.error}", style="bold red", markup=False)
        if update.last is not None:
            console.print(f"the last that compiled: {update.last.summary}", style="dim", markup=False)
    console.print(f"{time.strftime('%H:%M:%S')}: waiting for the next save; Ctrl-C ends", style="dim", markup=False)
    sys.stdout.flush()
