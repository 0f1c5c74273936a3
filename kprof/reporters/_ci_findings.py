"""Shared parts of the formats for continuous integration: order, names and fingerprints of findings, escaping."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from kprof.document import KernelReport, Report
from kprof.findings import Edit, Finding, Location, Severity, by_cost
from kprof.gate.rules import FATAL
from kprof.reporters._plain_words import said
from kprof.reporters.answer import CauseText, cause_text, costing, proposals, sentences, steps

MARK = "gate"
"""Key in a finding's evidence under which the gate stores its decision, for example that the finding fails."""

_LABEL = 100


@dataclass(frozen=True)
class RuleHelp:
    """Description of a rule in a report.

    Attributes:
        id: identifier such as ``KP301``.
        name: name such as ``spill-in-loop``.
        severity: default severity.
        help: Markdown; its first paragraph is the summary.
    """

    id: str
    name: str
    severity: Severity
    help: str

    @property
    def summary(self) -> str:
        """First paragraph of the help text, on one line."""
        return " ".join(self.help.strip().split("\n\n", 1)[0].split())


@dataclass(frozen=True)
class GateFinding:
    """A finding with its kernel, as the formats for continuous integration show it.

    Attributes:
        kernel: the kernel.
        finding: the finding.
        fingerprint: identifies the finding by rule, kernel, specialisation and architecture, independent of the line.
        suppressed: reason why the finding is silenced, or ``None``.
        cause: the cause of lost time that the finding names, in words; ``None`` if another finding
            names the cause.
    """

    kernel: KernelReport
    finding: Finding
    fingerprint: str
    suppressed: str | None = None
    cause: CauseText | None = None

    @property
    def advice(self) -> str:
        """Actions to take: a compiled fix, or else knobs to try; then the change to make in the code."""
        if self.cause is not None and not ("try" in self.cause.todo and verified(self.finding)):
            return self.cause.advice
        return sentences(steps(self.finding, verified(self.finding)))

    @property
    def text(self) -> str:
        """The message in plain words, and the cost of the cause if known."""
        return costing(self.message, "" if self.cause is None else self.cause.cost)

    @property
    def location(self) -> Location | None:
        """Location of the finding, else of the kernel, else ``None``."""
        for place in (self.finding.location, self.kernel.source):
            if place is not UNSET:
                return place
        return None

    @property
    def message(self) -> str:
        """The message in plain words: loops by their lines, without instruction names."""
        return said(self.finding.message, self.kernel)

    @property
    def where(self) -> str:
        """The finding's file and line, ``kernels/softmax.py:31``; "" if it has no location."""
        place = self.location
        return "" if place is None else f"{place.file}:{place.line}"


def items(report: Report, *, suppressed: bool = False) -> list[GateFinding]:
    """Return all findings, sorted by predicted cost or else by severity, then by file and line."""
    found: list[GateFinding] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for kernel in report.kernels:
        silent = [(s.finding, s.reason) for s in kernel.suppressed] if suppressed else []
        causes = {id(kernel.findings[cause.findings[0]]): cause_text(kernel, cause) for cause in kernel.causes}
        for finding, reason in [*((f, None) for f in kernel.findings), *silent]:
            key = (finding.rule, str(finding.evidence.get("metric", "")), kernel.name, identity(kernel), kernel.arch)
            number = seen[key]
            seen[key] += 1
            digest = hashlib.sha256("\0".join((*key, str(number))).encode()).hexdigest()[:32]
            found.append(GateFinding(kernel, finding, digest, reason, causes.get(id(finding))))
    return sorted(found, key=_order)


def fails(finding: Finding) -> bool:
    """Return whether the finding makes the gate fail."""
    return finding.evidence.get(MARK) == "fails"


def unknown(finding: Finding) -> bool:
    """Return whether the finding reports something that could not be determined."""
    return finding.evidence.get(MARK) == "cannot tell"


def identity(kernel: KernelReport) -> str:
    """Return the first eight hexadecimal digits of a hash of everything that was compiled for a kernel."""
    if kernel.specialization is UNSET:
        return ""
    text = json.dumps(msgspec.to_builtins(kernel.specialization, enc_hook=str), sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def label(kernel: KernelReport) -> str:
    """Return a label such as ``softmax [BLOCK=1024 num_warps=4 #1a2b3c4d]``."""
    if kernel.specialization is UNSET:
        return kernel.name
    spec = kernel.specialization
    words = " ".join(f"{k}={v}" for k, v in {**spec.constexprs, **spec.options}.items() if v is not None)
    short = words if len(words) <= _LABEL else f"{words[: _LABEL - 3]}..."
    return f"{kernel.name} [{short} #{identity(kernel)}]" if short else f"{kernel.name} [#{identity(kernel)}]"


def verified(finding: Finding) -> str:
    """Return a finding's changes of knobs with their effect on the compiled code; empty if they were not compiled."""
    first = next(iter(finding.advice), None)
    if first is None or first.verified is UNSET or not first.verified:
        return ""
    figures = ", ".join(f"{name} {old} → {new}" for name, (old, new) in first.verified.items())
    note = "" if first.note is UNSET else f"; {first.note}"
    return f"{proposals(finding)} (compiled: {figures}{note})"


def cure(finding: Finding) -> list[Edit]:
    """Return the line edits of a verified fix; empty unless edits cover the whole fix."""
    if not finding.advice or not all(a.verified for a in finding.advice):
        return []
    found = [advice.edit for advice in finding.advice]
    return list(dict.fromkeys(e for e in found if e is not UNSET)) if UNSET not in found else []


def archs(report: Report) -> list[str]:
    """Return the architectures in order of first appearance."""
    return list(dict.fromkeys(kernel.arch for kernel in report.kernels))


def counted(found: Iterable[GateFinding]) -> Counter[Severity]:
    """Return the number of findings by severity."""
    return Counter(item.finding.severity for item in found)


def _order(item: GateFinding) -> tuple[int, float, int, int, str, int, str, str, str, str]:
    place = item.location
    file, line = ("", 0) if place is None else (place.file, place.line)
    finding = item.finding
    first = 2 if not fails(finding) else 0 if finding.rule in FATAL else 1
    return (
        *by_cost(finding.gain),
        -finding.severity.rank,
        first,
        file,
        line,
        finding.rule,
        item.kernel.arch,
        label(item.kernel),
        finding.message,
    )
