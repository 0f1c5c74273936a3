"""Compile changes in parallel workers until the budget is spent, and select the best ones."""

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kprof.compiler.versions import installed
from kprof.deadline import Deadline
from kprof.errors import KprofError, TargetError
from kprof.findings import Advice, Finding
from kprof.hardware.machine import Architecture, Product
from kprof.output.assignments import assigned
from kprof.targets.jobs import jobs_of
from kprof.targets.target import kind_of
from kprof.targets.usable_options import check, given
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.trials.analysed import Asked, analysed_each, analysed_start
from kprof.tuning.trials.changes import SWITCHES, neighbours
from kprof.tuning.trials.climb import climb
from kprof.tuning.trials.trial import Trials

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel
    from kprof.options.groups import CompileOptions

Progress = Callable[[int, str], None]

# After spills are gone, the search ends when this number of further compiles brought none of the best trials. The
# smallest changes are tried first, and the remaining ones would use ever smaller tiles.
_PATIENCE = 12


def advise(
    kernel: "Kernel",
    machine: Architecture,
    options: "CompileOptions",
    *,
    product: Product | None = None,
    budget: float = 60.0,
    progress: Progress | None = None,
) -> Trials:
    """Search for better knobs around a kernel's configuration.

    Every configuration is compiled and the time of all its launches is predicted; the search climbs from the fastest
    one so far. If the model has no time for the kernel, resources and the hot loop's instructions are compared instead,
    and the result says so.

    Args:
        kernel: a kernel with cases.
        machine: architecture.
        options: case, shape and starting knobs.
        product: the GPU; ``None``: the architecture's first product.
        budget: seconds after which no further compile starts.
        progress: called with the number of finished compiles and a status text.

    Raises:
        TargetError: if the kernel has no cases, or does not use one of the options.
        KprofError: if its present configuration does not compile.
    """
    check(kind_of(kernel), kernel.name, given(options))
    if not kernel.shapes:
        raise TargetError(
            f"{kernel.name} has no cases, so that no launch can be derived for other tile sizes",
            hint="Add a KERNEL with shapes and a launch to its file; kprof tune FILE.py::FUNCTION with --signature, "
            "--shape and --grid takes the grid as an expression.",
        )
    deadline = Deadline(budget)
    (job,) = jobs_of(kernel, machine, options, product)
    gpu = machine.name if product is None else product.name
    config = {**kernel.configure(gpu, options.config, job.problem), **options.env}
    start = analysed_start(job, config, use_cache=options.use_cache)
    product = product or next(iter(machine.products.values()), None)
    if product is None or product.compute_units is None:
        why = f"no GPU with {machine.name} has a known number of CUs"
    else:
        found = climb(
            kernel, machine, options, start,
            product=product, problem=job.problem, deadline=deadline, progress=progress,
        )  # fmt: skip
        if isinstance(found, Trials):
            return found
        why = found
    return _by_resources(kernel, machine, options, start, job.problem, why=why, deadline=deadline, progress=progress)


def _by_resources(
    kernel: "Kernel",
    machine: Architecture,
    options: "CompileOptions",
    start: Evaluation,
    problem: Mapping[str, Any],
    *,
    why: str,
    deadline: Deadline,
    progress: Progress | None,
) -> Trials:
    """Try changes of single knobs first, then of pairs, and compare them by resources.

    A search that has removed all spills ends when there is no further improvement.
    """
    assert start.report is not None
    rules = {finding.rule for finding in start.report.findings}
    found: list[Evaluation] = []
    version = installed().numbers
    waiting = list(neighbours(kernel, problem, start.config, machine, rules, version=version))
    total, settled = len(waiting), False
    with closing(compile_changes(kernel, machine, options, start.config, waiting, deadline=deadline)) as compiled:
        for trial in compiled:
            found.append(trial)
            if progress is not None:
                progress(len(found), assigned(trial.change, ", "))
            settled = _has_settled(start, found) and len(found) < total
            if settled:
                break
    best = _best(start, found)
    good = [trial for trial in found if trial.measure is not None and trial.measure.launchable]
    return Trials(
        start=start,
        best=best,
        dominated=_dominated(start, best, found),
        tried=len(found),
        why=why,
        failed=Counter(trial.error or "" for trial in found if trial.measure is None),
        left=total - len(found),
        settled=settled,
        seconds=deadline.spent,
        all=tuple(sorted(good, key=lambda trial: trial.measure.rank() if trial.measure is not None else ())),
    )


def _has_settled(start: Evaluation, found: Sequence[Evaluation]) -> bool:
    """Whether spills are gone and the latest compiles are not among the best."""
    if start.measure is None or not start.measure.scratch:
        return False
    best = _best(start, found)
    if not best or best[0].measure is None or best[0].measure.scratch:
        return False
    latest = {id(trial) for trial in found[-_PATIENCE:]}
    return len(found) > _PATIENCE and not any(id(trial) in latest for trial in best)


