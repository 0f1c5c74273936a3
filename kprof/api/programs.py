"""Run a Python program on the simulated GPU, to analyse the kernels it launches."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.errors import KprofError, TargetError, near_hint
from kprof.hardware.default import DEFAULT_GPU
from kprof.options.groups import CompileOptions
from kprof.output.writing import log
from kprof.targets.target import TargetKind, TargetLike, resolve
from kprof.targets.usable_options import check, given

if TYPE_CHECKING:
    from kprof.captures.model import CapturedKernel
    from kprof.tuning.recorded.relaunch import RelaunchedProgram

PYTHON: ContextVar[str] = ContextVar("python_of_programs", default=sys.executable)
"""Python interpreter that runs a program named by its file."""

TIME_LIMIT = 3600.0
"""Default time limit of a program in seconds."""


@contextmanager
def launches_of(
    targets: Sequence[TargetLike], arguments: Sequence[str], options: CompileOptions, time_limit: float | None = None
) -> Iterator[tuple[Sequence[TargetLike], list[KprofError]]]:
    """Run a file as ``__main__``, record its launches, and yield the recording as the target to analyse.

    The recording is deleted on exit. If the file launches no kernel, the given targets are yielded instead. The second
    value contains an error if the program failed after some launches, because later launches are then missing.

    Args:
        targets: one Python file; ``FILE.py::function`` selects the launches of one function.
        arguments: the program's arguments.
        options: compile options. Programs support only ``arch`` (at most one GPU), ``all_configs`` and ``jobs``.
        time_limit: time limit of the program in seconds.

    Raises:
        TargetError: the target is not one Python file, it does not launch the function, or it fails before any launch.
        KprofError: an option does not apply to recorded launches.
    """
    from kprof.captures.reader import read
    from kprof.recording.command import RecordOptions as Recording
    from kprof.recording.command import prepare, run

    file, function = _program(targets)
    check(TargetKind.CAPTURE, f"what {file} launches", given(options))
    if len(options.arch) > 1:
        raise TargetError("a program is run for one GPU at a time", path=file, hint="Name one with --arch.")
    with tempfile.TemporaryDirectory(prefix="kprof-run-") as folder:
        output = Path(folder, Path(file).stem)
        arch = options.arch[0] if options.arch else DEFAULT_GPU
        settings = prepare(Recording(arch, output, jobs=options.jobs, execute=False), [file, *arguments])
        log(f"kprof: running {file} on a simulated {settings.device.name}")
        # Redirect the program's output to standard error, because it is not part of the analysis.
        ended = run(settings, [PYTHON.get(), file, *arguments], stdout=2, time_limit=time_limit or TIME_LIMIT)
        launched = [kernel for kernel in read(output).kernels if kernel.launches]
        names = list(dict.fromkeys(kernel.name for kernel in launched))
        ended.obey()
        how = "was stopped at its time limit" if ended.stopped else f"failed with exit status {ended.status}"
        if ended.interrupted:
            raise KeyboardInterrupt
        if ended.status and not names:
            raise TargetError(f"{how}, before it launched a Triton kernel", path=file)
        problems: list[KprofError] = []
        if ended.stopped:
            log(f"kprof: {file} {how}; its launches until then are analysed")
        elif ended.status:
            problems.append(TargetError(f"{how}: its later launches are not known", path=file))
        if names:
            known_function(function, launched, file)
        if not names:
            log(f"kprof: {file} launched no Triton kernel; it is analysed as if it had not been run")
        recorded = f"{output}::{function}" if function else str(output)
        yield [recorded] if names else targets, problems


def _program(targets: Sequence[TargetLike]) -> tuple[str, str]:
    """Return the file to run, and the name of the function whose launches are analysed, or "" for all launches."""
    (target, *others) = map(resolve, targets) if targets else [None]
    if target is None or others or target.kind is not TargetKind.SOURCE or target.path.suffix != ".py":
        hint = "FILE.py -- ARGS, or FILE.py::FUNCTION -- ARGS"
        raise TargetError("arguments after -- need exactly one Python file to run", hint=hint)
    if not target.path.is_file():
        raise TargetError("no such file", path=str(target.path))
    return str(target.path), target.text.partition("::")[2]


def program_command(target: TargetLike, arguments: Sequence[str]) -> tuple[list[str], str]:
    """Return the command that runs the file of ``FILE.py`` or ``FILE.py::FUNCTION``, and the function's name or "".

    Raises:
        TargetError: the target is not an existing Python file.
    """
    file, function = _program([target])
    return [sys.executable, file, *arguments], function


def known_function(function: str, launched: "Sequence[CapturedKernel]", place: str) -> None:
    """Check that the program launched the named function or specialisation; "" names none and is always valid.

    Raises:
        TargetError: no such function was launched.
    """
    if not function or any(function in (kernel.name, kernel.id) for kernel in launched):
        return
    names = list(dict.fromkeys(kernel.name for kernel in launched))
    hint = near_hint(function, names, "it launched")
    raise TargetError(f"did not launch a Triton function {function!r}", path=place, hint=hint)


@contextmanager
def recording(
    target: TargetLike | None, program: Sequence[str], gpu: str, *, jobs: int, options: CompileOptions
) -> "Iterator[tuple[str, RelaunchedProgram]]":
    """Record a program; yield the capture, which is deleted on exit, and the program that can repeat its launches.

    Args:
        target: ``None``, or the Python file that is run with ``program`` as its arguments. ``FILE.py::function``
            selects the launches of one function, or of one of its specialisations, named as in a capture.
        program: a command, or the arguments of the file.
        gpu: architecture or product to record for.
        jobs: parallel compiles.
        options: further options; options that recorded launches do not use are rejected.

    Raises:
        TargetError: the program launches no Triton kernel.
        KprofError: the program cannot be run, or an option does not apply to recorded launches.
    """
    from kprof.captures.reader import read
    from kprof.recording.command import RecordOptions as Recording
    from kprof.recording.command import prepare, run
    from kprof.tuning.recorded.relaunch import RelaunchedProgram

    file, function = ("", "") if target is None else _program([target])
    command = [PYTHON.get(), file, *program] if file else list(program)
    if not command:
        raise TargetError("no program is named", hint="after --: python program.py")
    check(TargetKind.CAPTURE, f"what {file or command[0]} launches", given(options))
    with tempfile.TemporaryDirectory(prefix="kprof-run-") as folder:
        output = Path(folder, "capture")
        settings = prepare(Recording(gpu, output, jobs=jobs, execute=False), command)
        log(f"kprof: running {' '.join(command)} on a simulated {settings.device.name}")
        ended = run(settings, command, stdout=2, time_limit=TIME_LIMIT)
        if ended.interrupted:
            raise KeyboardInterrupt
        launched = [kernel for kernel in read(output).kernels if kernel.launches]
        place = file or " ".join(command)
        if not launched:
            how = f" and failed with exit status {ended.status}" if ended.status else ""
            raise TargetError(f"launched no Triton kernel{how}", path=place)
        known_function(function, launched, place)
        yield f"{output}::{function}" if function else str(output), RelaunchedProgram(command, Path.cwd(), gpu)
