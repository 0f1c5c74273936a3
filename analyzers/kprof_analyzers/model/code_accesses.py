"""Compute the bytes that a kernel without a TTGIR moves to and from the caches, from its code's addresses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod

from kprof.analysis import KernelFacts
from kprof_analyzers.lane_execution.accesses import ExecutedAccess, executed_accesses, is_access
from kprof_analyzers.lane_execution.slicing import loops_around
from kprof_analyzers.model.launch import Program
from kprof_analyzers.model.trips import Trips


@dataclass(frozen=True)
class CodeAccess:
    """A load or store of the assembly, described as :class:`~kprof_analyzers.model.traffic.Access` describes tiles."""

    position: int
    is_store: bool
    tile_bytes: float
    corners: list[int] | None
    times: float
    live: tuple[bool, ...] | None = None
    run: int | None = None
    span: float | None = None
    fresh: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True)
class CodeTraffic:
    """Accesses of a kernel, and their work relative to an access of consecutive elements by all lanes.

    Attributes:
        accesses: loads and stores with their tiles in each workgroup of ``programs``.
        spread_out: loads and stores with their tiles in each workgroup of ``samples``.
        fetched: bytes moved to or from L2 per byte of an access's lanes, by position.
        addressed: address cycles of an access, relative to an access of consecutive elements, by position.
    """

    accesses: list[CodeAccess]
    spread_out: list[CodeAccess]
    fetched: dict[int, float]
    addressed: dict[int, float]


def code_traffic(
    facts: KernelFacts,
    programs: Sequence[Program],
    samples: Sequence[Program],
    grid: Program,
    trips: Mapping[int, Trips],
    *,
    request: float,
    line: float,
    together: int,
) -> CodeTraffic:
    """Return the accesses of a kernel without a TTGIR, with the bytes that they move to and from L2.

    If only some accesses have known addresses, the others are returned without first addresses (``corners``), and all
    of their lanes are assumed to be active.

    Args:
        facts: the kernel.
        programs: workgroups that run together.
        samples: workgroups from all parts of the launch.
        grid: workgroups of the launch.
        trips: iterations of the kernel's loops.
        request: minimum bytes of a CU's request to L2.
        line: bytes of a line of the vector cache.
        together: number of lanes that the vector cache processes in a cycle.
    """
    found = {access.position: access for access in executed_accesses(facts, [*programs, *samples], grid)}
    lanes = max((len(access.lanes) for access in found.values()), default=0)
    unknown = {i.index for i in facts.program.instructions if lanes and is_access(i)} - found.keys()
    seen: dict[tuple[int, ...], set[int]] = {}
    around = loops_around(facts.program)
    traffic = CodeTraffic([], [], {}, {})
    for block in facts.program.blocks:
        loops = [loop.index for loop in around.get(block.index, ())]
        times = prod(trips[loop].mean if loop in trips else 1.0 for loop in loops)
        loaded = seen.setdefault(tuple(loops), set())
        for at in range(block.start, block.end):
            access, opcode = found.get(at), facts.program.instructions[at].opcode
            size = opcode.bytes_per_lane
            if size and access is None and at in unknown:
                # Accesses with an unknown address move bytes, too: from the same caches as the others, by assumption.
                hidden = CodeAccess(at, opcode.is_store, float(size * lanes), None, times)
                traffic.accesses.append(hidden)
                traffic.spread_out.append(hidden)
            if access is not None and size and any(address is not None for address in access.lanes):
                requests = _requests(access, size, int(request))
                # A workgroup's load finds the data of its earlier loads in the vector cache. L2 joins neighbouring
                # stores of a workgroup.
                moved = request * len(requests - loaded)
                if opcode.is_store:
                    moved = float(size * len({address for address in access.lanes if address is not None}))
                else:
                    loaded |= requests
                traffic.fetched[at] = moved / (size * len(access.lanes))
                traffic.addressed[at] = _lines(access, size, line, together)
                firsts = access.firsts[: len(programs)], access.firsts[len(programs) :]
                for kept, each in zip((traffic.accesses, traffic.spread_out), firsts, strict=True):
                    corners, live = _corners(each, int(request))
                    kept.append(CodeAccess(at, opcode.is_store, moved, corners, times, live))
    return traffic


def _requests(access: ExecutedAccess, size: int, request: int) -> set[int]:
    """Return the numbers of a workgroup's requests to L2, in units of ``request`` bytes."""
    starts = {address for address in access.lanes if address is not None}
    return {n for a in starts for n in range(a // request, (a + size - 1) // request + 1)}


def _lines(access: ExecutedAccess, size: int, line: float, together: int) -> float:
    """Return the mean number of cache lines that ``together`` neighbouring lanes access."""
    whole, lanes = int(line), iter(access.lanes)
    counts = []
    while group := list(islice(lanes, together)):
        counts.append(len({end // whole for a in group if a is not None for end in (a, a + size - 1)}))
    return sum(counts) / len(counts)


def _corners(firsts: Sequence[int | None], request: int) -> tuple[list[int] | None, tuple[bool, ...] | None]:
    """Return the number of each sampled workgroup's first request, and whether each workgroup executes the access."""
    if not firsts or firsts[0] is None:
        return None, None
    live = tuple(address is not None for address in firsts)
    return [(address or 0) // request for address in firsts], None if all(live) else live
