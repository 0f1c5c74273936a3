"""Compare metrics with budgets and with the baseline."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from kprof.compiler.limits import launch_problems
from kprof.diffing.rating import is_worse
from kprof.findings import Finding, Location
from kprof.gate.baseline import BaselineEntry, product_of
from kprof.gate.config import Budget
from kprof.gate.rules import (
    CANNOT_LAUNCH,
    CANNOT_TELL,
    COSTS,
    DOES_NOT_COMPILE,
    FAILS,
    MARK,
    OVER_BUDGET,
    STALE,
    UNKNOWN,
    WORK,
    WORSE,
    GateRule,
    in_words,
    number_of,
)
from kprof.gate.subject import CheckSubject
from kprof_analyzers.model.certainty import predicted_gain
from kprof_analyzers.rules import known_rules


def over_budget(subject: CheckSubject, budget: Budget) -> Iterator[Finding]:
    """Yield a finding for each limit of a budget that is exceeded or that cannot be checked."""
    metrics = subject.metrics()
    for limit_name in budget.__struct_fields__:
        limit = getattr(budget, limit_name)
        if limit is None:
            continue
        kind, _, metric = limit_name.partition("_")
        value = metrics[metric]
        if value is None:
            yield cannot_tell(subject, f"{metric} is not known, so {limit_name} cannot be checked", what=metric)
        elif value > limit if kind == "max" else value < limit:
            text = f"{in_words(metric, value)}, the budget is {limit_name} = {limit:,g}"
            yield _failing(subject, OVER_BUDGET, metric, text, {"value": value, "budget": limit})


def cannot_launch(subject: CheckSubject, state: BaselineEntry | None = None, change: str = "") -> Iterator[Finding]:
    """Yield a finding for each hardware limit that prevents every launch.

    Args:
        subject: the current kernel.
        state: the kernel's entry in the baseline, or the nearest entry.
        change: the knobs that differ from that entry.
    """
    resources = subject.report.resources
    if resources is UNSET or subject.optional:
        return
    warps, lanes = resources.num_warps, resources.wavefront_size
    metadata = {"shared": resources.lds_bytes, "num_warps": warps, "warp_size": lanes}
    for problem in launch_problems(subject.report.arch, metadata):
        before = None if state is None or problem.resource != "lds" else state.metrics.get("lds_bytes")
        words = "B of LDS" if problem.resource == "lds" else "work-items per workgroup"
        was = "" if before is None or before == problem.needed else f"{before:,g} → "
        text = f"cannot be launched; {was}{problem.needed:,} {words}, {subject.report.arch} has {problem.limit:,}"
        yield Finding(
            rule=CANNOT_LAUNCH.id,
            name=CANNOT_LAUNCH.name,
            severity=CANNOT_LAUNCH.severity,
            message=f"{change}: {text}" if change else text,
            location=place_of(subject, "lds_bytes" if problem.resource == "lds" else ""),
            evidence={MARK: FAILS, "value": problem.needed, "limit": problem.limit},
        )


def refused(subject: CheckSubject, reason: str) -> Finding:
    """Return the finding that the compiler rejects a kernel."""
    return Finding(
        rule=DOES_NOT_COMPILE.id,
        name=DOES_NOT_COMPILE.name,
        severity=DOES_NOT_COMPILE.severity,
        message=reason,
        location=subject.report.source,
        evidence={MARK: FAILS},
    )


def worse(
    subject: CheckSubject, state: BaselineEntry, watch: Sequence[str], skip: Collection[str], change: str = ""
) -> Iterator[Finding]:
    """Yield a finding for each watched metric that is worse than in the baseline or cannot be compared.

    Args:
        subject: the current kernel.
        state: the kernel's entry in the baseline, or the nearest entry.
        watch: metrics to compare.
        skip: metrics that must not be compared.
        change: the knobs that differ from that entry.
    """
    if "time_us" in watch and "time_us" not in skip:
        yield from slower(subject, state, change)
    for metric, value in subject.metrics().items():
        if metric not in watch or metric in skip or metric in COSTS:
            continue
        before = state.metrics.get(metric)
        if value is None or before is None:
            if value is not None or before is not None:
                side = "now" if value is None else "in the baseline"
                yield cannot_tell(subject, f"{metric} is not known {side}, so it cannot be compared", what=metric)
        elif is_worse(metric, before, value):
            yield _worse(subject, metric, value, before, change)


def compared_cost(subject: CheckSubject, state: BaselineEntry) -> tuple[str, float, float] | None:
    """Return the best cost metric that both sides have, with its current and baseline value; ``None`` if there is none.

    Times of two products are not comparable, but the numbers of instructions that a wavefront executes are.
    """
    metrics = subject.metrics()
    same_product = state.product == product_of(subject)
    for metric in COSTS:
        now, before = metrics[metric], state.metrics.get(metric)
        if now and before and (same_product or metric == "executed_instructions"):
            return metric, now, before
    return None


def slower(subject: CheckSubject, state: BaselineEntry, change: str = "") -> Iterator[Finding]:
    """Yield a finding if the launch costs more than in the baseline, by more than the model's error."""
    found = compared_cost(subject, state)
    if found is None:
        had = [metric for metric in COSTS if state.metrics.get(metric)]
        has = [metric for metric in COSTS if subject.metrics()[metric]]
        if had:
            yield cannot_tell(subject, f"{had[0]} is not known now, so it cannot be compared", what=had[0])
        elif has:
            # The baseline contains no cost, for example because an older kprof wrote it. Without this finding, a
            # slowdown would go unnoticed.
            reason = f"{has[0]} is not known in the baseline, so it cannot be compared"
            yield cannot_tell(subject, f"{reason} (kprof check --update-baseline)", what=has[0])
        return
    metrics = subject.metrics()
    for metric in WORK if found[0] in WORK else found[:1]:
        now, before = metrics[metric], state.metrics.get(metric)
        gain = predicted_gain(now, before, subject.report.arch) if now and before else None
        if now and before and gain is not None and gain.speedup < 1 and gain.told_apart:
            # One finding is enough, because the other counts describe the same additional work.
            yield _worse(subject, metric, now, before, change)
            return


