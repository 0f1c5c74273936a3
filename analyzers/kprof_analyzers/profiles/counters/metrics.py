"""Derived metrics: from what was counted to what people ask for.

Constants that formulas may use: ``ns`` (mean duration), ``cus``, ``xcds``, ``max_waves_per_cu``, ``lds_banks``,
``l1_line`` and ``l2_line`` (bytes), ``hbm_peak``, ``l2_peak``, ``vl1d_peak`` and ``lds_peak`` (GB/s), ``max_clock``
(MHz).
"""

from dataclasses import dataclass

from kprof_analyzers.profiles.counters import expression
from kprof_analyzers.profiles.counters.catalogue import Formula, formulas_of
from kprof_analyzers.profiles.counters.kernels import KernelCounters
from kprof_analyzers.profiles.counters.machine import Gpu

_SLACK = 0.005
# Counting begins before and ends behind what is timed.
_LONGER = 1.05


@dataclass(frozen=True)
class Metric:
    """One metric of one kernel.

    Attributes:
        formula: what it is.
        value: ``None`` when it cannot be told.
        used: the formula that was used.
        missing: counters to collect; for the alternative that needs fewest.
        unknown: constants of the GPU that are not known.
        confidence: ``one pass``, ``several passes`` (its counters are of different runs of the kernel) or ``""``.
        flag: what is wrong with the value, or with the counters that it would be of, in words.
        note: what to keep in mind about the formula used.
    """

    formula: Formula
    value: float | None
    used: str = ""
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    confidence: str = ""
    flag: str = ""
    note: str = ""


class _MissingError(Exception):
    def __init__(self, counters: set[str], constants: set[str], doubts: set[str] | None = None) -> None:
        super().__init__()
        self.counters, self.constants = counters, constants
        self.doubts = doubts or set()


def metrics(kernel: KernelCounters, gpu: Gpu) -> dict[str, Metric]:
    """Every metric of the GPU's architecture by id, those that cannot be told included."""
    formulas = formulas_of(gpu.arch.name)
    return {name: _one(formula, formulas, kernel, gpu) for name, formula in formulas.items()}


def counters_of(text: str, formulas: dict[str, Formula]) -> frozenset[str]:
    """Counters that an expression needs, through other metrics too."""
    found: set[str] = set()
    for name in expression.names(expression.parse(text)):
        if name in formulas:
            found |= counters_of(formulas[name].formulas[0], formulas)
        elif not name.islower():
            found.add(name)
    return frozenset(found)


def _one(formula: Formula, formulas: dict[str, Formula], kernel: KernelCounters, gpu: Gpu) -> Metric:
    best: _MissingError | None = None
    for text in formula.formulas:
        evaluation = _Evaluation(formulas, kernel, gpu, counters_of(text, formulas))
        try:
            value = evaluation.of(text)
        except _MissingError as missing:
            best = _nearer(missing, best)
            continue
        confidence = "one pass" if len(evaluation.passes) <= 1 else "several passes"
        note = formula.note if text == formula.formulas[0] else formula.alternative_note or formula.note
        return Metric(formula, value, text, confidence=confidence, flag=_flag(formula, value, gpu), note=note)
    counters = tuple(sorted(best.counters)) if best else ()
    constants = tuple(sorted(best.constants)) if best else ()
    flag = "; ".join(sorted(best.doubts)) if best else ""
    return Metric(formula, None, missing=counters, unknown=constants, flag=flag)


def _nearer(one: _MissingError, best: _MissingError | None) -> _MissingError:
    """The one that lacks fewer counters. Counters that were collected in vain are not asked for again."""
    if best is None or (bool(one.doubts), len(one.counters)) < (bool(best.doubts), len(best.counters)):
        return one
    return best


def _flag(formula: Formula, value: float | None, gpu: Gpu) -> str:
    if value is None:
        return "nothing to divide by: the counter below the line is 0"
    most = gpu.constants.get(formula.at_most)
    if most is not None and value > _LONGER * most:
        return f"impossible: above {most:,.0f} {formula.unit}; the counters cover more than the time does"
    if formula.bounds is None:
        return ""
    low, high = formula.bounds
    slack = _SLACK * (high - low)
    if low - slack <= value <= high + slack:
        return ""
    return f"impossible: outside {low:g} to {high:g} {formula.unit}; the counters or the GPU named do not fit"


class _Evaluation:
    """One formula over one kernel; collects everything that is missing instead of stopping at the first."""

    def __init__(self, formulas: dict[str, Formula], kernel: KernelCounters, gpu: Gpu, wanted: frozenset[str]) -> None:
        self._formulas, self._kernel, self._gpu, self._wanted = formulas, kernel, gpu, wanted
        self.passes: set[int] = set()

    def of(self, text: str) -> float | None:
        node = expression.parse(text)
        missing, unknown, doubts = set[str](), set[str](), set[str]()
        values: dict[str, float | None] = {}
        for name in set(expression.names(node)):
            try:
                values[name] = self._value(name)
            except _MissingError as error:
                missing |= error.counters
                unknown |= error.constants
                doubts |= error.doubts
        if missing or unknown or doubts:
            raise _MissingError(missing, unknown, doubts)
        if any(value is None for value in values.values()):
            return None
        return expression.evaluate(node, lambda name: values[name] or 0.0)

    def _value(self, name: str) -> float | None:
        if name == "ns":
            if self._kernel.nanoseconds is None:
                raise _MissingError(set(), {"ns"})
            return self._kernel.nanoseconds
        if name in self._formulas:
            return self._metric(name)
        if name.islower():
            if name not in self._gpu.constants:
                raise _MissingError(set(), {name})
            return self._gpu.constants[name]
        found = self._kernel.value(name, self._wanted)
        if found is None:
            doubt = self._kernel.doubt(name)
            raise _MissingError(set() if doubt else {name}, set(), {doubt} if doubt else set())
        self.passes.add(found[1])
        return found[0]

    def _metric(self, name: str) -> float | None:
        best: _MissingError | None = None
        for text in self._formulas[name].formulas:
            try:
                return self.of(text)
            except _MissingError as missing:
                best = _nearer(missing, best)
        raise best or _MissingError(set(), {name})
