"""Define the input of a CU's simulation: paths of memory accesses, and parameters of machine and program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf


@dataclass(frozen=True)
class MemoryPath:
    """Bandwidth and latency of a kind of memory access (load, store, scratch).

    Attributes:
        cycles_per_byte: cycles that the transfer of a byte occupies the CU's share of the memory system.
        latency: cycles from the end of the transfer to the arrival of the data.
        queue: number of the queue; accesses of one queue wait for each other.
    """

    cycles_per_byte: float
    latency: float
    queue: int = 0


@dataclass(frozen=True)
class SimulationInput:
    """Parameters of machine and program for a simulation.

    Attributes:
        paths: paths of loads, stores and scratch accesses.
        issue: cycles between two operations of a wavefront.
        branch: additional cycles of a taken branch.
        counters: number of wait counters that the program uses.
        results: number of matrix results that are tracked.
        positions: number of instructions of the program.
        stagger: cycles between the starts of consecutive workgroups.
        blocking_matrix: whether matrix instructions also occupy the vector pipe.
        queues: maximum cycles of queued work of the LDS and of the vector cache; wavefronts stop issuing above it.
        skew: mean wait of a SIMD if all SIMDs start to use a shared pipe at the same time, divided by the time in which
            the pipe serves all SIMDs.
        simds: number of simulated SIMDs; wavefronts are assigned to them round-robin.
        in_flight: maximum bytes of loads in flight to the CU.
        spans: for each loop number, the range of instructions whose cycles are recorded; all if the loop is missing.
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