def compile_changes(
    kernel: "Kernel",
    machine: Architecture,
    options: "CompileOptions",
    config: Mapping[str, Any],
    changes: Collection[Mapping[str, Any]],
    *,
    deadline: Deadline,
    switches: Collection[str] = SWITCHES,
    timed: bool = False,
    in_order: bool = False,
    product: Product | None = None,
) -> Generator[Evaluation, None, None]:
    """Compile a configuration with each of several changes; yield trials as they finish.

    A change that the kernel or the architecture does not support is skipped.

    Args:
        kernel: the kernel.
        machine: architecture.
        options: case and shape, or signature.
        config: all present knobs and switches.
        changes: new values by knob or switch.
        deadline: time after which no further compile starts.
        switches: names that are environment switches.
        timed: True to add predicted times.
        in_order: True to yield trials in the order of the changes; by default they are yielded as they finish.
        product: the GPU that times are predicted for; by default the architecture's first one.

    Raises:
        KprofError: if no usable Triton is installed.
    """

    def asked() -> Iterator[Asked]:
        for change in changes:
            changed = {**config, **change}
            knobs = {name: value for name, value in changed.items() if name not in switches}
            environment = {name: str(value) for name, value in changed.items() if name in switches}
            own = replace(options, config=knobs, env={**options.env, **environment}, all_configs=False)
            try:
                (job,) = jobs_of(kernel, machine, own, product)
            except KprofError:
                continue
            yield change, changed, replace(job, product=product)

    return analysed_each(
        asked(), deadline=deadline, workers=options.jobs, use_cache=options.use_cache, timed=timed, in_order=in_order
    )


def _best(start: Evaluation, found: Collection[Evaluation]) -> tuple[Evaluation, ...]:
    """Return the trials that are better than the start and not dominated, best first."""
    assert start.measure is not None
    measured = [(t, t.measure) for t in found if t.measure is not None and t.measure.launchable]
    better = [(t, m) for t, m in measured if m.rank() < start.measure.rank()]
    front = [(t, m) for t, m in better if not any(other.dominates(m) for _, other in better)]
    unique: dict[tuple[object, ...], Evaluation] = {}
    for trial, figures in sorted(front, key=lambda pair: (pair[1].rank(), len(pair[0].change))):
        # Of changes that lead to the same code, only the one with the fewest knobs is kept.
        unique.setdefault((figures.rank(), figures.vgprs, figures.lds_bytes, figures.instructions), trial)
    return tuple(unique.values())


def _dominated(
    start: Evaluation, best: Collection[Evaluation], found: Collection[Evaluation]
) -> tuple[Evaluation, ...]:
    """Return the trials that are better than the start and free of spill traffic, but not among the best."""
    assert start.measure is not None
    chosen = {id(trial) for trial in best}
    others = [
        (trial, trial.measure)
        for trial in found
        if id(trial) not in chosen and trial.measure is not None and trial.measure.launchable
    ]
    good = [(t, m) for t, m in others if not m.scratch and m.rank() < start.measure.rank()]
    return tuple(trial for trial, _ in sorted(good, key=lambda pair: (pair[1].rank(), len(pair[0].change))))


def advised(trials: Trials) -> list[Finding]:
    """Return the findings of the starting configuration, each with the best change that removes it.

    Only compiled and analysed changes become advice, and only those of the best trials.
    """
    assert trials.start.report is not None
    assert trials.start.measure is not None
    return [_with_advice(finding, trials) for finding in trials.start.report.findings]


def _with_advice(finding: Finding, trials: Trials) -> Finding:
    import msgspec

    before = trials.start.measure
    for trial in trials.best:
        if trial.report is None or trial.measure is None or before is None:
            continue
        if finding.rule in {other.rule for other in trial.report.findings}:
            continue
        verified = {
            "vgpr_spills": (before.vgpr_spills, trial.measure.vgpr_spills),
            "scratch": (before.scratch, trial.measure.scratch),
            "waves_per_simd": (before.waves, trial.measure.waves),
        }
        advice = [
            Advice(
                knob=name,
                from_=trials.start.config.get(name),
                to=value,
                verified=verified,
                note=_note(trials.start, trial),
            )
            for name, value in trial.change.items()
        ]
        return msgspec.structs.replace(finding, advice=advice)
    return msgspec.structs.replace(finding, advice=[])


def _note(start: Evaluation, trial: Evaluation) -> str:
    if start.cost is None or trial.cost is None:
        return "which configuration is faster was not measured"
    unit = "µs" if start.time_us is not None else f"cycles per element of {start.axis}"
    return f"predicted {start.cost:.4g} {unit} before, {trial.cost:.4g} {unit} after; not measured"
