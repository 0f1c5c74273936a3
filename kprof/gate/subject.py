"""A check of the gate: a compiled kernel of a configuration entry, or the reason why the kernel is missing."""

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
"""Stages of the compiler: a failure in one of them is an error of the compiler itself."""
_LABEL = 120
_HASHED = re.compile(r"[0-9a-f]{32}|[A-Z2-7]{32}|[a-z2-7]{32}")
"""Matches names of folders in a compiler's cache, which are hashes that change with the program."""


@dataclass(frozen=True)
class CheckSubject:
    """One check of the gate.

    Attributes:
        entry: the configuration entry that requests the check.
        report: the analysed kernel; it contains no facts if ``problem`` is set.
        case: the kernel's case, if one was named.
        problem: why the kernel could not be compiled or read.
        refused: True if ``problem`` is an error of the compiler itself, which occurs on every machine.
        stale: True if ``problem`` says that the sources have changed since the recording.
        optional: True for one of several configurations of an autotuner, because an autotuner skips configurations that
            cannot be launched.
        file: for a directory, the file that contains the kernel. It distinguishes kernels of the same name and
            specialisation, because code that was compiled elsewhere does not contain its constexprs.
        number: position among kernels that even the file does not distinguish, the best first.
        recorded: ``DIR::ID`` of a kernel of a capture; else empty.
        block: configuration lines that the user can add to make this check possible; empty if not known.
        left_out: description of other parts of the target that are not checked or cannot be distinguished.
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
        """Name of the kernel in the baseline: ``softmax``, ``mine.py::add``, ``k.amdgcn::add``."""
        target = self.entry.target
        if self.report.name.startswith(f"{target}::"):
            return self.report.name
        plain = "::" in target or target == self.report.name
        return target if plain else f"{target}::{self.report.name}"

    @property
    def specialization(self) -> str:
        """Readable list of the knobs, and an eight-digit hash of everything that was compiled."""
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
        """Types of the compiled kernel's arguments, by name."""
        spec = self.report.specialization
        return {} if spec is UNSET else dict(spec.signature)

    @property
    def knobs(self) -> dict[str, Any]:
        """Constexprs, options and environment switches that are set, as JSON values."""
        spec = self.report.specialization
        if spec is UNSET:
            return {}
        chosen = {**spec.constexprs, **spec.options, **spec.environment}
        plain: dict[str, Any] = json.loads(json.dumps(chosen, default=str))
        return {name: value for name, value in plain.items() if value is not None}

    @property
    def compiler(self) -> str:
        """Compiler of the kernel: Triton's version, or another compiler's identification."""
        report = self.report
        if report.triton is not UNSET:
            return f"Triton {report.triton}"
        return report.compiler if report.compiler is not UNSET else "unknown compiler"

    def _costs(self) -> dict[str, float | None]:
        """Return the cost of a launch by metric; ``None`` for costs that the model does not know."""
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
        """Return the value of each metric by name; ``None`` for unknown values."""
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
    """Distinguish kernels of one entry that have the same name and specialisation; the order is kept.

    Compiled files contain neither constexprs nor types, so the file's name has to distinguish them. A compiler's cache
    names folders by a hash of the compiled program. Therefore the n-th best kernel in such folders is compared with the
    n-th best one of the baseline, so that none can hide behind another; a remark in ``left_out`` says so.
    """
    found = list(subjects)
    for group in _groups_of_one_name(found):
        for index in group:
            file = found[index].report.file
            if file is not UNSET and not _HASHED.search(file):
                found[index] = replace(found[index], file=file)
    for group in _groups_of_one_name(found):
        for number, index in enumerate(sorted(group, key=lambda at: _severity_key(subjects[at])), 1):
            found[index] = replace(found[index], number=number)
        first = found[group[0]]
        words = f"{len(group)} {first.kernel} on {first.report.arch} are distinguished only by their metrics"
        found[group[0]] = replace(first, left_out="; ".join(filter(None, (first.left_out, words))))
    return found


def _groups_of_one_name(subjects: Sequence[CheckSubject]) -> list[list[int]]:
    """Return groups of positions: each group has one name, specialisation, architecture and compiler."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, one in enumerate(subjects):
        if one.problem is None:
            groups.setdefault((one.kernel, one.specialization, one.report.arch, one.compiler), []).append(index)
    return [group for group in groups.values() if len(group) > 1]


def _severity_key(subject: CheckSubject) -> tuple[list[float], list[str]]:
    """Return a sort key for kernels of the same name: metrics (fewer wavefronts are worse), then findings."""
    metrics = subject.metrics()
    values = [(-1.0 if name in FEWER_IS_WORSE else 1.0) * (value or 0.0) for name, value in metrics.items()]
    return values, sorted(f.rule for f in subject.report.findings)


def failed(
    entry: KernelEntry, arch: str, why: str, source: Location | None, *, case: str | None = None
) -> CheckSubject:
    """Return a check for a kernel that could not be compiled or read.

    Args:
        entry: the configuration entry that requests the check.
        arch: architecture of the check.
        why: the reason.
        source: source line that the reason is about, if known.
        case: the kernel's case, if one was named.
    """
    name = entry.target if case is None else f"{entry.target} {case}"
    # The lines after the first one are the error's hints.
    first, *hints = [" ".join(line.split()) for line in why.splitlines() if line.strip()] or [""]
    reason = " ".join([first, *([f"({' '.join(hints).rstrip('.')})"] if hints else [])])
    return CheckSubject(entry, KernelReport(name=name, arch=arch, source=source or UNSET, notes=[reason]), case, reason)