def cannot_tell(subject: CheckSubject, reason: str, what: str = "") -> Finding:
    """Return the finding for something that cannot be determined, with the reason."""
    rule = STALE if subject.stale else CANNOT_TELL
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        message=reason,
        location=place_of(subject, what),
        evidence={MARK: UNKNOWN, **({"metric": what} if what else {})},
    )


def place_of(subject: CheckSubject, metric: str) -> Location | UnsetType:
    """Return the source line that explains a metric best; if there is none, the line of the kernel."""
    report = subject.report
    known = [*report.findings, *(silent.finding for silent in report.suppressed)]
    explaining = _explaining(metric)
    places = (f.location for f in known if f.rule in explaining and f.location is not UNSET)
    return next(places, report.source)


def _explaining(metric: str) -> set[str]:
    """Return the rules whose findings locate the source line of a metric."""
    return {rule.id for rule in known_rules() if metric in rule.explains}


def _worse(subject: CheckSubject, metric: str, now: float, before: float, change: str) -> Finding:
    """Return the finding for a worse metric; its message begins with the knobs that differ from the compared entry."""
    text = f"{in_words(metric, now)}, the baseline has {number_of(metric, before)}"
    if metric in (*COSTS, *WORK):
        text = f"{text}: {now / before:.3g} times as much"
    evidence: dict[str, Any] = {"value": now, "baseline": before}
    if change:
        evidence["change"] = change
        text = f"{change}: {text}"
    return _failing(subject, WORSE, metric, text, evidence)


def _failing(subject: CheckSubject, rule: GateRule, metric: str, text: str, evidence: dict[str, Any]) -> Finding:
    explaining = _explaining(metric)
    related = [f for f in subject.report.findings if f.rule in explaining]
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        message=text,
        location=place_of(subject, metric),
        evidence={MARK: FAILS, "metric": metric, **evidence},
        advice=list(related[0].advice) if related else [],
    )
