"""A program under several Tritons: recorded again under each, so that nothing has to read what another one wrote."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.errors import CompileError, KprofError, TargetError

if TYPE_CHECKING:
    from kprof.diffing.comparing import Input
    from kprof.options.groups import CompileOptions

Tell = Callable[[str], None]
_PYTHON = ("python", "python3")


@dataclass(frozen=True)
class TritonLocation:
    """Where a program finds one Triton.

    Attributes:
        label: what the side is called.
        folders: folders in front of the program's module path.
        interpreter: the Python that runs it instead of the named one; ``None`` for that.
    """

    label: str
    folders: tuple[Path, ...] = ()
    interpreter: Path | None = None


def is_path(name: str) -> bool:
    """Whether a Triton is named by an interpreter or a wheel, not by its release."""
    return os.sep in name or name.endswith(".whl")


def recorded_sides(
    command: Sequence[str],
    tritons: Sequence[str],
    packages: Sequence[str],
    options: "CompileOptions",
    folder: Path,
    *,
    function: str = "",
    tell: Tell,
    wait: Tell,
) -> "list[Input]":
    """Record the program under each Triton and analyse what it launched.

    Args:
        command: the program and its arguments.
        tritons: releases, interpreters or wheels, old to new.
        packages: requirements that each environment gets besides.
        options: ``archs``, with one GPU at most, ``all_configs``, ``jobs`` and ``use_cache``.
        folder: gets the captures, and environments made for them alone.
        function: the only one whose launches are compared; empty: all are.
        tell: called with each step, in words.
        wait: called with what is downloaded or waited for, in words.

    Raises:
        TargetError: more than one GPU is named.
        KprofError: an environment cannot be made, or the program launches nothing under one of them.
    """
    if len(options.arch) > 1:
        raise TargetError("a program is run for one GPU at a time", hint="Name one with --arch.")
    places = _places(tritons, packages, folder, wait)
    sides = [
        _side(command, place, options, folder / f"side-{n}", tell, function=function) for n, place in enumerate(places)
    ]
    if function and not any(side.kernels or side.lost for side in sides):
        raise TargetError(f"launches no Triton function {function!r} under any of them", path=command[1])
    return sides


def _places(tritons: Sequence[str], packages: Sequence[str], folder: Path, wait: Tell) -> list[TritonLocation]:
    from kprof.compiler.installations import provide

    extra: tuple[Path, ...] = ()
    if packages:
        extra = (folder / "with",)
        _install(packages, extra[0], wait)
    found = []
    for number, name in enumerate(tritons):
        if name.endswith(".whl"):
            site = folder / f"triton-{number}"
            if not Path(name).is_file():
                raise CompileError("no such wheel", path=name)
            _install([str(Path(name).absolute())], site, wait)
            found.append(TritonLocation(Path(name).name.split("-cp")[0], (site, *extra)))
        elif is_path(name):
            if not os.access(name, os.X_OK) or Path(name).is_dir():
                raise CompileError("no such interpreter", path=name)
            # A virtual environment is known by its link: what it points to is another one.
            found.append(TritonLocation(name, extra, Path(name).absolute()))
        else:
            environment = provide(name, tell=wait)
            own = (environment.folder,) if environment.folder is not None else ()
            found.append(TritonLocation(f"Triton {name}", (*own, *extra)))
    return found


def _install(packages: Sequence[str], folder: Path, wait: Tell) -> None:
    from kprof.compiler.installers import find_installer

    installer = find_installer()
    for package in packages:
        wait(f"getting {package} with {installer.name}")
        installer.install(package, folder)


def _side(
    command: Sequence[str], place: TritonLocation, options: "CompileOptions", output: Path, tell: Tell, *, function: str
) -> "Input":
    from kprof.captures.model import unrun_words
    from kprof.captures.reader import read
    from kprof.diffing.comparing import Input
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.recording.command import RecordOptions as Recording
    from kprof.recording.command import prepare, run
    from kprof.targets.captured import loaded
    from kprof_analyzers.pipeline import analyze

    tell(f"{place.label}: running {command[0]}")
    arch = options.arch[0] if options.arch else DEFAULT_GPU
    settings = prepare(Recording(arch, output, jobs=options.jobs, use_cache=options.use_cache, execute=False), command)
    ended = run(settings, _command(command, place), stdout=2, variables=_variables(place))
    if ended.interrupted:
        raise KeyboardInterrupt
    capture = read(output)
    problems = [f"the program failed with exit status {ended.status}"] if ended.status else []
    unrun = unrun_words(capture.unrun)
    problems += [unrun] if unrun is not None else []
    kernels, lost = [], {}
    launched = [kernel for kernel in capture.kernels if kernel.launches or options.all_configs]
    for kernel in launched:
        if function not in ("", kernel.name, kernel.id):
            continue
        try:
            kernels.append(analyze(loaded(kernel)))
        except KprofError as error:
            lost[kernel.name, kernel.arch] = error.message
            problems.append(f"{kernel.name}: {error.message}")
    if not launched:
        how = f", it failed with exit status {ended.status}" if ended.status else ""
        raise TargetError(f"the program launched no Triton kernel under {place.label}{how}", path=command[0])
    return Input(place.label, kernels, problems, lost)


def _command(command: Sequence[str], place: TritonLocation) -> list[str]:
    """The program with the Python that it is to run with."""
    first = Path(command[0])
    is_python = first.name in _PYTHON or (shutil.which(command[0]) or "") == sys.executable
    if place.interpreter is not None:
        if is_python:
            return [str(place.interpreter), *command[1:]]
        if first.suffix != ".py":
            raise TargetError(
                "with an interpreter for each side the program is Python: -- python program.py", path=command[0]
            )
        return [str(place.interpreter), *command]
    if first.suffix == ".py":
        return [sys.executable, *command]
    # A bare name means this Python: folders of modules belong to one version of it.
    return [sys.executable, *command[1:]] if command[0] in _PYTHON else list(command)


def _variables(place: TritonLocation) -> Mapping[str, str]:
    path = [*map(str, place.folders), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
