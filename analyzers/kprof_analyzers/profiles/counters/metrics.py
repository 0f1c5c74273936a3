"""Derive metrics from counters.

Constants of formulas: ``ns`` (mean duration), ``cus``, ``xcds``, ``max_waves_per_cu``, ``lds_banks``,
``l1_line`` and ``l2_line`` (bytes), ``hbm_peak``, ``l2_peak``, ``vl1d_peak`` and ``lds_peak`` (GB/s), ``max_clock``
(MHz).
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.output.progress import step
from kprof_analyzers.profiles.counters import formula_language
from kprof_analyzers.profiles.counters.catalogue import Formula, formulas_of
from kprof_analyzers.profiles.counters.kernels import KernelCounters
from kprof_analyzers.profiles.counters.machine import MeasuredGpu

if TYPE_CHECKING:
    from kprof_analyzers.profiles.counters.formula_language import Column

_SLACK = 0.005
# Values may exceed a maximum by this factor, because counting begins before and ends after the timed interval.
_LONGER = 1.05


class Metric(msgspec.Struct, frozen=True, gc=False):
    """One metric of one kernel.

    Attributes:
        formula: definition of the metric.
        value: the value; ``None`` if unknown.
        used: text of the formula that was used.
        missing: counters to collect for a value, for the formula that needs the fewest further counters.
        unknown: constants of the GPU that the formula needs and that are unknown.
        confidence: ``one pass``, ``several passes`` (the counters are from different runs of the kernel), or "" without
            a value.
        flag: problem of the value, or of the counters that it is computed from, in words.
        note: caveat of the formula that was used.
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


def metrics(kernel: KernelCounters, gpu: MeasuredGpu) -> dict[str, Metric]:
    """Return all metrics of the GPU's architecture by id, including metrics without a value."""
    return all_metrics([kernel], lambda _: gpu)[0]


def all_metrics(
    kernels: Sequence[KernelCounters], gpu_of: Callable[[KernelCounters], MeasuredGpu]
) -> list[dict[str, Metric]]:
    """Return the result of :func:`metrics` for each of many kernels.

    Kernels with the same counters in the same passes use the same formulas, which are evaluated for all at once.

    Args:
        kernels: counters of the kernels.
        gpu_of: function that returns the GPU of a kernel.
    """
    groups: dict[Any, list[int]] = defaultdict(list)
    gpus: dict[int, MeasuredGpu] = {}
    for place, kernel in enumerate(kernels):
        gpu = gpu_of(kernel)
        gpus[id(gpu)] = gpu
        groups[id(gpu), kernel.pattern].append(place)
    found: list[dict[str, Metric]] = [{} for _ in kernels]
    with step("computing metrics", len(kernels), "kernels") as so_far:
        for (gpu_id, _), places in groups.items():
            gpu = gpus[gpu_id]
            formulas = formulas_of(gpu.arch)
            table = _Table([kernels[place] for place in places], gpu, formulas)
            for name, formula in formulas.items():
                for place, metric in zip(places, _of_all(formula, table), strict=True):
                    found[place][name] = metric
            so_far.done += len(places)
    return found


def counters_of(text: str, formulas: dict[str, Formula]) -> frozenset[str]:
    """Return the counters that an expression needs, including those of the metrics that it refers to."""
    found: set[str] = set()
    for name in formula_language.parse(text).names:
        if name in formulas:
            found |= counters_of(formulas[name].formulas[0], formulas)
        elif not name.islower():
            found.add(name)
    return frozenset(found)


class _Table:
    """Counters of kernels that have the same counters in the same passes; each counter of a pass is a column."""

    def __init__(self, kernels: Sequence[KernelCounters], gpu: MeasuredGpu, formulas: dict[str, Formula]) -> None:
        self.kernels, self.gpu, self.formulas = kernels, gpu, formulas
        self.first = kernels[0]
        self._columns: dict[tuple[int, str], Column] = {}

    def counter(self, name: str, place: int) -> "Column":
        """Return the column of a counter in a pass."""
        import numpy as np

        if (place, name) not in self._columns:
            values = (kernel.passes[place][name] for kernel in self.kernels)
            self._columns[place, name] = np.fromiter(values, np.float64, len(self.kernels))
        return self._columns[place, name]

    def nanoseconds(self) -> "Column | None":
        """Return the column of mean durations, or ``None`` if they are unknown."""
        import numpy as np

        if self.first.nanoseconds is None:
            return None
        return np.fromiter((kernel.nanoseconds or 0.0 for kernel in self.kernels), np.float64, len(self.kernels))


