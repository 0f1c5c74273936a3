"""Search, by recompiling, for changes of knobs that undo a regression, and for the source lines that set the knobs."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.captures.staleness import root_of
from kprof.deadline import Deadline
from kprof.diffing.rating import is_worse
from kprof.document import KernelReport, Report
from kprof.errors import InputError, KprofError
from kprof.findings import Advice, Edit, Finding, Severity
from kprof.gate.anchors import relocated
from kprof.gate.limits import cannot_launch
from kprof.gate.rules import FAILS, MARK
from kprof.gate.subject import CheckSubject
from kprof.gate.tries import tries
from kprof.inputs import boundary
from kprof_analyzers.model.certainty import predicted_gain

_MAX_BYTES = 1 << 20
_NO_TIMES = "it is not known which one is faster (no predicted time); measure both on the GPU"


def with_cures(report: Report, subjects: Sequence[CheckSubject], config: Path, seconds: float, jobs: int = 0) -> Report:
    """Add advice to each failing kernel of a document, as far as the time allows.

    Args:
        report: the document after judging; its kernels are in the order of ``subjects``.
        subjects: the kernels before they were judged.
        config: path of the configuration; relative targets start in its folder.
        seconds: time budget in seconds for all kernels together; no compile is started afterwards.
        jobs: number of worker processes, 0 for one per core.
    """
    deadline = Deadline(seconds)
    kernels = [
        _advised(kernel, subject, config, deadline, jobs) if failing(kernel) else kernel
        for kernel, subject in zip(report.kernels, subjects, strict=True)
    ]
    return msgspec.structs.replace(report, kernels=kernels)


def _advised(kernel: KernelReport, subject: CheckSubject, config: Path, deadline: Deadline, jobs: int) -> KernelReport:
    if deadline.over():
        return with_no_cure(kernel, "the time for trials was spent before other knobs could be tried")
    harm = failing(kernel)
    try:
        with closing(tries(subject, config.parent, deadline, jobs)) as made:
            for change, report in made.found:
                after = replace(subject, report=report)
                if cures(harm, subject, after):
                    return _cured(
                        kernel, change, subject, after, [*made.files, config], times=(made.last_us, made.start_us())
                    )
    except KprofError as error:
        return with_no_cure(kernel, f"other knobs were not tried: {error.message}")
    unfinished = f", {made.left} were not tried for lack of time" if made.left else ""
    limited = f" ({made.how})" if made.how.startswith("compiler options only") else ""
    return with_no_cure(kernel, f"none of {made.tried} changes of knobs fixes it{unfinished}{limited}")


def _cured(
    kernel: KernelReport,
    change: Mapping[str, Any],
    before: CheckSubject,
    after: CheckSubject,
    files: Sequence[Path],
    *,
    times: tuple[float | None, float | None],
) -> KernelReport:
    *_, config = files
    source = before.report.source
    # Without duplicates, because the same file under two names would yield each edit twice.
    named = [*([] if source is UNSET else [source.file]), *files]
    places = [Path(os.path.abspath(str(path))) for path in named]  # noqa: PTH100 - links stay links
    found: KernelReport = relocated(cured(kernel, change, before, after, places, times=times), root_of(config.parent))
    return found


def failing(report: KernelReport) -> list[Finding]:
    """Return the findings that make the check fail."""
    return [finding for finding in report.findings if finding.evidence.get(MARK) == FAILS]


def cures(found: Sequence[Finding], before: CheckSubject, after: CheckSubject) -> bool:
    """Return whether a change of knobs removes every failure without introducing new errors.

    Args:
        found: the findings that fail.
        before: the failing kernel.
        after: the kernel with the changed knobs.
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
    """Add a change to the report of a failing kernel, as verified advice on each failing finding.

    Args:
        report: the kernel as judged.
        change: new values by knob.
        before: the failing kernel as it was compiled.
        after: the kernel with the change as it was compiled.
        files: files that may contain the line that sets a knob.
        times: predicted times of the kernel with the change and of the failing kernel, in microseconds; ``None``: not
            known.
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


def with_no_cure(report: KernelReport, reason: str) -> KernelReport:
    """Add a remark to the messages of a failing kernel's report: no change was found, with the reason."""
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


def edits(change: Mapping[str, Any], known: Mapping[str, Any], files: Iterable[Path]) -> dict[str, Edit]:
    """Return the edits that set the new values of a change; empty unless each knob is set on exactly one line.

    Args:
        change: new values by knob.
        known: current values by knob.
        files: files to search: the kernel's file and the configuration.
    """
    texts = {path: lines for path in dict.fromkeys(files) if (lines := _lines(path))}
    changed: dict[tuple[Path, int], str] = {}
    places: dict[str, tuple[Path, int]] = {}
    for knob, new in change.items():
        if known.get(knob) is None:
            return {}
        found = [
            (path, number)
            for path, lines in texts.items()
            for number, line in enumerate(lines)
            for _ in _pattern(path, knob, known[knob]).finditer(_code(line))
        ]
        if len(found) != 1:
            return {}
        (path, number) = places[knob] = found[0]
        line = changed.get((path, number), texts[path][number])
        match = _pattern(path, knob, known[knob]).search(line)
        assert match is not None
        changed[path, number] = f"{line[: match.start(2)]}{_literal(path, new)}{line[match.end(2) :]}"
    return {
        knob: Edit(file=str(path), line=number + 1, before=texts[path][number], after=changed[path, number])
        for knob, (path, number) in places.items()
    }


def _pattern(path: Path, knob: str, value: Any) -> "re.Pattern[str]":
    """Match ``BLOCK = 64``, ``"BLOCK": 64`` and ``BLOCK: int = 64``, with the value in the second group."""
    return re.compile(
        rf"(?<![\w.])([\"']?){re.escape(knob)}\1\s*(?::\s*[A-Za-z_][\w.\[\]]*\s*)?[:=](?!=)\s*"
        rf"({re.escape(_literal(path, value))})(?![\w.\"'])"
    )


def _literal(path: Path, value: Any) -> str:
    return json.dumps(value) if path.suffix == ".toml" or isinstance(value, str) else repr(value)


def _code(line: str) -> str:
    """Return a line without its comment; a ``#`` inside a string also counts as the start of a comment."""
    return line.split("#", 1)[0]


def _lines(path: Path) -> Sequence[str]:
    try:
        return boundary.read_text(path, most=_MAX_BYTES).splitlines()
    except InputError:
        return ()
