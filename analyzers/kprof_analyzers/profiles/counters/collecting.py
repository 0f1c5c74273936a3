"""Which counters to collect next, in passes that the hardware can do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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
