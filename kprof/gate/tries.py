"""Compile a failing kernel with other knobs, which are chosen depending on the kind of check."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kprof.deadline import Deadline
from kprof.document import KernelReport
from kprof.errors import KprofError, TargetError
from kprof.gate.subject import CheckSubject
from kprof.gate.subjects import located

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel
    from kprof.options.groups import CompileOptions
    from kprof.targets.recompile import RecompilableKernel
    from kprof.tuning.evaluation import Evaluation
    from kprof.tuning.trials.analysed import Asked

Found = tuple[Mapping[str, Any], KernelReport]


@dataclass
class Tries:
    """Compiled changes of a kernel's knobs, produced on demand.

    Attributes:
        found: pairs of a change and the kernel's report with the change, the best or the smallest change first.
        tried: number of changes compiled so far.
        left: number of changes not compiled yet.
        files: files that may contain the lines that set the knobs.
        how: which changes a recorded kernel allows, in words; set when the first change is tried.
        last_us: predicted time of the latest change in ``found``, in microseconds; ``None`` if not known.
        start_us: function that returns the predicted time of the failing kernel in microseconds, or ``None`` if not
            known.
    """

    found: Iterable[Found] = ()
    tried: int = 0
    left: int = 0
    files: Sequence[Path] = ()
    how: str = ""
    last_us: float | None = None
    start_us: Callable[[], float | None] = lambda: None

    def close(self) -> None:
        """Stop the search: end its compiles and programs."""
        if isinstance(self.found, Generator):
            self.found.close()


def tries(subject: CheckSubject, folder: Path, deadline: Deadline, jobs: int = 0) -> Tries:
    """Compile other knobs for a check's kernel.

    A kernel with cases is searched by predicted time. For a kernel with a signature, tiles and compiler options are
    changed, beginning with the smallest change. The same applies to a recorded kernel if its program is available and
    can repeat the launch. For other recorded kernels, only compiler options can change, because the recorded TTIR
    contains the tiles.

    Args:
        subject: the failing kernel.
        folder: the configuration's folder.
        deadline: no compile is started after it.
        jobs: number of worker processes, 0 for one per core.

    Raises:
        KprofError: nothing can be compiled, or the kernel cannot be found again.
    """
    if subject.recorded:
        return _try_recorded(subject, deadline, jobs)
    from kprof.options.groups import CompileOptions
    from kprof.targets.target import kernel_of

    entry = subject.entry
    if Path(entry.target.partition("::")[0]).suffix not in {"", ".py"}:
        raise TargetError("the kernel is already compiled")
    spec = kernel_of(located(entry.target, folder), _gpu(subject))
    options = CompileOptions(
        config=_configuration(subject, spec),
        shape=[entry.shape],
        case=subject.case,
        signature=entry.signature,
        constexpr=entry.constexpr,
        grid=entry.grid,
        env=entry.env,
        jobs=jobs,
    )
    if entry.signature is None:
        return _search_by_time(subject, spec, options, deadline)
    return _changed(subject, spec, options, deadline)


def _configuration(subject: CheckSubject, spec: "Kernel") -> dict[str, Any]:
    """Return the knobs that the entry sets; if it has several configurations, those of the check's configuration."""
    from kprof.importing.functions import unwrap

    entry = subject.entry
    if not entry.all_configs:
        return dict(entry.config)
    function = unwrap(spec.entry) if entry.signature is not None else None
    known = subject.knobs
    for config in spec.configs if function is None else function.configs:
        whole = {**config, **entry.config}
        if all(known.get(name) == value for name, value in whole.items()):
            return whole
    raise TargetError("the kernel no longer lists its configuration")


def _search_by_time(subject: CheckSubject, spec: "Kernel", options: "CompileOptions", deadline: Deadline) -> Tries:
    from kprof.hardware.machine import load_gpu
    from kprof.targets.jobs import jobs_of
    from kprof.tuning.trials import advise, reported

    machine, product = load_gpu(_gpu(subject))
    trials = advise(spec, machine, options, product=product, budget=deadline.left)
    (job,) = jobs_of(spec, machine, options, product)
    made = Tries((), trials.tried, trials.left, start_us=lambda: trials.start.time_us)

    def found() -> Iterator[Found]:
        for trial in reported(spec, machine, options, job.problem, trials):
            if trial.report is not None:
                made.last_us = trial.time_us
                yield trial.change, trial.report

    made.found = found()
    return made


def _changed(subject: CheckSubject, spec: "Kernel", options: "CompileOptions", deadline: Deadline) -> Tries:
    from kprof.compiler.versions import installed
    from kprof.hardware.machine import load
    from kprof.tuning.trials.changes import neighbours
    from kprof.tuning.trials.search import compile_changes

    machine = load(subject.report.arch)
    chosen = {**options.constexpr, **options.config}
    known = {name: value for name, value in subject.knobs.items() if name in {"num_warps", "num_stages"}}
    waiting = list(neighbours(spec, {}, {**known, **chosen}, machine, _rules(subject), version=installed().numbers))
    made = Tries(left=len(waiting))
    # Pass constexprs as knobs, which vary. If they were also passed as constexprs, they would stay fixed.
    own = replace(options, constexpr={})
    made.found = _count_trials(
        compile_changes(spec, machine, own, chosen, waiting, deadline=deadline, in_order=True), made
    )
    return made


def _try_recorded(subject: CheckSubject, deadline: Deadline, workers: int) -> Tries:
    from kprof.captures.reader import read
    from kprof.targets.recompile import recorded

    (each,), _ = recorded(subject.recorded, all_configs=True)
    capture = read(subject.recorded.partition("::")[0])
    made = Tries(files=[capture.root / name for name in capture.sources or () if _is_python(name)])
    made.found = _launched_again(each, made, _rules(subject), deadline, workers)
    return made


def _launched_again(
    each: "RecompilableKernel", made: Tries, rules: set[str], deadline: Deadline, workers: int
) -> Iterator[Found]:
    """Yield changes of compiler options, and of tiles if the program can launch the kernel with them."""
    from kprof.tuning.recorded.advise import opened
    from kprof.tuning.recorded.knobs import changes_of
    from kprof.tuning.trials.analysed import analysed_each

    with opened(each, None, jobs=workers) as (own, how):
        ready = own.program.ready if own.program is not None else None
        made.how = how
        waiting = list(changes_of(own, ready, rules)(own.knobs))
        made.left = len(waiting)

        def asked() -> "Iterator[Asked]":
            for change in waiting:
                config = {**own.knobs, **change}
                try:
                    (job,) = own.jobs(own.problems[0], config)
                except KprofError:
                    # The program cannot launch the kernel with this change, so it is skipped without a compile.
                    made.tried, made.left = made.tried + 1, made.left - 1
                    continue
                yield change, config, replace(job, product=each.kernel.product)

        yield from _count_trials(analysed_each(asked(), deadline=deadline, workers=workers, in_order=True), made)


def _count_trials(trials: "Generator[Evaluation, None, None]", made: Tries) -> Iterator[Found]:
    """Yield each change that compiles, in order, until the caller stops."""
    with closing(trials):
        for trial in trials:
            made.tried, made.left = made.tried + 1, made.left - 1
            if trial.report is not None:
                yield trial.change, trial.report


def _is_python(name: str) -> bool:
    return name.endswith(".py")


def _rules(subject: CheckSubject) -> set[str]:
    return {finding.rule for finding in subject.report.findings}


def _gpu(subject: CheckSubject) -> str:
    product = subject.report.product
    return subject.report.arch if product is UNSET else product
