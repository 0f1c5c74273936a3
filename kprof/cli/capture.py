"""``kprof capture``: run a program and record the Triton kernels that it launches, without a GPU."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.api.defaults import DEFAULT_ARCH
from kprof.cli._completion import architectures
from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, NoColorOption, QuietOption, VerboseOption
from kprof.errors import KprofError
from kprof.output.headline import on_screen
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.api.record import Recorded

# What follows the program's name is the program's, with "--" or without.
CONTEXT_SETTINGS = {"allow_interspersed_args": False}
HELP = "Run a PyTorch and Triton program and record what it launches, without a GPU."

_FAILED = 2
_INTERRUPTED = 130


@format_options("capture")
def command(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM", help="What to run: -- python train.py --steps 1")],
    arch: Annotated[
        str,
        typer.Option("--arch", "-a", help="Architecture or product: gfx942 or MI300X.", autocompletion=architectures),
    ] = DEFAULT_ARCH,
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory to write.", metavar="DIR")] = Path(
        "kprof-capture"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace a capture that is there.")] = False,
    execute: Annotated[
        bool, typer.Option("--execute/--no-execute", help="Let kernels run where there is a ROCm GPU.")
    ] = True,
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Use the cache of compiled kernels.")] = True,
    arithmetic: Annotated[
        bool, typer.Option("--arithmetic/--no-arithmetic", help="Compute torch's matrix products, or give zeros.")
    ] = True,
    argv: Annotated[
        bool, typer.Option("--argv/--no-argv", help="Keep command lines, without their secrets, or leave them out.")
    ] = True,
    full_values: Annotated[
        bool, typer.Option("--full-values", help="Compute large tensors of the GPU too, in the machine's memory.")
    ] = False,
    values: Annotated[
        int,
        typer.Option(
            "--keep-values", help="Integers of a tensor that are kept, where loops depend on them.", min=0, max=1 << 20
        ),
    ] = 4096,
    operators: Annotated[
        bool, typer.Option("--operators", help="Keep each call of torch's own operators, for kprof profile.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail (2) when an operator was answered without running.")
    ] = False,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds that one compile may take.", min=1)] = 600.0,
    jobs: JobsOption = 0,
    outputs: Outputs = NO_OUTPUTS,
    verbose: VerboseOption = 0,
    quiet: QuietOption = False,
    no_color: NoColorOption = False,
) -> None:
    """Run a program and record the Triton kernels that it launches. Needs no GPU.

    The program sees a simulated GPU. Its kernels are compiled and not run: what they would write stays zero. On a
    machine with a ROCm GPU they run, and what really runs is recorded.

    Then:  kprof analyze kernel DIR

    Exit codes: 0 recorded, 2 the program failed, or a kernel that it launches does not compile; with --strict also when
    an operator was answered without running.
    """
    from kprof.api.record import record

    # The summary has no colours; the option is every command's.
    del no_color
    found = record(
        program,
        output=output,
        arch=arch,
        jobs=jobs,
        use_cache=cache,
        force=force,
        execute=execute,
        timeout=timeout,
        arithmetic=arithmetic,
        full_values=full_values,
        values=values,
        argv=argv,
        operators=operators,
    )
    outputs.write(found.document, lambda: _show(found, verbose=verbose, quiet=quiet))
    if found.ended.interrupted:
        raise typer.Exit(_INTERRUPTED)
    raise typer.Exit(0 if found.complete and not (strict and found.capture.unrun) else _FAILED)


def _width() -> int:
    """Columns of the terminal; 110 in a pipe. Not asked of rich, whose import takes longer than the summary."""
    import shutil
    import sys

    return shutil.get_terminal_size((110, 24)).columns if sys.stdout.isatty() else 110


def _show(found: "Recorded", *, verbose: int, quiet: bool) -> None:
    from kprof.reporters.capture_text import CaptureTextReporter

    reporter = CaptureTextReporter(_width(), verbose, verdict_first=on_screen())
    text = reporter.render(found.capture, quiet=quiet, ended=found.trouble)
    print(text, end="")
    if found.empty:
        message = "no process of the program compiled a Triton kernel"
        hint = "Python that ignores PYTHONPATH (-I, -E) cannot be recorded; the program must use Triton"
        raise KprofError(message, path=str(found.capture.path), hint=hint)
