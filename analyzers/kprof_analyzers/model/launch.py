"""Compute how the workgroups of a launch are distributed over the GPU, and choose workgroups to evaluate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod

from kprof.analysis import KernelFacts
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.machine import Machine

_MOST_TOGETHER = 1024
_SAMPLES = 512
_GOLDEN = 0.6180339887498949
"""The golden ratio minus 1. The fractional parts of its multiples are evenly spread and never close together."""

Program = tuple[int, int, int]


@dataclass(frozen=True)
class Spread:
    """Distribution of a launch's workgroups over the CUs.

    Attributes:
        total: workgroups of the launch.
        grid: workgroups in three axes.
        resident: number of workgroups on a CU at the same time.
        rounds: number of full rounds, in each of which every CU has ``resident`` workgroups.
        last: number of workgroups on the busiest CU in a last round that is not full; 0 if there is none.
        active: CUs that have work.
        known: whether the grid is known.
        assumptions: one sentence for each assumed value.
    """

    total: int
    grid: Program
    resident: int
    rounds: float
    last: int
    active: int
    known: bool
    assumptions: tuple[str, ...] = ()

    def running(self, units: int, *, last: bool = False) -> float:
        """Return the mean number of workgroups on the GPU at the same time in full rounds, or in the last round.

        Args:
            units: CUs of the GPU.
            last: whether to return the number for the last round, in which even the busiest CU is not full.
        """
        places = float(units * self.resident)
        if not self.rounds:
            return places
        rest = max(1.0, self.total - self.rounds * places) if self.last else 0.0
        return rest if last else min(places, (self.total - rest) / self.rounds)


def spread(facts: KernelFacts, machine: Machine, effects: Effects) -> Spread:
    """Distribute the workgroups of a launch over the CUs."""
    assumptions: list[str] = []
    most = 1
    if facts.occupancy is not None:
        most = max(1, int(facts.occupancy.workgroups_per_cu))
    else:
        assumptions.append("the occupancy is not known: one workgroup per CU is assumed")
    units = machine.units
    if units is None:
        units = 1
        assumptions.append("the number of CUs is not known: one is assumed")
    if facts.grid is None:
        assumptions.append("the grid is not given: one full round of workgroups is assumed")
        return Spread(
            units * most, (units * most, 1, 1), most, 1.0, 0, units, known=False, assumptions=tuple(assumptions)
        )
    wide, high, deep = [*facts.grid, 1, 1, 1][:3]
    grid = wide, high, deep
    total = max(1, prod(grid))
    resident = min(most, -(-total // units)) if effects.persistent else most
    places = units * resident
    full, rest = divmod(total, places)
    if not effects.wave_quantisation:
        return Spread(total, grid, resident, max(total / places, 1.0), 0, min(units, total), True, tuple(assumptions))
    last = -(-rest // units)
    if last == resident:
        full, last = full + 1, 0
    return Spread(total, grid, resident, float(full), last, min(units, total), True, tuple(assumptions))


def together(where: Spread, xcds: int) -> tuple[Sequence[Program], int]:
    """Return workgroups from the middle of the launch, in order, and how many of them run at the same time."""
    most = min(where.total, _MOST_TOGETHER)
    count = min(most, where.active * where.resident)
    first = (where.total - most) // 2 // xcds * xcds
    return _consecutive(first, most, where.grid), count


def samples(where: Spread) -> Sequence[Program]:
    """Return a sample of up to 512 workgroups, one from each of equally large parts of the launch.

    If some parts have one workgroup more than others, the position within a part changes from part to part, by
    multiples of the golden ratio. The work of workgroups is often periodic in their number, and a sample at nearly
    equal distances would contain only few cases. If all parts have the same size, each part's first workgroup is
    chosen, because the error ranges were calibrated that way.
    """
    return _sampled(min(where.total, _SAMPLES), where.total, where.grid)


@lru_cache(maxsize=16)
def _sampled(count: int, total: int, grid: Program) -> tuple[Program, ...]:
    step = _GOLDEN if total % count else 0.0
    ends = [n * total // count for n in range(count + 1)]
    return _programs([a + int(n * step % 1 * (b - a)) for n, (a, b) in enumerate(pairwise(ends))], grid)


@lru_cache(maxsize=16)
def _consecutive(first: int, count: int, grid: Program) -> tuple[Program, ...]:
    return _programs(range(first, first + count), grid)


def _programs(numbers: Iterable[int], grid: Program) -> tuple[Program, ...]:
    """Return the grid coordinates of workgroups with the given numbers."""
    wide, high, _ = grid
    return tuple((n % wide, n // wide % high, n // wide // high) for n in numbers)
