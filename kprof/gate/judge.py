"""Judge analysed kernels: decide which findings fail, are known or allowed, or cannot be determined."""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
from msgspec import UNSET

from kprof.diffing.facts import unchecked, unrecorded
from kprof.diffing.rating import is_worse
from kprof.document import KernelReport, Report
from kprof.findings import Finding, Severity, Suppressed
from kprof.gate.anchors import relocated
from kprof.gate.baseline import Baseline, BaselineEntry, missing_entries, new_findings
from kprof.gate.config import Allowance, Config
from kprof.gate.coverage_gaps import coverage_gaps, ignored, unknown
from kprof.gate.limits import cannot_launch, cannot_tell, compared_cost, over_budget, refused, worse
from kprof.gate.nearest import nearest
from kprof.gate.rules import ALLOWED, BLOCK, COSTS, FAILS, GATE_RULES, KNOWN, MARK, OVER_BUDGET, WORK, WORSE
from kprof.gate.subject import CheckSubject
from kprof.gate.verdict import not_run, verdict
from kprof.version import __version__
from kprof_analyzers.model.certainty import predicted_gain
from kprof_analyzers.rules import launch_rules
from kprof_analyzers.suppressions import UNNEEDED
from kprof_analyzers.verdict import jobs_of

_OWN = frozenset({*(rule.id for rule in GATE_RULES), UNNEEDED})
"""Rules that the gate itself checks for every kernel."""


@dataclass(frozen=True)
class _Against:
    """Baseline entry that a kernel is compared with.

    Attributes:
        state: an entry of the baseline, the reason why there is none for the kernel, or ``None`` without a baseline.
        change: knobs whose values differ from the entry's; empty if the entry is the kernel's own.
        specialization: specialisation of the entry, if it is not the kernel's own.
    """

    state: BaselineEntry | str | None
    change: str = ""
    specialization: str = ""


