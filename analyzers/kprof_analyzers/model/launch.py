"""Distribution of a launch's workgroups over the GPU."""

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
"""The golden ratio less 1: its multiples leave no two fractions close together."""

Program = tuple[int, int, int]


@dataclass(frozen=True)
class Spread:
    """Distribution of a launch's workgroups over the CUs.

    Attributes:
        total: workgroups of the launch.
        grid: workgroups in three axes.
        resident: workgroups on a CU at the same time.
        rounds: full rounds, in each of which every CU has ``resident`` workgroups.
        last: workgroups on the busiest CU in the last round; 0 if the last round is full.
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
            last: whether to return the number for the round in which the busiest CU is not full.
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
        assumptions.append("the occupancy is not known: one workgroup a CU is assumed")
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
    """Return workgroups from the middle of the launch in order of assignment, and the number that run together."""
    most = min(where.total, _MOST_TOGETHER)
    count = min(most, where.active * where.resident)
    first = (where.total - most) // 2 // xcds * xcds
    return _consecutive(first, most, where.grid), count


def samples(where: Spread) -> Sequence[Program]:
    """Return up to 512 workgroups: one of each of as many equal parts of the launch.

    If the parts differ by a workgroup, the place within a part differs from part to part (fractions of the golden
    ratio). The work of workgroups often repeats with their number, and nearly equal distances would meet two cases of
    it only. Parts of one size give their first workgroup: the ranges of times were calibrated that way.
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
    """Return the places in the grid of workgroups by their numbers."""
    wide, high, _ = grid
    return tuple((n % wide, n // wide % high, n // wide // high) for n in numbers)
