"""Analyse a loaded kernel: derive its facts, run the analyzers and the model, and build its report."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace as replace_facts
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kprof.analysis import Analyzer, AnalyzerResult, KernelFacts, ModelChange, asked, discover
from kprof.document import KernelReport, Prediction
from kprof.findings import Coverage, Finding, Gain, Location, Severity, Suppressed, by_cost
from kprof.targets.loaded import LoadedKernel
from kprof_analyzers.autotuned import in_chosen_configuration, with_choice
from kprof_analyzers.causes import group
from kprof_analyzers.kernel_facts import facts_as_loaded, not_modelled
from kprof_analyzers.registers.pressure import peaks
from kprof_analyzers.rules import launch_rules
from kprof_analyzers.source_lines import disagreement
from kprof_analyzers.suppressions import apply

if TYPE_CHECKING:
    pass


def analyze(loaded: LoadedKernel, analyzers: Sequence[Analyzer] | None = None, *, model: bool = False) -> KernelReport:
    """Return the report of one kernel.

    Args:
        loaded: a compiled kernel from any target.
        analyzers: analyzers to run; ``None`` runs all installed analyzers.
        model: whether to run the performance model.
    """
    loaded = in_chosen_configuration(loaded)
    facts, notes = facts_of(loaded)
    all_of_them = tuple(discover() if analyzers is None else analyzers)
    asked_last = [a for a in all_of_them if getattr(a, "last_resort", False)]
    found = [asked(analyzer, facts) for analyzer in all_of_them if analyzer not in asked_last]
    findings = [finding for analysis in found for finding in analysis.findings]
    prediction, costs, cost_of = (None, {}, None) if not model else _modelled(facts, found, notes)
    if prediction is None:
        notes.extend(f"assumed: {said}" for said in loaded.assumed)
    else:
        prediction = replace(prediction, assumptions=[*loaded.assumed, *prediction.assumptions])
    last = [asked(analyzer, replace_facts(facts, prediction=prediction)) for analyzer in asked_last]
    if not any(_is_considerable(finding, costs.get(id(finding))) for finding in findings):
        findings += [finding for analysis in last for finding in analysis.findings]
    found += last
    notes.extend(dict.fromkeys(note for analysis in found for note in analysis.notes))
    kept, silenced = apply(findings, loaded.program)
    kept.sort(key=lambda finding: _order(finding, costs.get(id(finding))))
    effects = {id(f): change for a in found for f, change in zip(a.findings, a.changes, strict=False)}
    if _hardly_longer_than_empty(prediction, facts):
        kept = [finding for finding in kept if not _is_of_idle_units(effects.get(id(finding)))]
    changes = [effects.get(id(finding)) for finding in kept]
    if prediction is not None and prediction.time_us is not None:
        kept = [replace(finding, gain=costs.get(id(finding))) for finding in kept]
    document = _kernel_report(loaded, facts, kept, silenced, notes)
    report = replace(
        document,
        rules=_coverage(found),
        model=UNSET if prediction is None else prediction,
        causes=group(kept, changes, cost_of, launch_rules()),
    )
    return with_choice(report, loaded.choice)


def _is_considerable(finding: Finding, cost: Gain | None) -> bool:
    """Return whether a finding explains at least a tenth of the time; with unknown cost, whether it is not a note."""
    return finding.severity is not Severity.NOTE if cost is None else cost.share >= _GOOD_PART


def _modelled(
    facts: KernelFacts, found: Sequence[AnalyzerResult], notes: list[str]
) -> tuple[Prediction | None, dict[int, Gain], Callable[[ModelChange], Gain | None] | None]:
    """Return the prediction, the gain of each finding by ``id``, and a function that computes the cost of any effect.

    Without a prediction, a note with the reason is added to ``notes``. If the iterations of a loop are unknown, the
    costs are based on a guess and only useful to sort findings.
    """
    from kprof_analyzers.model.gains import cost_of, costs_of
    from kprof_analyzers.model.kernel import build
    from kprof_analyzers.model.occupancy_gain import explained, without_guesses

    reason = not_modelled(facts)
    if reason is not None:
        notes.append(f"the time is not modelled: {reason}")
        return None, {}, None
    try:
        model = build(facts)
        prediction = explained(facts, model)
        if not _knows_size(facts):
            prediction = replace(
                prediction,
                time_us=None,
                low_us=None,
                high_us=None,
                speed_of_light_percent=None,
                occupancy_worth=UNSET,
                events_us=None,
            )
        changes = [(f, change) for a in found for f, change in zip(a.findings, a.changes, strict=False)]
        costs = costs_of(model, prediction, changes)
        cost = partial(cost_of, model, prediction) if prediction.time_us is not None else None
        return without_guesses(prediction), costs, cost
    except Exception as error:  # noqa: BLE001 - a failing prediction must not hide the rest of the report
        notes.append(f"the time is not modelled: {type(error).__name__}: {error}")
        return None, {}, None


def _hardly_longer_than_empty(prediction: Prediction | None, facts: KernelFacts) -> bool:
    """Return whether an empty launch takes at least half of the kernel's predicted time."""
    product = facts.product or next(iter(facts.arch.products.values()), None)
    if prediction is None or prediction.time_us is None or product is None:
        return False
    return prediction.time_us <= _EMPTY * (product.launch_overhead_ns or 0.0) / 1e3


