"""Compare the utilisation of matrix units in a loop: a thread trace's figure and the simulation of the same loop.

A trace counts cycles at a lower clock than a timed run, so memory, which has its own clock, takes fewer cycles. The
loop is therefore simulated at the trace's clock, without the power limit of timed runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

from validation.benchmarks.model.compiling import Facts
from validation.benchmarks.model.problem import Problem

if TYPE_CHECKING:
    from kprof.analysis import KernelFacts

TRACED_MHZ = 1250
"""Clock under a thread trace of an MI355X, worked out: 54 to 57 GB/s a CU, which the fastest of the bandwidth-bound
tiles load in timed runs, over the 44 KB in 1,000 cycles that AMD gives for a full vector cache
(docs/tcp_bound_tile_model.md of ROCm/gfx950-gluon-tutorials)."""

IN_FLIGHT, TRIP, PASS = 44 << 10, 1000, 16
"""AMD's closed form (same page): bytes that a CU has on their way at most, cycles that they take, and cycles of a
matrix instruction of 16 x 16 x 32."""


def closed_form(rows: int, columns: int) -> float:
    """Return the share of matrix cycles in the loop of a 16-bit product by four wavefronts, by AMD's closed form.

    Args:
        rows: rows of the tile, whose depth cancels out.
        columns: columns of the tile.
    """
    instructions = rows * columns / (16 * 16 * 32 * 4)
    return min(1.0, PASS * instructions * IN_FLIGHT / (2 * (rows + columns) * TRIP))


def figures(facts: Facts, problem: Problem) -> dict[str, Any]:
    """Return the traced and the simulated share of matrix cycles in the loop of a problem's only launch."""
    (candidate,) = problem.candidates
    (known,) = facts.prepare(candidate.points)
    assert known is not None
    traced, simulated = candidate.matrix_share, matrix_share(known)
    tile = tuple(candidate.config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
    depth = candidate.points[0].shape["K"]
    form = closed_form(int(tile[0]), int(tile[1]))
    return {"tile": (*tile, depth), "matrix_share": traced, "simulated_share": simulated, "closed_form": form}


def matrix_share(facts: "KernelFacts", clock_mhz: float = TRACED_MHZ) -> float:
    """Return the share of cycles that one wavefront's matrix instructions fill in the loop with most matrix work."""
    filled, cycles = loop_cycles(facts, clock_mhz)
    return filled / cycles


def loop_cycles(facts: "KernelFacts", clock_mhz: float) -> tuple[float, float]:
    """Return the matrix cycles of a wavefront and all cycles in an iteration of the loop with most matrix work.

    Args:
        facts: facts of the kernel; a CU has as many workgroups as in its launch.
        clock_mhz: clock of the trace.
    """
    from kprof_analyzers.model import Effects
    from kprof_analyzers.model.kernel import build, simulate
    from kprof_analyzers.model.outline import LoopNode, loops_of
    from kprof_analyzers.model.program import BUSY, KIND, MATRIX

    assert facts.product is not None
    slow = replace(facts, product=replace(facts.product, clock_mhz=clock_mhz))
    model = build(slow, Effects(matrix_power=False))
    run = simulate(model, model.where.resident)

    def matrix(node: LoopNode) -> float:
        ops = (model.code.ops[i] for part in node.body if isinstance(part, range) for i in part)
        return sum(op[BUSY] for op in ops if op[KIND] == MATRIX)

    fullest = max(loops_of(model.nodes), key=matrix)
    return matrix(fullest), run.powered[fullest.loop.index]


def summary(shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the error of simulated shares in percentage points, and how often the fuller kernel is predicted."""
    known = [one for one in shown if one["matrix_share"] is not None]
    off = [100 * (one["simulated_share"] - one["matrix_share"]) for one in known]
    by_tile: dict[Any, list[Mapping[str, Any]]] = {}
    for one in known:
        by_tile.setdefault(one["tile"], []).append(one)
    pairs = [pair for listed in by_tile.values() for pair in combinations(listed, 2)]
    ordered = [
        (first["simulated_share"] < second["simulated_share"]) == (first["matrix_share"] < second["matrix_share"])
        for first, second in pairs
    ]
    if not known:
        return {}
    return {
        "traced": len(known),
        "matrix_share_off_by_points": fmean(map(abs, off)),
        "most_points": max(map(abs, off)),
        "mean_of_signed_points": fmean(off),
        "closed_form_off_by_points": fmean(100 * abs(one["closed_form"] - one["matrix_share"]) for one in known),
        "pairs_of_kernels": len(ordered),
        "order_right": fmean(ordered) if ordered else None,
    }
