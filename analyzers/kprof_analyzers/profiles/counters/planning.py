"""Plan counter collection: select the counters that answer a question, and distribute them over passes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kprof.hardware.machine import Architecture
from kprof_analyzers.profiles.counters.catalogue import Formula, formulas_of
from kprof_analyzers.profiles.counters.metrics import counters_of

LIMITS: Mapping[str, int] = {
    "SQ": 8, "TCC": 4, "TCP": 4, "TA": 2, "TD": 2, "GRBM": 2, "SPI": 6, "CPC": 2, "CPF": 2, "GL2C": 4,
}  # fmt: skip
"""Maximum number of counters that a hardware block can count in one pass, from rocprofiler-compute's tables by GPU."""
_ACCUMULATED = {
    "SQ_LEVEL_WAVES_ACCUM": "MeanOccupancyPerCU",
    "SQ_INST_LEVEL_VMEM_ACCUM": "VmemLatency",
    "SQ_INST_LEVEL_SMEM_ACCUM": "SmemLatency",
    "SQ_INST_LEVEL_LDS_ACCUM": "LdsLatency",
    "SQ_IFETCH_LEVEL_ACCUM": "InstrFetchLatency",
}
"""Map from each counter that integrates a quantity over time to the derived counter that contains it.

rocprofv3 cannot collect such a counter by its own name.
"""
_DERIVED: Mapping[str, tuple[tuple[str, int], ...]] = {
    "MeanOccupancyPerCU": (("SQ", 2), ("GRBM", 1)),
    "VmemLatency": (("SQ", 3),),
    "SmemLatency": (("SQ", 3),),
    "LdsLatency": (("SQ", 3),),
    "InstrFetchLatency": (("SQ", 3),),
    "FETCH_SIZE": (("TCC", 3),),
    "WRITE_SIZE": (("TCC", 2),),
    "L2CacheHit": (("TCC", 2),),
    "OccupancyPercent": (("SQ", 1), ("GRBM", 1)),
    "MfmaUtil": (("SQ", 1), ("GRBM", 1)),
}


@dataclass(frozen=True)
class Pass:
    """Counters that can be collected in one pass, in alphabetical order."""

    counters: tuple[str, ...]

    @property
    def option(self) -> str:
        """Option of rocprofv3 that collects these counters."""
        return f"--pmc {' '.join(self.counters)}"

    @property
    def line(self) -> str:
        """Line for an input file (``rocprofv3 -i``) that collects these counters."""
        return f"pmc: {' '.join(self.counters)}"


def block_of(counter: str) -> str:
    """Return the hardware block of a counter, for example ``SQ`` for ``SQC_DCACHE_REQ``."""
    prefix = counter.split("_", 1)[0]
    return "SQ" if prefix.startswith("SQ") else prefix


def _cost(counter: str) -> tuple[tuple[str, int], ...]:
    return _DERIVED.get(counter, ((block_of(counter), 1),))


def passes(counters: Iterable[str]) -> list[Pass]:
    """Distribute counters over passes by first fit, so that a formula's counters are in one pass if possible.

    Args:
        counters: names as in formulas; repeated names are allowed.
    """
    wanted = dict.fromkeys(_ACCUMULATED.get(counter, counter) for counter in counters)
    bins: list[tuple[list[str], dict[str, int]]] = []
    for counter in wanted:
        cost = _cost(counter)
        place = next((one for one in bins if _fits(cost, one[1])), None)
        if place is None:
            place = ([], {})
            bins.append(place)
        members, used = place
        members.append(counter)
        for block, need in cost:
            used[block] = used.get(block, 0) + need
    return [Pass(tuple(sorted(members))) for members, _ in bins]


def _fits(cost: tuple[tuple[str, int], ...], used: Mapping[str, int]) -> bool:
    return all(used.get(block, 0) + need <= LIMITS.get(block, 1) for block, need in cost)


# Map from a name in MeasuredNumbers to the metric that the number is computed from, if the names differ.
_OTHER_NAMES = {"waves_per_simd": "wavefronts_in_flight"}
OF_TRACE = frozenset(
    {"cus", "computed_waves_per_simd", "dispatches", "mean_ns", "scratch_bytes", "time_share", "rank_in_trace",
     "workgroups"}
)  # fmt: skip
"""Numbers that come from a kernel trace or the compiled kernel and need no counters."""


@dataclass(frozen=True)
class CounterQuestion:
    """A question about a kernel, and the counters that answer it.

    Attributes:
        name: identifier of a rule or of a metric.
        about: the question in words.
        numbers: names of the measured numbers that answer the question.
        counters: counters to collect for the numbers; empty if a kernel trace is sufficient.
        uncounted: numbers that cannot be counted on the architecture.
    """

    name: str
    about: str
    numbers: tuple[str, ...]
    counters: tuple[str, ...]
    uncounted: tuple[str, ...]


@dataclass(frozen=True)
class CollectionPlan:
    """Plan for collecting the counters that answer some questions.

    Attributes:
        arch: name of the architecture.
        questions: the questions.
        passes: passes, each of which is one run of the program.
    """

    arch: str
    questions: Sequence[CounterQuestion]
    passes: Sequence[Pass]

    @property
    def blocks(self) -> list[str]:
        """Hardware blocks of the counters, as arguments of rocprof-compute's ``--block``."""
        return sorted({block_of(counter) for question in self.questions for counter in question.counters})


def question(name: str, about: str, numbers: Iterable[str], arch: Architecture) -> CounterQuestion:
    """Return a question with the counters that determine its numbers.

    Raises:
        KprofError: if the architecture has no formulas.
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
    """Distribute the counters of all questions over passes by first fit."""
    found = list({each.name: each for each in questions}.values())
    return CollectionPlan(arch.name, found, passes(counter for each in found for counter in each.counters))


def _counters(number: str, formulas: Mapping[str, Formula]) -> list[str] | None:
    """Return the counters that determine a number; ``None`` if no counters do.

    The list is empty for a number that needs no counters (see :data:`OF_TRACE`).
    """
    if number in OF_TRACE:
        return []
    formula = formulas.get(_OTHER_NAMES.get(number, number))
    return None if formula is None else sorted(counters_of(formula.formulas[0], dict(formulas)))
