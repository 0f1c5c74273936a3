"""Prepare ``kprof.tune``: the search space, the executor, and the output files."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError, TargetError, near, near_hint
from kprof.inputs.assignments import listed
from kprof.options.searches import TuneOptions
from kprof.output.writing import write_output
from kprof.targets.target import TargetLike

if TYPE_CHECKING:
    from kprof.bench.document import Device
    from kprof.expressions import Expression
    from kprof.kernel_spec import Kernel
    from kprof.tuning.document import TuneReport
    from kprof.tuning.executors.dask_cluster import DaskExecutor
    from kprof.tuning.executors.local import LocalExecutor
    from kprof.tuning.formats.interface import Writer
    from kprof.tuning.problems import Problem
    from kprof.tuning.recorded.relaunch import RelaunchedProgram
    from kprof.tuning.search_result import SearchResult
    from kprof.tuning.space import Space
    from kprof.tuning.subject import SignatureSubject, TuningSubject
    from kprof.tuning.work import Judge


@dataclass(frozen=True)
class TuningRequest:
    """The kernel to search and the options of the search.

    Attributes:
        kernel: a kernel with cases, a ``@triton.jit`` function, or a capture.
        options: options for launch, search and output.
        program: the program that launches the kernel, if ``kernel`` is a capture; ``None``: the program named in the
            capture.
    """

    kernel: TargetLike
    options: TuneOptions
    program: "RelaunchedProgram | None" = None


def prepare(wanted: TuningRequest) -> "tuple[TuningSubject, Space]":
    """Return the subject (kernel and problems) and the search space.

    Raises:
        KprofError: if an option is wrong; see the called functions.
    """
    from kprof.compiler.versions import installed
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.hardware.machine import load_gpu
    from kprof.tuning import space, space_file
    from kprof.tuning.problems import problems, read_shapes
    from kprof.tuning.subject import KernelSubject, SignatureSubject

    options = wanted.options
    machine, product = load_gpu(options.one_gpu("kprof tune") or DEFAULT_GPU)
    given = space_file.read(options.space) if options.space is not None else None
    sizes = [*options.shape, *(read_shapes(options.shape_file) if options.shape_file is not None else ())]
    installed()
    kernel = _kernel(wanted, machine.name)
    found = tuple(problems(kernel, machine.name, sizes, listed(options.case or "")))
    subject: TuningSubject
    if options.signature is not None:
        grid, constants = grid_of(options.grid), options.constexpr
        subject = SignatureSubject(
            kernel,
            machine,
            product,
            found,
            options.signature,
            grid,
            constants,
            options.value,
            condition=options.condition,
        )
        known = _arguments(kernel)
    else:
        subject = KernelSubject(kernel, machine, product, found, values=options.value, condition=options.condition)
        known = kernel.knobs()
    chosen = given if given is not None else space.of_kernel(kernel)
    if given is None and known:
        # A knob that only the autotuner lists need not be named in the kernel's description.
        known |= set(chosen.names())
    chosen = space.check(chosen.fixed(options.config), known, found[0].values)
    space.check_kinds(chosen, kernel.config)
    if isinstance(subject, SignatureSubject):
        for problem in found:
            check_sizes(subject, problem)
            check_grid(subject, {*chosen.names(), *problem.values, *options.constexpr})
    return subject, space.supported(chosen, options.config)


@contextmanager
def prepared(wanted: TuningRequest, tell: Callable[[str], None]) -> "Iterator[tuple[TuningSubject, Space]]":
    """Yield the results of :func:`prepare`. The program of a recorded kernel waits at its launch inside the context.

    Args:
        wanted: the kernel to search and the options.
        tell: called with status messages.

    Raises:
        KprofError: if an option is wrong.
    """
    from kprof.targets.target import TargetKind, resolve

    if resolve(wanted.kernel).kind is not TargetKind.CAPTURE:
        yield prepare(wanted)
        return
    from kprof.hardware.machine import load_gpu
    from kprof.targets.recompile import recorded
    from kprof.tuning import space, space_file
    from kprof.tuning.recorded import choosing, knobs
    from kprof.tuning.recorded.advise import opened

    target, options = str(wanted.kernel), wanted.options
    check_recorded(options, target)
    gpu = options.one_gpu("kprof tune")
    machine, product = load_gpu(gpu) if gpu else (None, None)
    found, lost = recorded(target, [] if machine is None else [machine.name])
    if len(found) != 1:
        raise choosing.not_one([each.kernel for each in found], lost, wanted.program)
    one = opened(
        found[0],
        product,
        jobs=options.jobs,
        run=options.run,
        program=wanted.program,
        values=options.value,
        condition=options.condition,
        tell=tell,
    )
    with one as (subject, how):
        ready = subject.program.ready if subject.program is not None else None
        chosen = knobs.space_of(subject, ready)
        if options.space is not None:
            chosen = space_file.read(options.space)
        chosen = space.check(chosen.fixed(options.config), {*subject.knobs, *chosen.knobs}, {})
        space.check_kinds(chosen, subject.knobs)
        notes = (*chosen.notes, *choosing.other_launches(found[0].kernel), how)
        yield subject, space.supported(replace(chosen, notes=notes), options.config)


def check_recorded(options: TuneOptions, what: str) -> None:
    """Check that a search in a capture uses every option that was given.

    Raises:
        TargetError: if recorded launches do not use one of the options.
    """
    from kprof.targets.target import TargetKind
    from kprof.targets.usable_options import check, given

    check(TargetKind.CAPTURE, what, [name for name in given(options) if name != "config"])
    if options.scheduler is not None or options.shape_file is not None:
        raise TargetError(f"{what} is a capture: --scheduler and --shape-file are for kernels with source")


def _kernel(wanted: TuningRequest, arch: str) -> "Kernel":
    from kprof.targets.target import TargetKind, kernel_of, kind_of
    from kprof.targets.usable_options import check, given

    kernel, options = kernel_of(wanted.kernel, arch), wanted.options
    kind = kind_of(kernel)
    check(kind, kernel.name, [*given(options), *(["shape"] if options.shape_file is not None else ())])
    if kind is TargetKind.FUNCTION and options.signature is None:
        raise KprofError(
            f"{kernel.name} does not say how it is launched",
            hint="give --signature '*fp16,*fp16,*fp16' with sizes in --shape and workgroups in --grid, "
            "or add KERNEL = Kernel(...) with shapes and a launch to its file",
        )
    return kernel


def _arguments(kernel: "Kernel") -> set[str]:
    from kprof.importing.functions import unwrap
    from kprof.kernel_spec import BACKEND_OPTIONS

    function = unwrap(kernel.entry)
    return {*(function.arguments if function is not None else ()), *BACKEND_OPTIONS, "num_ctas", "maxnreg"}


def check_sizes(subject: "SignatureSubject", problem: "Problem") -> None:
    """Check that each size is an argument of the function or used by the grid.

    Raises:
        TargetError: if a size is neither.
    """
    from kprof.importing.functions import unwrap

    function = unwrap(subject.kernel.entry)
    known = {*(function.arguments if function is not None else ()), *(n for part in subject.grid for n in part.names)}
    for name in problem.values.keys() - known:
        raise TargetError(
            f"{subject.kernel.name} has no argument {name!r}, and --grid does not use it, so it cannot be a size",
            hint=near_hint(name, known, "there are"),
        )


def check_grid(subject: "SignatureSubject", known: set[str]) -> None:
    """Check before compiling that the function's workgroups can be counted.

    Raises:
        KprofError: if there is no grid, or it uses a name that is neither a knob nor a size.
    """
    if not subject.grid:
        raise KprofError(
            "the number of workgroups is unknown, so no time can be predicted",
            hint="--grid 'cdiv(M,BLOCK_M);cdiv(N,BLOCK_N)', axes separated by ;",
        )
    for part in subject.grid:
        for name in sorted(part.names - known):
            hint = near(name, known).removeprefix("; ") or f"give it: --shape {name}=..."
            raise KprofError(f"the grid uses {name}, which is neither a knob nor a size that was given", hint=hint)


def grid_of(axes: Sequence[int | str]) -> "tuple[Expression[Any], ...]":
    """Parse the grid into one expression per axis.

    Raises:
        KprofError: if an expression cannot be parsed.
    """
    from kprof.expressions import SCALARS, parse

    return tuple(parse(str(axis), "--grid", SCALARS) for axis in axes)


def judge() -> "Judge":
    """Return the judge of a search, the function that analyses each compiled configuration: the performance model."""
    from kprof.tuning.trials import predicted
    from kprof.tuning.work import Judge

    return Judge(predicted.FUNCTION, predicted.version())


def executor(by: "Judge", subject: "TuningSubject", jobs: int, scheduler: str | None) -> "LocalExecutor | DaskExecutor":
    """Return the executor: ``jobs`` processes on this machine (0: one per core), or the workers of a Dask scheduler.

    Raises:
        KprofError: if Dask is not installed, or the scheduler does not answer.
    """
    if scheduler is None:
        from kprof.tuning.executors.local import LocalExecutor

        return LocalExecutor(by, jobs or None)
    from kprof.tuning.executors.dask_cluster import DaskExecutor

    return DaskExecutor(by, scheduler, files=lambda: dict(subject.dependencies()))


ON_A_CLUSTER = 256
"""Maximum number of configurations in flight on a cluster, independent of its number of threads."""


def in_flight(options: TuneOptions) -> int:
    """Return the maximum number of configurations in flight.

    The number is the same for any ``-j`` up to :data:`kprof.tuning.search.IN_FLIGHT`, so the order of the search is the
    same, too.
    """
    from kprof.compiler.defaults import default_jobs
    from kprof.tuning.search import IN_FLIGHT

    return ON_A_CLUSTER if options.scheduler is not None else max(IN_FLIGHT, options.jobs or default_jobs())


def device(*, verify: bool) -> "Device | None":
    """Return the GPU to measure on, or ``None`` if ``verify`` is False.

    The caller does this before the search, so a missing GPU fails early.

    Raises:
        KprofError: if there is no GPU.
    """
    if not verify:
        return None
    from kprof.tuning.verify import find_device

    return find_device()


def writers(names: Sequence[str], output: str | None) -> "list[Writer]":
    """Return the requested writers.

    Raises:
        KprofError: if a format is unknown, or there is no output folder.
    """
    from kprof.tuning.formats import writer

    found = [writer(name) for name in names]
    if found and output is None:
        raise KprofError("--write needs an output folder: -o FOLDER", hint="-o DIR")
    return found


def write_formats(
    formats: "Sequence[Writer]",
    subject: "TuningSubject",
    found: "SearchResult",
    report: "TuneReport",
    options: TuneOptions,
) -> list[str]:
    """Write the files of each format below the output folder; return notes about the files.

    Raises:
        KprofError: if a format needs a key that the kernel does not have, or a file cannot be written.
    """
    from kprof.tuning.formats.interface import ProblemResult, TunedResults
    from kprof.tuning.short_list import short_list

    pairs = zip(subject.problems, found.ranked, strict=True)
    tuned = [
        ProblemResult(problem.values, [ranked[place] for place in short_list(ranked, options.short_list)])
        for problem, ranked in pairs
        if ranked
    ]
    if not formats or not tuned or options.output is None:
        return []
    results = TunedResults(
        kernel=subject.kernel.name,
        arch=subject.arch.name,
        product=subject.product,
        triton=report.triton or "",
        tuned=tuned,
        keys=options.key,
        device_name=options.device_name or "",
        device=report.measured_on or "",
    )
    notes = []
    for form in formats:
        for written in form.write(results):
            place = Path(options.output) / form.name / written.path
            place.parent.mkdir(parents=True, exist_ok=True)
            write_output(str(place), written.text)
            notes.append(f"wrote {place}")
            notes.extend(f"  {note}" for note in written.notes if f"  {note}" not in notes)
    return notes
