"""Describe, for the verdict, what a successful check did not cover."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET

from kprof.compiler import environment
from kprof.document import KernelReport
from kprof.findings import Location
from kprof.gate.baseline import Baseline, BaselineEntry, new_findings
from kprof.gate.config import WATCHED, Config, KernelEntry
from kprof.gate.rules import ALLOWED, COSTS, MARK
from kprof.gate.subject import CheckSubject
from kprof.hardware.default import DEFAULT_GPU
from kprof.hardware.machine import load as load_architecture


def coverage_gaps(
    config: Config,
    baseline: Baseline | None,
    subjects: Sequence[CheckSubject],
    kernels: Sequence[KernelReport],
    unused: int,
) -> Iterator[str]:
    """Yield phrases about what the verdict does not cover, such as architectures in the baseline without checks.

    Args:
        config: the configuration.
        baseline: the accepted state, or None.
        subjects: the checked kernels.
        kernels: the judged reports of the checked kernels.
        unused: number of unused allowances.
    """
    entries = [*config.kernel, *(program.entry() for program in config.program)]
    if not config.arch and any(not entry.arch for entry in entries):
        yield f"no arch is named, so {DEFAULT_GPU} was used"
    yield from _idle_budgets(config)
    yield from _switches_set(subjects)
    if config.fail_on == "never":
        yield 'findings do not count (fail_on = "never")'
    if baseline is not None:
        ignored = [metric for metric in WATCHED if metric not in config.watch]
        if ignored:
            yield f"{', '.join(ignored)} not compared (watch)"
        yield from _other_entries(baseline, subjects)
    yield from _unrequested_archs(entries, config, subjects)
    allowed = sum(s.finding.evidence.get(MARK) == ALLOWED for kernel in kernels for s in kernel.suppressed)
    if allowed:
        yield f"{allowed} {'is' if allowed == 1 else 'are'} worse and allowed"
    if unused:
        yield f"{unused} {'allowance is' if unused == 1 else 'allowances are'} not needed"


def ignored(compared: Iterable[tuple[CheckSubject, BaselineEntry | None]]) -> list[str]:
    """Return a phrase with the number of ignore comments that silence findings, and the number of new ones among them.

    Args:
        compared: each check with its entry in the baseline, or None without an entry.
    """
    # Count each comment once, although it silences the finding in every configuration and architecture.
    places: dict[object, bool] = {}
    unrecorded = False
    for subject, state in compared:
        silenced = [item.finding for item in subject.report.suppressed if item.reason]
        accepted = UNSET if state is None else state.ignored
        unrecorded |= state is not None and accepted is UNSET and bool(silenced)
        are_new = [False] * len(silenced) if accepted is UNSET else new_findings(silenced, accepted)
        for finding, is_new in zip(silenced, are_new, strict=True):
            place = finding.location
            key = (place.file, place.line) if isinstance(place, Location) else finding.rule
            places[key] = places.get(key, False) or is_new
    if not places:
        return []
    new = sum(places.values())
    which = "" if new == len(places) else f"{new} "
    remark = f" ({which}new in this change)" if new else ""
    if unrecorded and not new:
        remark = " (the baseline does not say which are new)"
    return [f"ignored in the source: {len(places)}{remark}"]


def _other_entries(baseline: Baseline, subjects: Sequence[CheckSubject]) -> Iterator[str]:
    """Yield a phrase about architectures and compilers in the baseline that this run did not check."""
    here = {subject.report.arch for subject in subjects}
    states = [state for specs in baseline.kernels.values() for archs in specs.values() for state in archs.items()]
    others = {arch for arch, _ in states} - here
    compilers = {compiler for arch, by_compiler in states if arch in here for compiler in by_compiler}
    compilers -= {subject.compiler for subject in subjects}
    if others or compilers:
        yield f"the baseline also has {', '.join([*sorted(others), *sorted(compilers)])}, not checked"


def _unrequested_archs(
    entries: Sequence[KernelEntry], config: Config, subjects: Sequence[CheckSubject]
) -> Iterator[str]:
    """Yield a phrase about architectures of the configuration that this run was not asked to check."""
    named = set().union(*(_names(entry.arch or config.arch or [DEFAULT_GPU]) for entry in entries))
    left = named - {subject.report.arch for subject in subjects}
    if left:
        yield f"{', '.join(sorted(left))} of the configuration not checked"


def _idle_budgets(config: Config) -> Iterator[str]:
    """Yield a phrase about budgets that limit nothing, because their kernels are not checked on their architecture."""
    entries = [*config.kernel, *(program.entry() for program in config.program)]
    checked = [_names(entry.arch or config.arch or [DEFAULT_GPU]) for entry in entries]
    idle = [name for name in config.arch_budget if not any(_names([name]) <= archs for archs in checked)]
    for entry, archs in zip(entries, checked, strict=True):
        idle += [f"{name} of {entry.target}" for name in entry.arch_budget if not _names([name]) <= archs]
    if idle:
        yield f"arch_budget limits nothing for {', '.join(idle)}, which is not checked"


def _names(archs: Sequence[str]) -> set[str]:
    return {load_architecture(name).name for name in archs}


def _switches_set(subjects: Sequence[CheckSubject]) -> Iterator[str]:
    """Yield a phrase about compiler switches of this process, which the baseline does not record."""
    here = environment.relevant({})
    # Only kernels compiled in this run count: switches do not affect other compiled code, and programs are recorded
    # again if switches change.
    compiled = [s for s in subjects if s.report.specialization is not UNSET and not s.recorded]
    names = sorted({name for s in compiled for name in here if name not in s.entry.env})
    if names:
        yield f"compiled with {', '.join(names)} from the environment"


def unknown(config: Config, baseline: Baseline | None, subjects: Sequence[CheckSubject]) -> list[str]:
    """Return a phrase about watched metrics that are unknown in the baseline and in this run, if there are any."""
    if baseline is None:
        return []
    lost: set[str] = set()
    for subject in subjects:
        state = baseline.find(subject) if subject.problem is None else ""
        if isinstance(state, BaselineEntry):
            lost |= {
                name for name, value in subject.metrics().items() if value is None and state.metrics.get(name) is None
            }
    # Cost metrics are left out, because another phrase describes which of them was compared.
    names = [metric for metric in config.watch if metric in lost and metric not in COSTS]
    return [f"not known here or in the baseline: {', '.join(names)}"] if names else []
