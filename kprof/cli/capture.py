"""``kprof capture``: run a program and record the Triton kernels that it launches, without a GPU."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._format_options import format_options
from kprof.cli.common import JobsOption, NoColorOption, QuietOption, VerboseOption
from kprof.errors import KprofError
from kprof.reporters.outputs import NO_OUTPUTS, Outputs

if TYPE_CHECKING:
    from kprof.captures.model import Capture
    from kprof.recording.command import Ended

# What follows the program's name is the program's, with "--" or without.
CONTEXT_SETTINGS = {"allow_interspersed_args": False}
HELP = "Run a PyTorch and Triton program and record what it launches, without a GPU."

_FAILED = 2
_INTERRUPTED = 130
_FULL = 1 << 16


@format_options("capture")
def command(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM", help="What to run: -- python train.py --steps 1")],
    arch: Annotated[str, typer.Option("--arch", "-a", help="Architecture or product: gfx942 or MI300X.")] = "gfx942",
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

    The program is told that it has the GPU. Its kernels are compiled, and not run: what they would have written is
    zero. On a machine with a ROCm GPU they run, and what really runs is recorded.

    Then:  kprof analyze kernel DIR

    Exit codes: 0 recorded, 2 the program failed, or a kernel that it launches does not compile; with --strict also when
    an operator was answered without running.
    """
    from kprof.recording.command import Options, prepare, run

    # The summary has no colours; the option is every command's.
    del no_color
    options = Options(
        arch,
        output,
        jobs=jobs,
        use_cache=cache,
        force=force,
        execute=execute,
        timeout=timeout,
        arithmetic=arithmetic,
        full_values=full_values,
        argv=argv,
    )
    settings = prepare(options, program)
    ended = run(settings, program)
    from kprof.captures.reader import read
    from kprof.reporters._capture_summary import summary

    capture = read(output)
    found = summary(capture, ended.status)
    outputs.write(found, lambda: _show(capture, ended, verbose=verbose, quiet=quiet))
    raise typer.Exit(_status(capture, ended, strict=strict))


def _status(capture: "Capture", ended: "Ended", *, strict: bool) -> int:
    if ended.interrupted:
        return _INTERRUPTED
    launched = [kernel for kernel in capture.kernels if kernel.launches and not kernel.ok]
    failed = ended.status or launched or not capture.kernels or (strict and capture.unrun)
    return _FAILED if failed else 0


def _words(capture: "Capture", ended: "Ended") -> str | None:
    import shutil

    if not capture.complete and shutil.disk_usage(capture.path).free < _FULL:
        return "the disk is full"
    if ended.interrupted:
        return "interrupted"
    if ended.status < 0:
        return f"the program was ended by signal {-ended.status}"
    return f"the program failed with exit status {ended.status}" if ended.status else None


def _width() -> int:
    """Columns of the terminal; 110 in a pipe. Not asked of rich, whose import takes longer than the summary."""
    import shutil
    import sys

    return shutil.get_terminal_size((110, 24)).columns if sys.stdout.isatty() else 110


def _show(capture: "Capture", ended: "Ended", *, verbose: int, quiet: bool) -> None:
    from kprof.reporters.capture_text import CaptureTextReporter

    text = CaptureTextReporter(_width(), verbose).render(capture, quiet=quiet, ended=_words(capture, ended))
    print(text, end="")
    if not capture.kernels:
        message = "no process of the program compiled a Triton kernel"
        hint = "Python that ignores PYTHONPATH (-I, -E) cannot be recorded; the program must use Triton"
        raise KprofError(message, path=str(capture.path), hint=hint)
