"""What a simulation of one CU is given: the paths of its memory accesses, and what it needs to know of the machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True)
class MemoryPath:
    """How a kind of memory access (load, store, scratch) travels.

    Attributes:
        cycles_per_byte: cycles that a byte keeps the CU's share of the memory system.
        latency: cycles from the end of that to the data's arrival.
        queue: accesses with the same number wait for each other.
    """

    cycles_per_byte: float
    latency: float
    queue: int = 0


@dataclass(frozen=True)
class SimulationInput:
    """What a simulation needs to know of machine and program.

    Attributes:
        paths: of loads, stores and scratch accesses.
        issue: cycles between two operations of a wavefront.
        branch: further cycles of a taken branch.
        counters: wait counters that the program uses.
        results: matrix results that are tracked.
        positions: instructions of the program.
        stagger: cycles by which each workgroup begins after the one before.
        blocking_matrix: matrix instructions keep the vector pipe busy, too.
        queues: cycles of work that may stand in front of the LDS, and of the vector cache, before a wavefront cannot
            issue more.
        skew: share of a shared pipe's cycles for all SIMDs that one of them waits when all come at once.
        simds: SIMDs that are simulated; wavefronts are assigned to them round-robin.
        in_flight: bytes of loads that may be on their way to the CU at once.
        spans: loop number to the instructions whose cycles are noted for the loop; all of them for one without.
    """

    paths: Sequence[MemoryPath]
    issue: int
    branch: int
    counters: int
    results: int
    positions: int
    stagger: float
    blocking_matrix: bool
    queues: tuple[float, float]
    skew: float
    simds: int = 1
    in_flight: float = inf
    spans: Mapping[int, range] = field(default_factory=dict)
