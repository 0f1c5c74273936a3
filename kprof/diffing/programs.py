"""Record a program under each of several Tritons, so that no Triton reads what another one wrote."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET

from kprof.compiler.locations import TritonLocation, install, locate
from kprof.errors import KprofError, TargetError

if TYPE_CHECKING:
    from kprof.captures.model import CapturedKernel
    from kprof.compiler.installations import Environment
    from kprof.diffing.comparing import Input
    from kprof.document import KernelReport
    from kprof.options.groups import CompileOptions

Tell = Callable[[str], None]


@dataclass(frozen=True)
class RecordedEntry:
    """The captured kernel from which an entry of a recorded side was made, so that its compile can be repeated.

    Attributes:
        target: the kernel in its capture, ``DIR::ID``.
        grid: grid of its launch; ``None`` for a kernel that was only compiled.
        listed: the configuration used in place of its autotuner's choice; ``None`` without an autotuner.
    """

    target: str
    grid: tuple[int, ...] | None = None
    listed: str | None = None


@dataclass(frozen=True)
class RecordedSide:
    """One recorded side of a comparison.

    Attributes:
        side: the side's reports, one for each kernel and grid.
        entries: captured kernel of each report, by identity (``id``) of the report.
        environment: as in :class:`TritonLocation`.
    """

    side: "Input"
    entries: Mapping[int, RecordedEntry]
    environment: "Environment | None"


def recorded_sides(
    command: Sequence[str],
    tritons: Sequence[str],
    packages: Sequence[str],
    options: "CompileOptions",
    folder: Path,
    *,
    function: str = "",
    explained: bool = False,
    tell: Tell,
    wait: Tell,
) -> list[RecordedSide]:
    """Record the program under each Triton and analyse its launches.

    Args:
        command: the program and its arguments.
        tritons: releases, interpreters or wheels, old to new.
        packages: additional requirements to install into each environment.
        options: ``archs``, with one GPU at most, ``all_configs``, ``jobs`` and ``use_cache``.
        folder: folder for the captures, and for environments made only for them.
        function: name of the only function whose launches are compared; empty for all.
        explained: whether each side must be recompilable, because regressions will be explained.
        tell: called with a description of each step.
        wait: called with a description of each download or wait.

    Raises:
        TargetError: more than one GPU is named, or ``explained`` is set and this Python cannot import one of the
            Tritons.
        KprofError: an environment cannot be made, or the program launches nothing under one of them.
    """
    if len(options.arch) > 1:
        raise TargetError("a program is run for one GPU at a time", hint="Name one with --arch.")
    places = _places(tritons, packages, folder, wait)
    foreign = [place.label for place in places if place.environment is None]
    if explained and foreign:
        raise TargetError(
            f"--explain compiles with each Triton, and this Python cannot import that of {' and '.join(foreign)}",
            hint="Name an interpreter of this version of Python, a release, or leave --explain out.",
        )
    sides = [
        _side(command, place, options, folder / f"side-{n}", tell, function=function) for n, place in enumerate(places)
    ]
    if function and not any(found.side.kernels or found.side.lost for found in sides):
        raise TargetError(f"launches no Triton function {function!r} under any of them", path=command[1])
    return sides


def _places(tritons: Sequence[str], packages: Sequence[str], folder: Path, wait: Tell) -> list[TritonLocation]:
    extra: tuple[Path, ...] = ()
    if packages:
        extra = (folder / "with",)
        install(packages, extra[0], wait)
    found = [locate(name, folder / f"triton-{number}", wait) for number, name in enumerate(tritons)]
    return [replace(place, folders=(*place.folders, *extra)) for place in found]


def _side(
    command: Sequence[str], place: TritonLocation, options: "CompileOptions", output: Path, tell: Tell, *, function: str
) -> RecordedSide:
    from kprof.captures.model import unrun_words
    from kprof.captures.reader import kernels_by_grid, read
    from kprof.diffing.comparing import Input
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.recording.command import RecordOptions as Recording
    from kprof.recording.command import prepare, run

    tell(f"{place.label}: running {command[0]}")
    arch = options.arch[0] if options.arch else DEFAULT_GPU
    settings = prepare(Recording(arch, output, jobs=options.jobs, use_cache=options.use_cache, execute=False), command)
    ended = run(settings, place.command(command), stdout=2, variables=place.variables)
    if ended.interrupted:
        raise KeyboardInterrupt
    capture = read(output)
    problems = [f"the program failed with exit status {ended.status}"] if ended.status else []
    unrun = unrun_words(capture.unrun)
    problems += [unrun] if unrun is not None else []
    kernels: list[KernelReport] = []
    entries: dict[int, RecordedEntry] = {}
    lost = {}
    launched = [kernel for kernel in kernels_by_grid(output) if kernel.launches or options.all_configs]
    for kernel in launched:
        if function not in ("", kernel.name, kernel.id):
            continue
        try:
            entry = _entry(kernel, options)
        except KprofError as error:
            lost[kernel.name, kernel.arch] = error.message
            problems.append(f"{kernel.name}: {error.message}")
            continue
        kernels.append(entry)
        listed = entry.autotuned.config if entry.autotuned is not UNSET else None
        entries[id(entry)] = RecordedEntry(f"{output}::{kernel.id}", next(iter(kernel.grids), None), listed)
    if not launched:
        how = f", it failed with exit status {ended.status}" if ended.status else ""
        raise TargetError(f"the program launched no Triton kernel under {place.label}{how}", path=command[0])
    problems = list(dict.fromkeys(problems))
    return RecordedSide(Input(place.label, kernels, problems, lost), entries, place.environment)


def _entry(kernel: "CapturedKernel", options: "CompileOptions") -> "KernelReport":
    """Return the report of one launch, with its predicted time."""
    from kprof.condition import CONDITIONS
    from kprof.targets.captured import loaded
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

    read = replace(loaded(kernel), condition=CONDITIONS[options.condition])
    return with_time(analyze(read), read)
