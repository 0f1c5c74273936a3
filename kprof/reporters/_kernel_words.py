"""Sentences about a kernel: the verdict, the result of a search, and which rules were checked."""

from collections.abc import Iterable, Mapping

from msgspec import UNSET

from kprof.advised import KnownAdvice
from kprof.document import KernelReport, Prediction
from kprof.findings import Severity, Unjudged
from kprof.output.assignments import assigned
from kprof.output.quantities import duration, predicted_time
from kprof.reporters._model_text import ASSUMED_PRODUCT, bandwidth_is_reached
from kprof.reporters._plain_words import said

GOES_TO = {
    "matrix": "on the matrix units",
    "vector": "on the vector units",
    "lds": "on LDS accesses",
    "memory latency": "waiting for memory",
    "memory bandwidth": "on memory bandwidth",
    "barrier": "waiting at barriers",
    "issue": "issuing instructions",
    "scratch": "on scratch accesses",
    "launch": "launching the kernel",
}
"""Phrases that say where the time goes, by cause."""


def verdict(kernel: KernelReport) -> str:
    """Return the verdict on a kernel in one sentence: its GPU, its predicted time and the largest cause.

    For example ``attn_fwd on MI300X: 3.82 ms predicted (likely 1.83 to 5.31 ms), 74 % of it on register spills``.
    """
    where = kernel.product if isinstance(kernel.product, str) else f"{kernel.arch}{_assumed(kernel)}"
    name = f"{kernel.name} on {where}" if where else kernel.name
    return f"{name}: {_kernel_sentence(kernel)}"


def _assumed(kernel: KernelReport) -> str:
    """Return the GPU whose clock and bandwidth the predicted time assumes, if only an architecture was named, or ""."""
    known = [] if kernel.model is UNSET else kernel.model.assumptions
    found = next(filter(None, map(ASSUMED_PRODUCT.match, known)), None)
    return f" ({found[1]} assumed)" if found else ""


def _kernel_sentence(kernel: KernelReport) -> str:
    worst = next((found for found in kernel.findings if found.severity is Severity.ERROR), None)
    occupancy = kernel.occupancy
    if occupancy is not None and occupancy is not UNSET and not occupancy.waves_per_simd:
        return "cannot be launched" + (f": {said(worst.message, kernel)}" if worst is not None else "")
    if kernel.unseen is not UNSET:
        return "cannot tell: part of the code was not analysed"
    if kernel.model is not UNSET and kernel.model.shares:
        return _modelled(kernel.model, kernel)
    if kernel.findings:
        return said(kernel.findings[0].message, kernel)
    return "no bottleneck was found"


def most_of_the_time(shares: Mapping[str, float], kernel: KernelReport) -> str:
    """Return the largest cause with its share of the time: ``74 % of it on register spills``."""
    cause, share = max(shares.items(), key=lambda item: item[1])
    spent = GOES_TO.get(cause, cause)
    if cause == "memory bandwidth" and kernel.model is not UNSET and not bandwidth_is_reached(kernel.model):
        spent = "on memory accesses"
    if cause == "scratch" and kernel.resources is not UNSET and kernel.resources.vgpr_spills:
        spent = "on register spills"
    return f"{100 * share:.0f} % of it {spent}"


def _modelled(model: Prediction, kernel: KernelReport) -> str:
    most = most_of_the_time(model.shares, kernel)
    if model.time_us is None:
        names = dict.fromkeys(name for loop in model.loops for name in loop.missing)
        depends = " and ".join(names) or "the launch"
        most = most.replace(" of it ", " of the time is spent ")
        return f"{most}, predicted; how long it takes depends on {depends}"
    return f"{predicted_time(model.time_us, model.low_us, model.high_us)}, {most}"


def better(known: KnownAdvice) -> str:
    """Return the result of ``kprof advise`` in one line: the change, and its effect on time and spills.

    For example ``better, compiled by kprof advise: BLOCK_N=32: 3.82 ms → 784 µs (model), 443 → 0 spilled VGPRs``.
    """
    old, new = known.start_spills, known.best_spills
    spills = f", {old:,} → {new:,} spilled VGPRs" if old and new is not None else ""
    times = f"{duration(known.start_us)} → {duration(known.best_us)} (model)"
    return f"better, compiled by kprof advise: {assigned(known.change)}: {times}{spills}"


def coverage_line(kernel: KernelReport) -> str:
    """Return how many rules were checked, and which were not and why; "" if no rules ran.

    For example ``33 of 38 rules checked; not checked: KP404, KP405 (the launch's grid is not known)``. Rules that do
    not apply are also listed, with the reason.
    """
    if kernel.rules is UNSET:
        return ""
    rules = kernel.rules
    count = len({*rules.checked, *(each.rule for each in (*rules.not_checked, *rules.does_not_apply))})
    parts = [f"{len(rules.checked)} of {count} rules checked"] if count else []
    parts += [f"{words}: {_grouped(which)}" for words, which in _kinds(kernel) if which]
    parts += [f"failed: {each.analyzer} ({each.reason})" for each in rules.failed]
    return "; ".join(parts)


def not_checked(kernel: KernelReport) -> int:
    """Return the number of rules that apply but could not be checked."""
    return 0 if kernel.rules is UNSET else len(kernel.rules.not_checked)


def _kinds(kernel: KernelReport) -> list[tuple[str, list[Unjudged]]]:
    assert kernel.rules is not UNSET
    return [("not checked", kernel.rules.not_checked), ("does not apply", kernel.rules.does_not_apply)]


def _grouped(unjudged: Iterable[Unjudged]) -> str:
    by_reason: dict[str, list[str]] = {}
    for each in unjudged:
        by_reason.setdefault(each.reason, []).append(each.rule)
    return ", ".join(f"{', '.join(rules)} ({reason})" for reason, rules in by_reason.items())
