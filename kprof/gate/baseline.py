"""The baseline: a committed file with the accepted state of each kernel."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from kprof.errors import InputError
from kprof.findings import Finding
from kprof.gate.anchors import anchor
from kprof.gate.rules import COSTS, WORK
from kprof.gate.subject import CheckSubject
from kprof.inputs import boundary

_MAX_BYTES = 64 * 1024 * 1024
_MAX_RESOURCE = 2**32
"""Upper bound of any resource of a kernel. Larger values in a baseline would hide every regression."""
_LARGEST_COST = 1e18


class BaselineEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Accepted state of one kernel, specialisation, architecture and compiler.

    Attributes:
        metrics: values by metric; ``None`` if not known.
        findings: source text of each finding's line, by rule. Unlike line numbers, texts stay valid when lines move.
        types: argument types by name.
        knobs: configuration of the kernel, by which a kernel with changed knobs finds its nearest entry.
        product: the GPU that the time is predicted for; empty if none was named.
        ignored: like ``findings``, for findings silenced by comments in the source; unset in a file that does not
            record them.
    """

    metrics: dict[str, float | int | None]
    findings: dict[str, list[str]]
    types: dict[str, str] = {}
    knobs: dict[str, Any] = {}
    product: str = ""
    ignored: dict[str, list[str]] | UnsetType = UNSET


Kernels = dict[str, dict[str, dict[str, dict[str, BaselineEntry]]]]


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of the baseline file, by kernel, specialisation, architecture and compiler.

    Attributes:
        schema: always ``kprof.baseline/1``.
        kernels: accepted states by kernel, specialisation, architecture and compiler.
    """

    schema: Literal["kprof.baseline/1"] = "kprof.baseline/1"
    kernels: Kernels = {}

    def find(self, subject: CheckSubject) -> BaselineEntry | str:
        """Return the entry to compare a kernel with, or the reason why there is none."""
        specializations = self.kernels.get(subject.kernel)
        if specializations is None:
            return "the baseline does not have this kernel"
        archs = specializations.get(subject.specialization)
        if archs is None:
            return f"the baseline has this kernel, but not {subject.specialization}"
        compilers = archs.get(subject.report.arch)
        if compilers is None:
            return f"the baseline has this kernel for {', '.join(sorted(archs))}, not for {subject.report.arch}"
        state = compilers.get(subject.compiler)
        if state is None:
            return f"the baseline has this kernel for {', '.join(sorted(compilers))}, not for {subject.compiler}"
        return state


def read(path: Path) -> Baseline:
    """Read a baseline.

    Raises:
        KprofError: the file cannot be read or is not a baseline.
    """
    hint = "kprof check --update-baseline writes a new one."
    data = boundary.read_bytes(path, most=_MAX_BYTES)
    found: Baseline = boundary.json_of(data, Baseline, str(path), "is not a baseline", hint=hint, unique=True)
    for kernel, _, arch, _, state in _states(found.kernels):
        for metric, value in state.metrics.items():
            if value is not None and not 0 <= value <= (
                _MAX_RESOURCE if metric not in (*COSTS, *WORK) else _LARGEST_COST
            ):
                text = f"is not a baseline: {kernel} on {arch}: {metric} has an impossible value"
                raise InputError(text, path=str(path), hint=hint)
    return found


def missing_entries(baseline: Baseline, subjects: Sequence[CheckSubject]) -> list[tuple[str, str, str]]:
    """Return kernel, specialisation and architecture of each entry that this run should have checked but did not.

    Entries of other architectures and Triton versions are skipped, because other runs check them. Entries of a target
    that could not be analysed are skipped, because the target itself is reported.
    """
    archs = {subject.report.arch for subject in subjects}
    compilers = {subject.compiler for subject in subjects if subject.problem is None}
    here = {(s.kernel, s.specialization, s.report.arch) for s in subjects}
    lost = _unanalysed_targets(subjects)
    return [
        (kernel, spec, arch)
        for kernel, spec, arch, compiler, _ in _states(baseline.kernels)
        if arch in archs
        and (compiler in compilers or not compiler.startswith("Triton "))
        and (kernel, spec, arch) not in here
        and not _belongs_to(kernel, arch, lost)
    ]


def _unanalysed_targets(subjects: Sequence[CheckSubject]) -> set[tuple[str, str]]:
    """Return the targets that could not be analysed, with their architectures."""
    return {(s.entry.target, s.report.arch) for s in subjects if s.problem is not None}


def _belongs_to(kernel: str, arch: str, targets: Collection[tuple[str, str]]) -> bool:
    """Return whether a kernel's name in the baseline belongs to one of these targets."""
    return any(arch == a and (kernel == t or kernel.startswith(f"{t}::")) for t, a in targets)


