"""Running a Python program on the simulated GPU, to analyse what it launches."""

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
"""The Python that runs a program of which only its file is named."""

TIME_LIMIT = 3600.0
"""Seconds that a program may run, unless a limit is given."""


@contextmanager
def launches_of(
    targets: Sequence[TargetLike], arguments: Sequence[str], options: CompileOptions, time_limit: float | None = None
) -> Iterator[tuple[Sequence[TargetLike], list[KprofError]]]:
    """Run a file as ``__main__`` and record what it launches; gives the recording as the target to analyse.

    The recording is removed in the end. A file that launches nothing is given back as it is. With the target comes what
    makes it incomplete: that the program failed after some launches.

    Args:
        targets: one Python file; with ``::function`` only that function's launches are wanted.
        arguments: the program's own.
        options: what to analyse. Only ``archs``, with one GPU at most, ``all_configs`` and ``jobs`` are for programs.
        time_limit: seconds that it may run.

    Raises:
        TargetError: there is not one file, it does not launch the function, or fails before it launches anything.
        KprofError: an option that recorded launches do not use.
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
        # What it prints is no part of the analysis.
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
            log(f"kprof: {file} {how}; what it launched before is analysed")
        elif ended.status:
            problems.append(TargetError(f"{how}: what it would have launched after that is not known", path=file))
        if names:
            known_function(function, launched, file)
        if not names:
            log(f"kprof: {file} launched no Triton kernel; it is analysed as if it had not been run")
        recorded = f"{output}::{function}" if function else str(output)
        yield [recorded] if names else targets, problems


def _program(targets: Sequence[TargetLike]) -> tuple[str, str]:
    """The file to run, and the function whose launches are wanted, if one is."""
    (target, *others) = map(resolve, targets) if targets else [None]
    if target is None or others or target.kind is not TargetKind.SOURCE or target.path.suffix != ".py":
        hint = "FILE.py -- ARGS, or FILE.py::FUNCTION -- ARGS"
        raise TargetError("arguments after -- are for one Python file, which is run", hint=hint)
    if not target.path.is_file():
        raise TargetError("no such file", path=str(target.path))
    return str(target.path), target.text.partition("::")[2]


def program_command(target: TargetLike, arguments: Sequence[str]) -> tuple[list[str], str]:
    """The command that runs ``FILE.py`` or ``FILE.py::FUNCTION``, and the function, empty without one.

    Raises:
        TargetError: it is not a Python file that is there.
    """
    file, function = _program([target])
    return [sys.executable, file, *arguments], function


def known_function(function: str, launched: "Sequence[CapturedKernel]", place: str) -> None:
    """That this is the name of a function that was launched, or of one of its programs, or empty."""
    if not function or any(function in (kernel.name, kernel.id) for kernel in launched):
        return
    names = list(dict.fromkeys(kernel.name for kernel in launched))
    hint = near_hint(function, names, "it launched")
    raise TargetError(f"did not launch a Triton function {function!r}", path=place, hint=hint)


@contextmanager
def recording(
    target: TargetLike | None, program: Sequence[str], gpu: str, *, jobs: int, options: CompileOptions
) -> "Iterator[tuple[str, RelaunchedProgram]]":
    """Record a program; gives the capture, which is removed in the end, and what makes its launches again.

    Args:
        target: ``None``, or the Python file that is run with ``program`` as its arguments; with ``::function`` only
            that function's launches are wanted, or those of one of its programs, named as a capture names it.
        program: a command, or arguments.
        gpu: architecture or product to record for.
        jobs: compiles at a time.
        options: what else was asked for: nothing of it is for programs.

    Raises:
        TargetError: it launches no Triton kernel.
        KprofError: it cannot be run, or an option that recorded launches do not use.
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
