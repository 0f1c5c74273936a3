"""What the gate judges: one compiled kernel of one configuration entry, or the reason why there is none."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import UNSET

from kprof.diffing.rating import FEWER_IS_WORSE
from kprof.document import KernelReport
from kprof.findings import Location
from kprof.gate.config import METRICS, KernelEntry
from kprof.gate.rules import COSTS, WORK

COMPILER_STAGES = frozenset({"source", "ttir", "ttgir", "llir", "amdgcn", "hsaco"})
"""What the compiler makes: a failure in one of them is its own."""
_LABEL = 120
_HASHED = re.compile(r"[0-9a-f]{32}|[A-Z2-7]{32}|[a-z2-7]{32}")
"""Folders of a compiler's cache: of another program they have another name."""


@dataclass(frozen=True)
class CheckSubject:
    """One check.

    Attributes:
        entry: the configuration entry that asks for it.
        report: the analysed kernel; without facts when ``problem`` is set.
        case: the kernel's case, when one was named.
        problem: why the kernel could not be compiled or read.
        refused: ``problem`` is the compiler's own refusal: it is so on every machine.
        stale: ``problem`` is that the sources have changed since the recording.
        optional: one configuration of several that an autotuner passes over when it cannot be launched.
        file: which one of several that are called and specialised the same: the file of a directory that holds it.
            What was compiled elsewhere does not say for which constexprs.
        number: which one where files tell nothing either, the best first.
        recorded: what names it where it is a capture's, ``DIR::ID``.
        block: lines of the configuration that would make this check possible; empty where none are known.
        left_out: what else the same target holds that is not checked or cannot be distinguished, in words.
    """

    entry: KernelEntry
    report: KernelReport
    case: str | None = None
    problem: str | None = None
    refused: bool = False
    stale: bool = False
    optional: bool = False
    file: str = ""
    number: int = 1
    recorded: str = ""
    block: str = ""
    left_out: str = ""

    @property
    def kernel(self) -> str:
        """The kernel as the baseline names it: ``softmax``, ``mine.py::add``, ``k.amdgcn::add``."""
        target = self.entry.target
        if self.report.name.startswith(f"{target}::"):
            return self.report.name
        plain = "::" in target or target == self.report.name
        return target if plain else f"{target}::{self.report.name}"

    @property
    def specialization(self) -> str:
        """The knobs for people, and eight digits that stand for everything that was compiled."""
        spec = self.report.specialization
        also = (f" in {self.file}" if self.file else "") + (f" ({self.number})" if self.number > 1 else "")
        if spec is UNSET:
            return f"as found{also}"
        text = json.dumps(msgspec.to_builtins(spec, enc_hook=str), sort_keys=True, default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        knobs = {**spec.constexprs, **spec.options, **spec.environment}
        words = " ".join(f"{name}={value}" for name, value in knobs.items() if value is not None)
        label = " ".join(filter(None, (self.case, words[:_LABEL])))
        return f"{label} #{digest}".strip() + also

    @property
    def types(self) -> dict[str, str]:
        """Argument to its type, as compiled."""
        spec = self.report.specialization
        return {} if spec is UNSET else dict(spec.signature)

    @property
    def knobs(self) -> dict[str, Any]:
        """Everything that was chosen: constexprs, options and environment switches that are set, as JSON values."""
        spec = self.report.specialization
        if spec is UNSET:
            return {}
        chosen = {**spec.constexprs, **spec.options, **spec.environment}
        plain: dict[str, Any] = json.loads(json.dumps(chosen, default=str))
        return {name: value for name, value in plain.items() if value is not None}

    @property
    def compiler(self) -> str:
        """What compiled it: Triton's version, or another compiler's identification."""
        report = self.report
        if report.triton is not UNSET:
            return f"Triton {report.triton}"
        return report.compiler if report.compiler is not UNSET else "unknown compiler"

    def _costs(self) -> dict[str, float | None]:
        """What a launch costs, as far as the model knows it."""
        from kprof_analyzers.model.executed import executed_bytes, executed_instructions, executed_matrix
        from kprof_analyzers.model.per_element import element_cost

        model = self.report.model
        if model is UNSET:
            return dict.fromkeys((*COSTS, *WORK))
        element = element_cost(model, {loop.header: loop.depth for loop in self.report.loops}, without_grid=True)
        return {
            "time_us": model.time_us,
            "cycles_per_element": None if isinstance(element, str) else element.cycles,
            "executed_instructions": executed_instructions(self.report),
            "executed_bytes": executed_bytes(self.report),
            "executed_matrix": executed_matrix(self.report),
        }

    def metrics(self) -> dict[str, float | None]:
        """Metric to value; ``None`` when it is not known."""
        found: dict[str, float | None] = {}
        resources, occupancy = self.report.resources, self.report.occupancy
        costs = self._costs()
        for name in METRICS:
            value: Any
            if name in costs:
                value = costs[name]
            elif name == "code_instructions":
                value = sum(self.report.instructions.values()) or None
            elif name == "waves_per_simd":
                value = None if occupancy is UNSET or occupancy is None else occupancy.waves_per_simd
            else:
                value = None if resources is UNSET else getattr(resources, name)
            found[name] = value if isinstance(value, int | float) else None
        return found


def numbered(subjects: Sequence[CheckSubject]) -> list[CheckSubject]:
    """Kernels of one entry, those of the same name and specialisation told apart, in the order given.

    Files say neither their constexprs nor their types, so that the file's name has to do. A compiler's cache names
    folders by a hash of what it compiled: of kernels there, the n-th best is compared with the n-th best, so that none
    can hide behind another, and it is said.
    """
    found = list(subjects)
    for group in _of_one_name(found):
        for index in group:
            file = found[index].report.file
            if file is not UNSET and not _HASHED.search(file):
                found[index] = replace(found[index], file=file)
    for group in _of_one_name(found):
        for number, index in enumerate(sorted(group, key=lambda at: _badness(subjects[at])), 1):
            found[index] = replace(found[index], number=number)
        first = found[group[0]]
        words = f"{len(group)} {first.kernel} on {first.report.arch} are distinguished by their figures only"
        found[group[0]] = replace(first, left_out="; ".join(filter(None, (first.left_out, words))))
    return found


def _of_one_name(subjects: Sequence[CheckSubject]) -> list[list[int]]:
    """Positions of kernels that say the same of themselves, where there are several."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, one in enumerate(subjects):
        if one.problem is None:
            groups.setdefault((one.kernel, one.specialization, one.report.arch, one.compiler), []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def _badness(subject: CheckSubject) -> tuple[list[float], list[str]]:
    """What orders kernels of one name: metrics, fewer wavefronts being worse, then findings."""
    metrics = subject.metrics()
    values = [(-1.0 if name in FEWER_IS_WORSE else 1.0) * (value or 0.0) for name, value in metrics.items()]
    return values, sorted(f.rule for f in subject.report.findings)


def failed(
    entry: KernelEntry, arch: str, why: str, source: Location | None, *, case: str | None = None
) -> CheckSubject:
    """A check that could not be made.

    Args:
        entry: what asks for it.
        arch: for which architecture.
        why: the reason.
        source: the line that it is about, where there is one.
        case: the kernel's case, when one was named.
    """
    name = entry.target if case is None else f"{entry.target} {case}"
    # An error's hint stands on a line of its own.
    first, *hints = [" ".join(line.split()) for line in why.splitlines() if line.strip()] or [""]
    reason = " ".join([first, *([f"({' '.join(hints).rstrip('.')})"] if hints else [])])
    return CheckSubject(entry, KernelReport(name=name, arch=arch, source=source or UNSET, notes=[reason]), case, reason)
