"""A regression with the change of knobs that undoes it, or with the word that none was found."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.diffing.rating import is_worse
from kprof.document import KernelReport
from kprof.findings import Advice, Finding, Severity
from kprof.gate.edits import edits
from kprof.gate.limits import cannot_launch
from kprof.gate.rules import FAILS, MARK
from kprof.gate.subject import CheckSubject
from kprof_analyzers.model.certainty import predicted_gain

_NO_TIMES = "which is faster is not known: no predicted time; measure both on the GPU"


def failing(report: KernelReport) -> list[Finding]:
    """What makes the gate fail here."""
    return [finding for finding in report.findings if finding.evidence.get(MARK) == FAILS]


def cures(found: Sequence[Finding], before: CheckSubject, after: CheckSubject) -> bool:
    """Whether all that failed is gone with other knobs, and nothing bad has come instead.

    Args:
        found: what fails.
        before: the kernel that fails.
        after: the kernel with other knobs.
    """
    metrics = after.metrics()
    rules = {finding.rule for finding in after.report.findings}
    if any(cannot_launch(after)) or after.report.unseen is not UNSET:
        return False
    for finding in found:
        metric = finding.evidence.get("metric")
        if metric is None:
            if finding.rule in rules:
                return False
            continue
        limit, value = finding.evidence.get("budget", finding.evidence.get("baseline")), metrics[metric]
        if value is None or limit is None or is_worse(metric, limit, value):
            return False
    return _errors(after) <= _errors(before)


def cured(
    report: KernelReport,
    change: Mapping[str, Any],
    before: CheckSubject,
    after: CheckSubject,
    files: Iterable[Path] = (),
    *,
    times: tuple[float | None, float | None] = (None, None),
) -> KernelReport:
    """The judged kernel with the change as verified advice on everything that fails.

    Args:
        report: the kernel as judged.
        change: knobs to their new values.
        before: the kernel that fails, as it was compiled.
        after: the kernel with the change, as it was compiled.
        files: where the line that sets a knob may be.
        times: predicted times with the change and of the kernel that fails, microseconds; ``None``: not known.
    """
    old, new = before.metrics(), after.metrics()
    verified = {name: (old[name], new[name]) for name in old if old[name] != new[name]}
    spec = before.report.specialization
    known = {} if spec is msgspec.UNSET else {**spec.constexprs, **spec.options, **spec.environment}
    lines = edits(change, known, files)
    gain = predicted_gain(*times, after.report.arch)
    sure = UNSET if gain is None or gain.certainty is None else round(gain.certainty, 3)
    advice = [
        Advice(
            knob=k,
            from_=known.get(k),
            to=value,
            verified=verified,
            note=_NO_TIMES if gain is None else f"predicted {gain.words()}",
            speedup=UNSET if gain is None else round(gain.speedup, 3),
            certainty=sure,
            edit=lines.get(k, UNSET),
        )
        for k, value in change.items()
    ]
    return _changed(report, advice=advice)


def incurable(report: KernelReport, reason: str) -> KernelReport:
    """The judged kernel with the word that no change was found."""
    return _changed(report, suffix=f"; {reason}")


def _changed(report: KernelReport, *, advice: Sequence[Advice] | None = None, suffix: str = "") -> KernelReport:
    findings = []
    for finding in report.findings:
        if finding.evidence.get(MARK) == FAILS:
            replaced = list(finding.advice) if advice is None else list(advice)
            findings.append(msgspec.structs.replace(finding, advice=replaced, message=finding.message + suffix))
        else:
            findings.append(finding)
    return msgspec.structs.replace(report, findings=findings)


def _errors(subject: CheckSubject) -> set[str]:
    return {finding.rule for finding in subject.report.findings if finding.severity is Severity.ERROR}
