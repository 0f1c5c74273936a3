"""From analysed kernels to the verdict: what fails, what is known or allowed, what cannot be told."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec import UNSET

from kprof import __version__
from kprof.document import KernelReport, Report, Suppressed, Verdict
from kprof.findings import Finding, Severity
from kprof.gate.baseline import Baseline, State, news
from kprof.gate.config import Allowance, Config
from kprof.gate.limits import cannot_tell, over_budget, worse
from kprof.gate.rules import ALLOWED, FAILS, KNOWN, MARK, UNKNOWN
from kprof.gate.source_text import relocated
from kprof.gate.subject import Subject

_REASON = 200
"""Characters of a reason in the verdict, which is one line."""


@dataclass(frozen=True)
class Gate:
    """What kernels are judged by.

    Attributes:
        config: budgets, rules and allowances.
        baseline: the accepted state; ``None`` when none is used.
        today: decides which allowances still hold.
        root: the repository's root, which paths are given from.
    """

    config: Config
    baseline: Baseline | None
    today: dt.date
    root: Path

    def judge(self, subjects: Sequence[Subject], notes: Sequence[str] = ()) -> Report:
        """The document of a run: findings that fail are errors; those that are known or allowed are suppressed."""
        used: set[int] = set()
        kernels = [self._kernel(subject, used) for subject in subjects]
        unused = [
            f"the allowance of {a.what} for {a.kernel} on {a.arch} until {a.until} is not needed"
            for index, a in enumerate(self.config.allow)
            if index not in used
        ]
        return Report(
            kprof=__version__, kernels=kernels, verdict=_verdict(kernels, self.baseline), notes=[*notes, *unused]
        )

    def _kernel(self, subject: Subject, used: set[int]) -> KernelReport:
        report = subject.report
        silenced: list[Suppressed] = []
        if subject.problem is not None:
            findings = [cannot_tell(subject, subject.problem)]
        else:
            state = None if self.baseline is None else self.baseline.find(subject)
            findings = self._metrics(subject, state)
            if report.unseen is not UNSET:
                findings.append(cannot_tell(subject, report.unseen))
            for finding in self._findings(subject, state):
                if finding.evidence.get(MARK) == KNOWN:
                    silenced.append(Suppressed(finding=finding, reason="the baseline has it"))
                else:
                    findings.append(finding)
            silenced += [s for s in report.suppressed if s.reason]
        kept, allowed = self._allow(subject, findings, used)
        judged = msgspec.structs.replace(
            report,
            findings=sorted(relocated(kept, self.root), key=_order),
            suppressed=[*allowed, *silenced],
            # How long a compile took and whether it was cached differs from run to run, the verdict must not.
            compile_seconds=UNSET,
            cached=UNSET,
        )
        result: KernelReport = relocated(judged, self.root)
        return result

    def _metrics(self, subject: Subject, state: State | str | None) -> list[Finding]:
        arch = subject.report.arch
        found = list(over_budget(subject, self.config.budget_for(subject.entry, arch)))
        if isinstance(state, str):
            found.append(cannot_tell(subject, state))
        elif state is not None:
            skip = {str(f.evidence["metric"]) for f in found}
            found += worse(subject, state, list(self.config.watch), skip)
        return found

    def _findings(self, subject: Subject, state: State | str | None) -> list[Finding]:
        """The analyzers' findings, marked: failing, known, or neither."""
        report, config = subject.report, self.config
        forbidden = {*config.forbid, *subject.entry.forbid}
        unfounded = [s.finding for s in report.suppressed if not s.reason]
        findings = [*report.findings, *unfounded]
        new = news(findings, state) if isinstance(state, State) else [True] * len(findings)
        comparable = not isinstance(state, str)
        result = []
        for finding, is_new in zip(findings, new, strict=True):
            bad = config.fail_on != "never" and finding.severity.rank >= Severity(config.fail_on).rank
            extra = "; its ignore comment gives no reason" if finding in unfounded else ""
            if {finding.rule, finding.name} & forbidden:
                result.append(_marked(finding, FAILS, extra or "; the rule is forbidden here"))
            elif not is_new:
                result.append(_marked(finding, KNOWN))
            elif bad and comparable:
                result.append(_marked(finding, FAILS, extra))
            else:
                result.append(finding)
        return result

    def _allow(
        self, subject: Subject, findings: Sequence[Finding], used: set[int]
    ) -> tuple[list[Finding], list[Suppressed]]:
        """Findings that fail nevertheless, and those that an allowance in force covers."""
        counts = Counter(f.rule for f in findings)
        kept: list[Finding] = []
        allowed: list[Suppressed] = []
        for finding in findings:
            if finding.evidence.get(MARK) != FAILS:
                kept.append(finding)
                continue
            matching = [(index, a) for index, a in enumerate(self.config.allow) if _covers(a, subject, finding, counts)]
            used.update(index for index, _ in matching)
            valid = next((a for _, a in matching if self.today <= a.until), None)
            if valid is not None:
                reason = f"allowed until {valid.until}: {valid.reason}"
                allowed.append(Suppressed(finding=_marked(finding, ALLOWED), reason=reason))
            elif matching:
                ended = matching[0][1]
                kept.append(_marked(finding, FAILS, f"; its allowance ended on {ended.until} ({ended.reason})"))
            else:
                kept.append(finding)
        return kept, allowed


