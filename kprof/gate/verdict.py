"""The verdict in one line: failed and undetermined checks, the most severe reason, and what was not checked."""

from collections import Counter
from collections.abc import Sequence

from kprof.diffing.facts import unchecked
from kprof.document import KernelReport, Verdict
from kprof.findings import Finding
from kprof.gate.config import METRICS
from kprof.gate.rules import FAILS, FATAL, MARK, STALE, UNKNOWN
from kprof.output.quantities import plural

_REASON = 300
"""Maximum length of a reason, because the verdict is one line."""


def verdict(
    kernels: Sequence[KernelReport], *, compared: bool, nearest: int = 0, left_out: Sequence[str] = ()
) -> Verdict:
    """Return the verdict of a check.

    Args:
        kernels: the judged reports.
        compared: whether the kernels were compared with a baseline.
        nearest: number of kernels that were compared with a baseline entry that has other knobs.
        left_out: phrases about what was not checked because it was not requested.
    """
    marks = [{f.evidence.get(MARK) for f in kernel.findings} for kernel in kernels]
    total = plural(len(kernels), "check")
    failing = sum(FAILS in found for found in marks)
    unknown = sum(UNKNOWN in found for found in marks)
    if failing:
        also = f", {unknown} cannot be determined" if unknown else ""
        text = f"regression: {failing} of {total} fail{also}{_worst_reason(kernels, FAILS)}"
        return Verdict(status="regression", summary=text)
    if unknown or not kernels:
        stale = any(finding.rule == STALE.id for kernel in kernels for finding in kernel.findings)
        word = "stale" if stale else "cannot tell"
        text = f"{word}: {unknown} of {total} could not be judged{_worst_reason(kernels, UNKNOWN)}"
        return Verdict(status="cannot_tell", summary=text)
    text = "nothing is worse than the baseline" if compared else "within budget"
    if nearest:
        text += f" ({nearest} compared with other knobs)"
    lost = {rule for kernel in kernels for rule in unchecked(kernel)}
    if lost:
        text += f"; {plural(len(lost), 'rule')} could not run"
    return Verdict(status="ok", summary="; ".join([f"ok: {total}, {text}", *left_out]))


def not_run(kernels: Sequence[KernelReport]) -> list[str]:
    """Return a note for each reason why rules could not be checked, with the rules and the number of checks."""
    reasons: dict[str, dict[str, None]] = {}
    checks: Counter[str] = Counter()
    for kernel in kernels:
        found = unchecked(kernel)
        for rule, reason in found.items():
            reasons.setdefault(reason, {})[rule] = None
        checks.update(set(found.values()))
    return [
        f"could not run in {checks[reason]} of {plural(len(kernels), 'check')}: {', '.join(rules)}: {reason}"
        for reason, rules in reasons.items()
    ]


def _worst_reason(kernels: Sequence[KernelReport], mark: str) -> str:
    """Return the most severe reason for a decision, and its kernel."""
    found = [
        (kernel, finding) for kernel in kernels for finding in kernel.findings if finding.evidence.get(MARK) == mark
    ]
    if not found:
        return ""
    kernel, finding = min(found, key=lambda pair: _rank(pair[1]))
    reason = finding.message if len(finding.message) <= _REASON else f"{finding.message[:_REASON]}..."
    return f": {kernel.name} on {kernel.arch}: {reason}"


def _rank(finding: Finding) -> tuple[bool, int, int]:
    metric = finding.evidence.get("metric")
    # That a kernel was not analysed or compared explains why metrics are unknown, so such findings rank before unknown
    # metrics.
    other = -1 if finding.evidence.get(MARK) == UNKNOWN else len(METRICS)
    place = METRICS.index(metric) if metric in METRICS else other
    return finding.rule not in FATAL and finding.rule != STALE.id, -finding.severity.rank, place
