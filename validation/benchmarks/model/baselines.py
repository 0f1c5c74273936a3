"""Baselines that the model must beat: resources alone, and the configuration that wins most often."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from validation.benchmarks.model.problem import Candidate, Problem

_L2_GBS = 17000.0
"""Sustained L2 bandwidth used if the hardware file has none: that of the MI300X."""


def _dimension(config: Mapping[str, Any], side: str) -> int:
    return int(config.get(f"BLOCK_{side}") or config.get(f"BLOCK_SIZE_{side}") or 1)


def roofline_us(problem: Problem) -> float:
    """Return the least time at the data sheet's matrix rate and HBM bandwidth, in microseconds.

    A kernel can only be faster if its data is in the Infinity Cache before the launch: see the report's note.
    """
    return max(_matrix_us(problem.product, problem.rate, problem.flops), _memory_us(problem.product, problem.bytes))


def matrix_floor_us(problem: Problem, candidate: Candidate) -> float:
    """Return the time of one workgroup's matrix instructions at the data sheet's rate, in microseconds.

    A wavefront has its SIMD's matrix unit to itself, and everything else takes no time. A published time below this
    bound therefore cannot belong to the configuration, whatever its code. A workgroup has a part of K of one tile.
    If the configuration sets the number of workgroups that process all tiles (``GRID``), it has its share of all
    iterations, at least one.
    """
    from kprof.hardware.machine import find_product, load

    ((m, n, k, count, _),), config = problem.sides, candidate.points[0].config
    sides = [_dimension(config, side) for side in "MNK"]
    down, across, depth = (-(-size // block) for size, block in zip((m, n, k), sides, strict=True))
    grid, parts = config.get("GRID"), config.get("SPLIT_K") or 1
    iterations = -(-down * across * depth * count // grid) if grid else -(-depth // parts)
    found = find_product(problem.product)
    if found is None or not found.compute_units:
        return 0.0
    units = load(found.arch).occupancy.simds_per_cu
    flops = 2.0 * iterations * sides[0] * sides[1] * sides[2]
    return _matrix_us(
        problem.product, problem.rate, flops * found.compute_units * units / min(units, config["num_warps"])
    )


def resource_us(problem: Problem, candidate: Candidate) -> float:
    """Return the time of a resource-bound model: whole tiles at the matrix peak, HBM bytes once, operands from L2."""
    flops = moved = 0.0
    for point, (m, n, k, count, size) in zip(candidate.points, problem.sides, strict=False):
        block_m, block_n, block_k = (_dimension(point.config, side) for side in "MNK")
        blocks = point.shape.get("blocks")
        down = blocks[block_m] if blocks else -(-m // block_m)
        tiles = down * -(-n // block_n) * count
        depth = -(-k // block_k) * block_k
        flops += 2.0 * tiles * block_m * block_n * depth
        moved += float(tiles) * (block_m + block_n) * depth * size
    l2 = moved / (_l2_gbs(problem.product) * 1e3)
    return max(_matrix_us(problem.product, problem.rate, flops), _memory_us(problem.product, problem.bytes), l2)


def most_common(problems: Sequence[Problem], but: Problem) -> Mapping[str, Any] | None:
    """Return the configuration that wins most of the other problems: fastest measured, or published as the winner."""
    wins: Counter[str] = Counter()
    configs: dict[str, Mapping[str, Any]] = {}
    for problem in problems:
        if problem is but:
            continue
        best = min(
            problem.candidates, key=lambda c: (not c.winner, c.time_us if c.time_us is not None else float("inf"))
        )
        key = _key(best.config)
        wins[key] += 1
        configs[key] = best.config
    return configs[wins.most_common(1)[0][0]] if wins else None


def share_of_common(problems: Sequence[Problem], winner: Mapping[str, Any], first: int = 1) -> float:
    """Return how likely a winner is among the configurations that win most problems of the table, including this one.

    Counting the problem itself favours this baseline. Without it, however, every winner would have one win less than
    configurations that win equally often, so the most common configuration of the others would never be the winner.
    Configurations that win equally often are chosen with equal probability.

    Args:
        problems: problems of the table.
        winner: the searched configuration.
        first: number of chosen configurations.
    """
    wins = Counter(_key(next(c.config for c in one.candidates if c.winner)) for one in problems if _has_winner(one))
    mine = wins[_key(winner)]
    if not mine:
        return 0.0
    before = sum(count > mine for count in wins.values())
    equal = sum(count == mine for count in wins.values())
    return min(1.0, max(0, first - before) / equal)


def _has_winner(problem: Problem) -> bool:
    return any(candidate.winner for candidate in problem.candidates)


def _key(config: Mapping[str, Any]) -> str:
    return str(sorted((name, str(value)) for name, value in config.items()))


def _matrix_us(product: str, rate: str, flops: float) -> float:
    from kprof.hardware.machine import find_product

    if not rate:
        return 0.0
    found = find_product(product)
    peak = None if found is None else found.peaks.get(f"matrix_{rate}") or found.peaks.get("matrix_fp16")
    return 0.0 if not peak else flops / (peak * 1e6)


def _memory_us(product: str, moved: float) -> float:
    from kprof.hardware.machine import find_product

    found = find_product(product)
    level = None if found is None else found.memory.get("hbm")
    gbs = None if level is None else level.bandwidth_gbs
    return 0.0 if not gbs else moved / (gbs * 1e3)


def _l2_gbs(product: str) -> float:
    from kprof.hardware.machine import find_product

    found = find_product(product)
    level = None if found is None else found.memory.get("l2")
    return (level.sustained_gbs if level is not None else None) or _L2_GBS
