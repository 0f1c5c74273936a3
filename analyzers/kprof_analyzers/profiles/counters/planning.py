"""Which counters decide what is asked about a kernel, and in which passes they can be collected."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kprof.hardware.machine import Architecture
from kprof_analyzers.profiles.counters.catalogue import Formula, formulas_of
from kprof_analyzers.profiles.counters.metrics import counters_of

LIMITS: Mapping[str, int] = {
    "SQ": 8, "TCC": 4, "TCP": 4, "TA": 2, "TD": 2, "GRBM": 2, "SPI": 6, "CPC": 2, "CPF": 2, "GL2C": 4,
}  # fmt: skip
"""Counters of one hardware block that one pass can count; from rocprofiler-compute's per-GPU tables."""
_ACCUMULATED = {
    "SQ_LEVEL_WAVES_ACCUM": "MeanOccupancyPerCU",
    "SQ_INST_LEVEL_VMEM_ACCUM": "VmemLatency",
    "SQ_INST_LEVEL_SMEM_ACCUM": "SmemLatency",
    "SQ_INST_LEVEL_LDS_ACCUM": "LdsLatency",
    "SQ_IFETCH_LEVEL_ACCUM": "InstrFetchLatency",
}
"""Time integrals cannot be asked for by name; these derived counters contain them."""
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
    """Counters that can be counted together, in alphabetical order."""

    counters: tuple[str, ...]

    @property
    def option(self) -> str:
        """The option for rocprofv3."""
        return f"--pmc {' '.join(self.counters)}"

    @property
    def line(self) -> str:
        """The line for an input file (``rocprofv3 -i``)."""
        return f"pmc: {' '.join(self.counters)}"


def block_of(counter: str) -> str:
    """The hardware block: ``SQC_DCACHE_REQ`` is counted by ``SQ``."""
    prefix = counter.split("_", 1)[0]
    return "SQ" if prefix.startswith("SQ") else prefix


def _cost(counter: str) -> tuple[tuple[str, int], ...]:
    return _DERIVED.get(counter, ((block_of(counter), 1),))


def passes(counters: Iterable[str]) -> list[Pass]:
    """Counters in as few passes as first-fit finds, a whole formula's counters together where they fit.

    Args:
        counters: names as in formulas; repeated ones are asked for once.
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
