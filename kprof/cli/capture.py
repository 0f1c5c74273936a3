"""``kprof capture``: run a program and record the Triton kernels that it launches, without a GPU."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._options import takes_options
from kprof.errors import KprofError
from kprof.options.programs import CaptureOptions
from kprof.output.headline import on_screen
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.record import Recorded

# All words after the program's name belong to the program, with or without "--".
CONTEXT_SETTINGS = {"allow_interspersed_args": False}
HELP = "Run a PyTorch and Triton program and record the kernels it launches, without a GPU."

_FAILED = 2
_INTERRUPTED = 130


@takes_options("capture", compiles=True)
def command(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM", help="What to run: -- python train.py --steps 1")],
    options: CaptureOptions,
    outputs: Outputs,
) -> None:
    """Run a program and record the Triton kernels that it launches. Needs no GPU.

    The program sees a simulated GPU. Its kernels are compiled but not run, so their outputs stay zero. On a machine
    with a ROCm GPU the kernels run, and the real launches are recorded.

    -o names the folder to write, by default kprof-capture. Then:  kprof analyze kernel FOLDER

    Exit codes: 0 recorded, 2 the program failed, or a kernel that it launches does not compile; with --strict also if
    an operator was answered without running it, or launches are left out.
    """
    from kprof.api.record import record

    found = record(program, options=options)
    outputs.write(found.document, lambda: _show(found, outputs))
    if found.ended.interrupted:
        raise typer.Exit(_INTERRUPTED)
    raise typer.Exit(0 if found.complete and not (options.strict and found.incomplete) else _FAILED)


def _width() -> int:
    """Return the terminal's width, or 110 in a pipe, without rich, whose import takes longer than the summary."""
    import shutil
    import sys

    return shutil.get_terminal_size((110, 24)).columns if sys.stdout.isatty() else 110


def _show(found: "Recorded", outputs: Outputs) -> None:
    from kprof.reporters.capture_text import CaptureTextReporter

    reporter = CaptureTextReporter(_width(), outputs.verbose, verdict_first=on_screen())
    text = reporter.render(found.capture, quiet=outputs.quiet, ended=found.trouble)
    print(text, end="")
    if found.empty and found.capture.left_out:
        raise KprofError(
            "the capture contains no kernel", path=str(found.capture.path), hint=str(found.capture.left_out[0])
        )
    if found.empty:
        message = "no process of the program compiled a Triton kernel"
        hint = "Python that ignores PYTHONPATH (-I, -E) cannot be recorded; the program must use Triton"
        raise KprofError(message, path=str(found.capture.path), hint=hint)