def _is_of_idle_units(change: ModelChange | None) -> bool:
    """Return whether a finding's change to the model removes the effect of idle CUs."""
    return change is not None and change.idle_share is not None


_EMPTY = 2.0
"""A launch that takes at most this multiple of an empty launch's time would gain nothing from more CUs."""

_GOOD_PART = 0.1
"""A finding explains what limits a kernel if its cost is at least this share of the time."""


def facts_of(loaded: LoadedKernel) -> tuple[KernelFacts, list[str]]:
    """Return the facts of a kernel in its autotuner's chosen configuration, and notes on what is unknown."""
    return facts_as_loaded(in_chosen_configuration(loaded))


def _knows_size(facts: KernelFacts) -> bool:
    """Return whether the GPU's number of CUs is known; otherwise the model assumes the architecture's first product."""
    product = facts.product or next(iter(facts.arch.products.values()), None)
    return product is not None and product.compute_units is not None


def _kernel_report(
    loaded: LoadedKernel,
    facts: KernelFacts,
    findings: list[Finding],
    silenced: list[Suppressed],
    notes: list[str],
) -> KernelReport:
    instructions = Counter(i.opcode.name for i in loaded.program.instructions)
    return KernelReport(
        name=loaded.name,
        arch=loaded.arch.name,
        product=loaded.product.name if loaded.product is not None else UNSET,
        source=loaded.source or UNSET,
        triton=loaded.triton or UNSET,
        compiler=loaded.compiler or UNSET,
        specialization=loaded.specialization,
        launch=_launch(loaded),
        job=loaded.job or UNSET,
        resources=facts.resources,
        occupancy=facts.occupancy,
        loops=list(facts.loops),
        instructions=dict(instructions.most_common()),
        pressure=peaks(loaded.program, facts.occupancy),
        findings=findings,
        suppressed=silenced,
        notes=notes,
        compile_seconds=UNSET if loaded.compile_seconds is None else loaded.compile_seconds,
        cached=UNSET if loaded.cached is None else loaded.cached,
        passes=UNSET if facts.passes is None else list(facts.passes),
        coverage=round(loaded.program.coverage, 6) if instructions else None,
        file=loaded.file or UNSET,
        unseen=_not_analysed_reason(loaded) or UNSET,
        unrecorded=loaded.unrecorded or UNSET,
    )


def _launch(loaded: LoadedKernel) -> dict[str, Any] | UnsetType:
    if loaded.grid is None:
        return UNSET
    problem = {n: v for n, v in loaded.problem.items() if isinstance(v, bool | int | float | str)}
    return {"grid": list(loaded.grid), **({"problem": problem} if problem else {})}


def _not_analysed_reason(loaded: LoadedKernel) -> str | None:
    """Return which part of a kernel's code was not analysed and why, or ``None`` if all was analysed."""
    instructions = loaded.program.instructions
    if not instructions:
        return f"its instructions were not seen: {loaded.unseen or 'the listing has none'}"
    if loaded.unseen is not None:
        return f"only a part of its instructions was seen: {loaded.unseen}"
    unknown = sum(not instruction.opcode.known for instruction in instructions)
    if unknown:
        return f"{unknown:,} of its {len(instructions):,} instructions could not be decoded"
    return None if loaded.ttgir is None else disagreement(instructions, loaded.ttgir.operations)


def _coverage(found: Sequence[AnalyzerResult]) -> Coverage:
    return Coverage(
        checked=sorted(rule for analysis in found for rule in analysis.checked),
        not_checked=[each for analysis in found for each in analysis.not_checked],
        does_not_apply=[each for analysis in found for each in analysis.does_not_apply],
        failed=[each for analysis in found for each in analysis.failed],
    )


def _order(finding: Finding, cost: Gain | None = None) -> tuple[bool, int, float, int, str, str, int]:
    """Return a sort key: findings because of which the launch fails come first, then cost, severity, rule and line."""
    location = finding.location
    place = (location.file, location.line) if isinstance(location, Location) else ("", 0)
    return (finding.rule not in launch_rules(), *by_cost(cost), -finding.severity.rank, finding.rule, *place)
