"""``kprof tune``: rank configurations without a GPU."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._arguments import targets
from kprof.cli._options import takes_options
from kprof.cli._plug_ins import tell_broken
from kprof.cli._programs import one_target
from kprof.options.searches import TuneOptions
from kprof.output.headline import tell_first, tell_last
from kprof.output.writing import log
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.tune import Tuned

HELP = "Rank a kernel's configurations by predicted time, without a GPU."
EXIT_INTERRUPTED = 130


@takes_options("tune", compiles=True)
def command(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="KERNEL",
            help="A bundled kernel, a file with a KERNEL, FILE.py::FUNCTION [-- ARGS] or CAPTURE::KERNEL.",
            autocompletion=targets,
        ),
    ],
    options: TuneOptions,
    outputs: Outputs,
) -> None:
    """Rank a kernel's configurations by predicted time, without a GPU.

    Every configuration is compiled; a model predicts its time from the compiled code and the launch. Ctrl-C shows the
    results so far; the same command continues the search.

    -o names a folder for the result, the search's journal and the files of --write.

    For a kernel of a capture or of a program, other tiles are tried by running the program up to the launch and
    repeating the launch with other values. The result names the source line that sets the configuration, and its new
    text.

    Exit codes: 0 a ranking for every problem, 2 cannot tell, 130 stopped by Ctrl-C.

    Example:  kprof tune gemm --shape M=4096,N=4096,K=4096 --arch MI300X
    """
    from kprof.api.tune import tune
    from kprof.reporters.tune_progress import Reporter

    kernel, program = one_target(targets)
    with Reporter(quiet=outputs.quiet) as reporter:
        found = tune(kernel, options=options, program=program, progress=reporter.show, tell=reporter.tell)
    raise typer.Exit(tell_broken(_show(found, outputs)))


def _show(found: "Tuned", outputs: Outputs) -> int:
    # Print the result before writing files, so that a full disk cannot lose it.
    from kprof.reporters.tune_text import show, to_paste

    paste = to_paste(found.document)
    if not (outputs.to_stdout or outputs.quiet):
        tell_first(found.summary, paste)
        show(found.document, no_color=outputs.no_color)
    outputs.write(found.document, lambda: None)
    for note in found.write():
        log(note)
    if found.answer is not None and not outputs.to_stdout:
        from kprof.reporters.recorded_text import answer_text

        print(answer_text(found.answer))
    if not outputs.to_stdout:
        tell_last(found.summary, paste, alone=outputs.quiet)
    return EXIT_INTERRUPTED if found.interrupted else 0 if found.ok else 2
