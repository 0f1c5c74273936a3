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
    from kprof.api.live.watch import Look

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

    looks = watch(
        target,
        **compile_with,
    )
    try:
        for look in looks:
            _show(look, verbose=verbose, no_color=no_color)
    except KeyboardInterrupt:
        # How a watch is ended.
        raise typer.Exit(0) from None


def _show(look: "Look", *, verbose: int, no_color: bool) -> None:
    from kprof.output.terminal import terminal
    from kprof.reporters.console import ConsoleReporter
    from kprof.reporters.diff_text import DiffTextReporter

    console = terminal(no_color=no_color)
    if console.is_terminal:
        console.clear()
    if look.analysis is not None:
        ConsoleReporter(console, verbose).show(look.analysis.document)
    if look.changed is not None:
        print()
        DiffTextReporter(console, verbose).show(look.changed.document)
    if look.error is not None:
        console.print(f"kprof: {look.error}", style="bold red", markup=False)
        if look.last is not None:
            console.print(f"the last that compiled: {look.last.summary}", style="dim", markup=False)
    console.print(f"{time.strftime('%H:%M:%S')}: waiting for the next save; Ctrl-C ends", style="dim", markup=False)
    sys.stdout.flush()