def _of_all(formula: Formula, table: _Table) -> Sequence[Metric]:
    """Return one metric for each kernel of a table."""
    import numpy as np

    best: _MissingError | None = None
    count = len(table.kernels)
    for text in formula.formulas:
        evaluation = _Evaluation(table, counters_of(text, table.formulas))
        try:
            column = evaluation.of(text)
        except _MissingError as missing:
            best = _nearer(missing, best)
            continue
        confidence = "one pass" if len(evaluation.passes) <= 1 else "several passes"
        note = formula.note if text == formula.formulas[0] else formula.alternative_note or formula.note
        values = [None if value != value else value for value in np.broadcast_to(column, (count,)).tolist()]  # noqa: PLR0124 - NaN
        return [
            Metric(formula, value, text, confidence=confidence, flag=_flag(formula, value, table.gpu), note=note)
            for value in values
        ]
    counters = tuple(sorted(best.counters)) if best else ()
    constants = tuple(sorted(best.constants)) if best else ()
    flag = "; ".join(sorted(best.doubts)) if best else ""
    return [Metric(formula, None, missing=counters, unknown=constants, flag=flag)] * count


def _nearer(one: _MissingError, best: _MissingError | None) -> _MissingError:
    """Return the better error: preferably one without invalid counters, then the one with fewer missing counters."""
    if best is None or (bool(one.doubts), len(one.counters)) < (bool(best.doubts), len(best.counters)):
        return one
    return best


def _flag(formula: Formula, value: float | None, gpu: MeasuredGpu) -> str:
    if value is None:
        return "undefined: the counter in the denominator is 0"
    most = gpu.constants.get(formula.at_most)
    if most is not None and value > _LONGER * most:
        return f"impossible: above {most:,.0f} {formula.unit}; the counters cover more than the time does"
    if formula.bounds is None:
        return ""
    low, high = formula.bounds
    slack = _SLACK * (high - low)
    if low - slack <= value <= high + slack:
        return ""
    return f"impossible: outside {low:g} to {high:g} {formula.unit}; check the counters and the named GPU"


class _Evaluation:
    """Evaluator of one formula over a table. It collects all missing inputs instead of stopping at the first one."""

    def __init__(self, table: _Table, wanted: frozenset[str]) -> None:
        self._table, self._wanted = table, wanted
        self.passes: set[int] = set()

    def of(self, text: str) -> "Column":
        parsed = formula_language.parse(text)
        missing, unknown, doubts = set[str](), set[str](), set[str]()
        values: dict[str, Column] = {}
        for name in parsed.names:
            try:
                values[name] = self._value(name)
            except _MissingError as error:
                missing |= error.counters
                unknown |= error.constants
                doubts |= error.doubts
        if missing or unknown or doubts:
            raise _MissingError(missing, unknown, doubts)
        return formula_language.evaluate(parsed, values)

    def _value(self, name: str) -> "Column":
        import numpy as np

        table = self._table
        if name == "ns":
            durations = table.nanoseconds()
            if durations is None:
                raise _MissingError(set(), {"ns"})
            return durations
        if name in table.formulas:
            return self._metric(name)
        if name.islower():
            if name not in table.gpu.constants:
                raise _MissingError(set(), {name})
            return np.asarray(table.gpu.constants[name], np.float64)
        found = table.first.place(name, self._wanted)
        if found is None:
            doubt = table.first.doubt(name)
            raise _MissingError(set() if doubt else {name}, set(), {doubt} if doubt else set())
        place, own_name = found
        self.passes.add(place)
        return table.counter(own_name, place)

    def _metric(self, name: str) -> "Column":
        best: _MissingError | None = None
        for text in self._table.formulas[name].formulas:
            try:
                return self.of(text)
            except _MissingError as missing:
                best = _nearer(missing, best)
        raise best or _MissingError(set(), {name})