def _covers(allowance: Allowance, subject: Subject, finding: Finding, counts: Counter[str]) -> bool:
    names = (subject.kernel, subject.report.name)
    if not any(fnmatchcase(name, allowance.kernel) for name in names):
        return False
    if not fnmatchcase(subject.report.arch, allowance.arch):
        return False
    metric = finding.evidence.get("metric")
    if allowance.what not in {metric, finding.rule, finding.name}:
        return False
    if allowance.limit is None:
        return True
    if metric is None:
        return counts[finding.rule] <= allowance.limit
    value = float(finding.evidence["value"])
    return value >= allowance.limit if metric == "waves_per_simd" else value <= allowance.limit


def _marked(finding: Finding, mark: str, extra: str = "") -> Finding:
    severity = Severity.ERROR if mark == FAILS else finding.severity
    return msgspec.structs.replace(
        finding, severity=severity, message=finding.message + extra, evidence={**finding.evidence, MARK: mark}
    )


def _order(finding: Finding) -> tuple[int, str, str, int]:
    place = finding.location
    where = ("", 0) if place is UNSET else (place.file, place.line)
    return (-finding.severity.rank, finding.rule, *where)


def _verdict(kernels: Sequence[KernelReport], baseline: Baseline | None) -> Verdict:
    marks = [{f.evidence.get(MARK) for f in kernel.findings} for kernel in kernels]
    total = f"{len(kernels)} {'check' if len(kernels) == 1 else 'checks'}"
    failing = sum(FAILS in found for found in marks)
    unknown = sum(UNKNOWN in found for found in marks)
    if failing:
        also = f", {unknown} cannot be told" if unknown else ""
        return Verdict(status="regression", summary=f"regression: {failing} of {total} fail{also}")
    if unknown or not kernels:
        why = _why(kernels)
        return Verdict(status="cannot_tell", summary=f"cannot tell: {unknown} of {total} could not be judged{why}")
    than = "within budget" if baseline is None else "nothing is worse than the baseline"
    return Verdict(status="ok", summary=f"ok: {total}, {than}")


def _why(kernels: Sequence[KernelReport]) -> str:
    """The first reason why something cannot be told, and for which kernel."""
    for kernel in kernels:
        for finding in kernel.findings:
            if finding.evidence.get(MARK) == UNKNOWN:
                reason = finding.message if len(finding.message) <= _REASON else f"{finding.message[:_REASON]}..."
                return f": {kernel.name} on {kernel.arch}: {reason}"
    return ""