def updated(old: Baseline, subjects: Sequence[CheckSubject]) -> Baseline:
    """Return the new baseline after a run: the run's states replace those of the same compilers and architectures.

    States of other compilers and architectures are kept, and so are states of kernels that could not be analysed.
    """
    done = [subject for subject in subjects if subject.problem is None]
    lost = _unanalysed_targets(subjects)
    compilers = {s.compiler for s in done}
    archs = {s.report.arch for s in done}
    result: Kernels = {}
    for kernel, spec, arch, compiler, state in _states(old.kernels):
        if compiler not in compilers or arch not in archs or _belongs_to(kernel, arch, lost):
            _put(result, (kernel, spec, arch, compiler), state)
    for subject in done:
        key = (subject.kernel, subject.specialization, subject.report.arch, subject.compiler)
        _put(result, key, _state(subject))
    return Baseline(kernels=result)


def encode(baseline: Baseline) -> str:
    """Return the baseline as JSON text, in an order that depends only on its content."""
    return msgspec.json.format(msgspec.json.encode(baseline, order="sorted"), indent=2).decode() + "\n"


def new_findings(findings: Sequence[Finding], accepted: Mapping[str, Sequence[str]]) -> list[bool]:
    """Return for each finding whether it is new compared with the baseline.

    A rule that has at most as many findings as in the baseline has no new findings, even if their lines differ. If a
    rule has more findings, those on lines that are not in the baseline are new.

    Args:
        findings: findings of one kernel.
        accepted: the findings, or the ignored findings, of the kernel's baseline entry.
    """
    now = Counter(finding.rule for finding in findings)
    left = {rule: Counter(anchors) for rule, anchors in accepted.items()}
    result = []
    for finding in findings:
        known = left.get(finding.rule, Counter())
        text = anchor(finding)
        if now[finding.rule] <= len(accepted.get(finding.rule, ())):
            result.append(False)
        elif known[text]:
            known[text] -= 1
            result.append(False)
        else:
            result.append(True)
    return result


def _state(subject: CheckSubject) -> BaselineEntry:
    report = subject.report
    return BaselineEntry(
        metrics={name: _rounded(value) for name, value in subject.metrics().items()},
        findings=_anchors(report.findings),
        types=subject.types,
        knobs=subject.knobs,
        product=product_of(subject),
        ignored=_anchors([silenced.finding for silenced in report.suppressed]),
    )


def _anchors(findings: Sequence[Finding]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for finding in findings:
        found.setdefault(finding.rule, []).append(anchor(finding))
    return {rule: sorted(anchors) for rule, anchors in found.items()}


def product_of(subject: CheckSubject) -> str:
    """Return the GPU that a check's time is predicted for, or "" if none was named."""
    product = subject.report.product
    return product if isinstance(product, str) else ""


def _rounded(value: float | None) -> float | int | None:
    """Return integral values as int, others with six digits: further digits of predictions differ by machine."""
    if value is None:
        return None
    return int(value) if value == int(value) else float(f"{value:.6g}")


def _states(
    kernels: Mapping[str, Mapping[str, Mapping[str, Mapping[str, BaselineEntry]]]],
) -> Iterable[tuple[str, str, str, str, BaselineEntry]]:
    for kernel, specs in kernels.items():
        for spec, archs in specs.items():
            for arch, compilers in archs.items():
                for compiler, state in compilers.items():
                    yield kernel, spec, arch, compiler, state


def _put(kernels: Kernels, key: tuple[str, str, str, str], state: BaselineEntry) -> None:
    kernel, spec, arch, compiler = key
    kernels.setdefault(kernel, {}).setdefault(spec, {}).setdefault(arch, {})[compiler] = state
