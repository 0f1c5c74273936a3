"""Which counters decide what is asked about a kernel, and in which passes they can be collected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kprof.hardware.machine import Architecture
from kprof_analyzers.profiles.counters.catalogue import Formula, formulas_of
from kprof_analyzers.profiles.counters.collecting import Pass, block_of, passes
from kprof_analyzers.profiles.counters.metrics import counters_of

# Numbers of the judgement that are other numbers' metrics.
_OTHER_NAMES = {"waves_per_simd": "wavefronts_in_flight"}
OF_TRACE = frozenset(
    {"cus", "computed_waves_per_simd", "dispatches", "mean_ns", "scratch_bytes", "time_share", "rank_in_trace",
     "workgroups"}
)  # fmt: skip
"""Numbers that a kernel trace and the compiled kernel tell without counters."""


@dataclass(frozen=True)
class CounterQuestion:
    """What is asked, and the counters that decide it.

    Attributes:
        name: a finding's rule, or a metric.
        about: in words.
        numbers: that decide it.
        counters: to collect for them; empty where a kernel trace alone decides.
        uncounted: numbers that cannot be counted on the architecture.
    """

    name: str
    about: str
    numbers: tuple[str, ...]
    counters: tuple[str, ...]
    uncounted: tuple[str, ...]


@dataclass(frozen=True)
class CollectionPlan:
    """How the counters of some questions are collected.

    Attributes:
        arch: name of the architecture.
        questions: what is asked.
        passes: each is one run of the program.
    """

    arch: str
    questions: Sequence[CounterQuestion]
    passes: Sequence[Pass]

    @property
    def blocks(self) -> list[str]:
        """Hardware blocks of the counters, as rocprof-compute's ``--block`` takes them."""
        return sorted({block_of(counter) for question in self.questions for counter in question.counters})


def question(name: str, about: str, numbers: Iterable[str], arch: Architecture) -> CounterQuestion:
    """Return the counters that decide some numbers.

    Raises:
        KprofError: the architecture has no formulas.
    """
    formulas = formulas_of(arch)
    wanted = tuple(dict.fromkeys(numbers))
    counters: dict[str, None] = {}
    uncounted = []
    for number in wanted:
        found = _counters(number, formulas)
        if found is None:
            uncounted.append(number)
        else:
            counters.update(dict.fromkeys(found))
    return CounterQuestion(name, about, wanted, tuple(counters), tuple(uncounted))


def plan(questions: Iterable[CounterQuestion], arch: Architecture) -> CollectionPlan:
    """Put the counters of all questions into as few passes as first-fit finds."""
    found = list({each.name: each for each in questions}.values())
    return CollectionPlan(arch.name, found, passes(counter for each in found for counter in each.counters))


def _counters(number: str, formulas: Mapping[str, Formula]) -> list[str] | None:
    """Return the counters of a number, none for one of a trace; ``None`` where nothing counts it."""
    if number in OF_TRACE:
        return []
    formula = formulas.get(_OTHER_NAMES.get(number, number))
    return None if formula is None else sorted(counters_of(formula.formulas[0], dict(formulas)))