@dataclass(frozen=True)
class Gate:
    """Configuration and baseline by which kernels are judged.

    Attributes:
        config: budgets, rules and allowances.
        baseline: the accepted state; ``None`` if no baseline is used.
        today: date that decides which allowances are still valid.
        root: the repository's root, which paths are relative to.
        rules: rule names by identifier.
        found_above: path of the configuration, if it was found in a folder above the current one.
    """

    config: Config
    baseline: Baseline | None
    today: dt.date
    root: Path
    rules: Mapping[str, str] = field(default_factory=dict)
    found_above: str = ""

    def judge(self, subjects: Sequence[CheckSubject], notes: Sequence[str] = ()) -> Report:
        """Judge the kernels of a run and return its document.

        Failing findings are errors in it; known and allowed findings are suppressed.
        """
        used: set[int] = set()
        held = self._compared_entries(subjects)
        excused = _excused_launches(subjects, held)
        kernels = [
            self._kernel(subject, against, used, {"time_us"} if index in excused else set())
            for index, (subject, against) in enumerate(zip(subjects, held, strict=True))
        ]
        unused = [
            f"the allowance of {a.what} for {a.kernel} on {a.arch} until {a.until} is not needed"
            for index, a in enumerate(self.config.allow)
            if index not in used
        ]
        changed = [
            f"{subject.kernel} on {subject.report.arch}: {against.change}: compared with "
            "its nearest entry in the baseline"
            for subject, against in zip(subjects, held, strict=True)
            if against.change
        ]
        missing = self._missing(subjects, held)
        left_out = [subject.left_out for subject in subjects if subject.left_out]
        lost = unknown(self.config, self.baseline, subjects)
        lost += [f"{len(missing)} kernels of the baseline no longer exist"] if len(missing) > 1 else missing
        states = (against.state if isinstance(against.state, BaselineEntry) else None for against in held)
        away = [*ignored(zip(subjects, states, strict=True))]
        away += [*coverage_gaps(self.config, self.baseline, subjects, kernels, len(unused))]
        away += [f"configured by {self.found_above}"] if self.found_above else []
        costs = list(_costs_compared(subjects, held)) if "time_us" in self.config.watch else []
        return Report(
            kprof=__version__,
            kernels=kernels,
            verdict=verdict(
                kernels,
                compared=self.baseline is not None,
                nearest=len(changed),
                left_out=[*costs, *lost, *left_out, *away],
            ),
            jobs=jobs_of(kernels),
            notes=[*notes, *unrecorded(kernels), *changed, *missing, *left_out, *unused, *not_run(kernels)],
        )

    def _missing(self, subjects: Sequence[CheckSubject], held: "Sequence[_Against]") -> list[str]:
        """Return baseline specialisations of kernels that still exist, but with which no kernel is compared."""
        if self.baseline is None:
            return []
        compared = {
            (s.kernel, against.specialization, s.report.arch) for s, against in zip(subjects, held, strict=True)
        }
        return [
            f"{kernel} {spec} on {arch} is in the baseline but no longer exists"
            for kernel, spec, arch in missing_entries(self.baseline, subjects)
            if (kernel, spec, arch) not in compared
        ]

    def _compared_entries(self, subjects: Sequence[CheckSubject]) -> "list[_Against]":
        """Return, for each kernel, its own baseline entry, or else the nearest entry that no other kernel uses."""
        baseline = self.baseline
        if baseline is None:
            return [_Against(None)] * len(subjects)
        found = [baseline.find(subject) for subject in subjects]
        taken: dict[tuple[str, str], set[str]] = {}
        for subject, state in zip(subjects, found, strict=True):
            if isinstance(state, BaselineEntry):
                taken.setdefault((subject.kernel, subject.report.arch), set()).add(subject.specialization)
        result = []
        for subject, state in zip(subjects, found, strict=True):
            others = taken.get((subject.kernel, subject.report.arch), ())
            near = nearest(baseline, subject, others) if isinstance(state, str) and subject.problem is None else None
            result.append(_Against(state) if near is None else _Against(near.state, near.change, near.specialization))
        return result

    def _kernel(
        self, subject: CheckSubject, against: "_Against", used: set[int], skip: Collection[str] = ()
    ) -> KernelReport:
        report = subject.report
        silenced: list[Suppressed] = []
        if subject.problem is not None:
            fatal = subject.refused and not subject.optional
            findings = [refused(subject, subject.problem) if fatal else cannot_tell(subject, subject.problem)]
            if subject.block:
                findings = [
                    msgspec.structs.replace(one, evidence={**one.evidence, BLOCK: subject.block}) for one in findings
                ]
        else:
            # Begin with the parts that could not be analysed, because they explain why metrics cannot be compared.
            findings = [*self._unchecked_findings(subject), *self._metrics(subject, against, skip)]
            for finding in self._findings(subject, against.state):
                if finding.evidence.get(MARK) == KNOWN:
                    silenced.append(Suppressed(finding=finding, reason="in the baseline"))
                else:
                    findings.append(finding)
            silenced += [s for s in report.suppressed if s.reason]
        kept, allowed = self._allow(subject, findings, used)
        kept = _without_repeats(kept)
        judged = msgspec.structs.replace(
            report,
            findings=sorted(relocated(kept, self.root), key=_order),
            # Causes refer to positions of the analyzers' findings, which differ from the positions in this list.
            causes=[],
            suppressed=[*allowed, *silenced],
            # Compile time and cache use differ from run to run; the verdict must not.
            compile_seconds=UNSET,
            cached=UNSET,
        )
        result: KernelReport = relocated(judged, self.root)
        return result

    def _metrics(self, subject: CheckSubject, against: "_Against", excused: Collection[str]) -> list[Finding]:
        state = against.state
        entry = state if isinstance(state, BaselineEntry) else None
        found = list(cannot_launch(subject, entry, against.change))
        skip = {*excused, *({"waves_per_simd"} if found else ())}
        found += over_budget(subject, self.config.budget_for(subject.entry, subject.report.arch))
        if isinstance(state, str):
            found.append(cannot_tell(subject, state))
        elif state is not None:
            found += worse(subject, state, self.config.watch, skip, against.change)
        return found

    def _unchecked_findings(self, subject: CheckSubject) -> list[Finding]:
        """Return a finding for each part of a kernel that was not analysed, and each required rule that did not run."""
        unseen = subject.report.unseen
        found = [] if unseen is UNSET else [cannot_tell(subject, unseen)]
        failed = [] if subject.report.rules is UNSET else subject.report.rules.failed
        found += [cannot_tell(subject, str(each)) for each in failed]
        for word, own, everywhere in (
            ("required", subject.entry.require, self.config.require),
            ("forbidden", subject.entry.forbid, self.config.forbid),
        ):
            for name, reason in self._unchecked_rules(subject.report, [*everywhere, *own]):
                found.append(cannot_tell(subject, f"{name} is {word} and could not run: {reason}"))
        return found

    def _unchecked_rules(self, report: KernelReport, named: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the required or forbidden rules that could not check this kernel, with the reason."""
        ids = {name: id_ for id_, name in self.rules.items()}
        lost = unchecked(report)
        coverage = None if report.rules is UNSET else report.rules
        done = set() if coverage is None else {*coverage.checked, *(each.rule for each in coverage.does_not_apply)}
        for name in dict.fromkeys(named):
            rule = ids.get(name, name)
            if rule in lost:
                yield name, lost[rule]
            elif rule == WORSE.id and self.baseline is None:
                yield name, "there is no baseline"
            elif rule not in done and rule not in _OWN:
                yield name, "it is not a rule for compiled kernels, or its analyzer failed"

    def _findings(self, subject: CheckSubject, state: BaselineEntry | str | None) -> list[Finding]:
        """Return the analyzers' findings; failing and known findings are marked."""
        report, config = subject.report, self.config
        forbidden = {*config.forbid, *subject.entry.forbid}
        unfounded = [s.finding for s in report.suppressed if not s.reason]
        findings = [*report.findings, *unfounded]
        new = new_findings(findings, state.findings) if isinstance(state, BaselineEntry) else [True] * len(findings)
        comparable = not isinstance(state, str)
        # A finding of these rules always fails, because the kernel cannot be launched.
        fatal = launch_rules()
        result = []
        for finding, is_new in zip(findings, new, strict=True):
            bad = config.fail_on != "never" and finding.severity.rank >= Severity(config.fail_on).rank
            extra = "; its ignore comment gives no reason" if finding in unfounded else ""
            if {finding.rule, finding.name} & forbidden:
                result.append(_marked(finding, FAILS, extra or "; the rule is forbidden here"))
            elif finding.rule in fatal and not subject.optional:
                result.append(_marked(finding, FAILS, extra))
            elif not is_new:
                result.append(_marked(finding, KNOWN))
            elif bad and comparable:
                result.append(_marked(finding, FAILS, extra))
            else:
                result.append(finding)
        return result

    def _allow(
        self, subject: CheckSubject, findings: Sequence[Finding], used: set[int]
    ) -> tuple[list[Finding], list[Suppressed]]:
        """Split findings into those that count and those that a valid allowance covers."""
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


def _excused_launches(subjects: Sequence[CheckSubject], held: Sequence[_Against]) -> set[int]:
    """Return the positions of launches that belong to a call of several launches whose total time did not grow.

    Such a launch may be slower itself, because work can move from one launch of a call to another.
    """
    calls: dict[tuple[int, str | None, str, str], list[int]] = {}
    for index, subject in enumerate(subjects):
        call = subject.report.job
        if isinstance(call, str):
            calls.setdefault((id(subject.entry), subject.case, subject.report.arch, call), []).append(index)
    excused: set[int] = set()
    for launches in calls.values():
        times: list[tuple[float, float]] = []
        for index in launches:
            state = held[index].state
            cost = compared_cost(subjects[index], state) if isinstance(state, BaselineEntry) else None
            if cost is not None and cost[0] == "time_us":
                times.append(cost[1:])
        if len(times) < len(launches):
            continue
        now, before = map(sum, zip(*times, strict=True))
        gain = predicted_gain(now, before, subjects[launches[0]].report.arch)
        if gain is not None and (gain.speedup >= 1 or not gain.told_apart):
            excused.update(launches)
    return excused


_COST_WORDS = {
    "time_us": "predicted time compared in {}",
    "cycles_per_element": "cycles per element compared in {} (the launch's sizes are not known)",
    "executed_instructions": "executed instructions compared in {} (the launch is not known)",
    "work": "executed instructions, bytes moved and matrix instructions compared in {} (the launch is not known)",
    "other GPU": "executed instructions, bytes moved and matrix instructions compared in {} "
    "(the baseline's times are for another GPU)",
    "old": "time not compared in {} (the baseline has none)",
    "unknown": "time not compared in {} (no time is known)",
}


def _costs_compared(subjects: Sequence[CheckSubject], held: Sequence[_Against]) -> Iterator[str]:
    """Yield a phrase for the verdict for each cost metric: in how many checks it was compared."""
    counts: Counter[str] = Counter()
    for subject, against in zip(subjects, held, strict=True):
        if isinstance(against.state, BaselineEntry) and subject.problem is None:
            found = compared_cost(subject, against.state)
            known = any(subject.metrics()[metric] for metric in COSTS)
            kind = found[0] if found is not None else "old" if known else "unknown"
            whole = kind == "executed_instructions" and all(against.state.metrics.get(one) is not None for one in WORK)
            timed = all(metrics.get("time_us") is not None for metrics in (subject.metrics(), against.state.metrics))
            counts[("other GPU" if timed else "work") if whole else kind] += 1
    for metric, words in _COST_WORDS.items():
        if counts[metric]:
            whole = len(counts) == 1 and counts[metric] == len(subjects)
            yield words.format("all checks" if whole else f"{counts[metric]} of {len(subjects)} checks")


def _covers(allowance: Allowance, subject: CheckSubject, finding: Finding, counts: Counter[str]) -> bool:
    names = (subject.kernel, subject.report.name)
    if not any(fnmatchcase(name, allowance.kernel) for name in names):
        return False
    product = subject.report.product
    if not any(
        fnmatchcase(name, allowance.arch) for name in (subject.report.arch, *([] if product is UNSET else [product]))
    ):
        return False
    metric = finding.evidence.get("metric")
    if allowance.what not in {metric, finding.rule, finding.name}:
        return False
    if allowance.limit is None:
        return True
    if metric is None:
        return counts[finding.rule] <= allowance.limit
    value = float(finding.evidence["value"])
    return not is_worse(metric, allowance.limit, value)


def _without_repeats(findings: Sequence[Finding]) -> list[Finding]:
    """Drop findings about metrics that are worse than in the baseline if the metric also exceeds its budget."""
    over = {f.evidence["metric"] for f in findings if f.rule == OVER_BUDGET.id}
    return [f for f in findings if f.rule != WORSE.id or f.evidence.get("metric") not in over]


def _marked(finding: Finding, mark: str, extra: str = "") -> Finding:
    severity = Severity.ERROR if mark == FAILS else finding.severity
    return msgspec.structs.replace(
        finding, severity=severity, message=finding.message + extra, evidence={**finding.evidence, MARK: mark}
    )


def _order(finding: Finding) -> tuple[int, str, str, int]:
    place = finding.location
    where = ("", 0) if place is UNSET else (place.file, place.line)
    return (-finding.severity.rank, finding.rule, *where)
