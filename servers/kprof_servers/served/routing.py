"""Distribute tokens randomly over the experts of a mixture. The seed is fixed, so results are reproducible."""

import random
from collections.abc import Sequence
from functools import cache

SEED = 7
DRAWS = 16


@cache
def rows_of_experts(experts: int, tokens: int, chosen: int, draws: int = DRAWS) -> tuple[tuple[int, ...], ...]:
    """Return the number of rows of each expert in several random draws. A token goes to ``chosen`` distinct experts."""
    draw = random.Random(SEED)  # noqa: S311 - no secret
    found = []
    for _ in range(draws):
        load = [0] * experts
        for _ in range(tokens):
            for expert in draw.sample(range(experts), chosen):
                load[expert] += 1
        found.append(tuple(load))
    return tuple(found)


def blocks(draws: Sequence[Sequence[int]], height: int) -> int:
    """Return the number of blocks of ``height`` rows that all experts need, averaged over the draws.

    Each expert's last block may be partial.
    """
    return max(1, round(sum(sum(-(-rows // height) for rows in load) for load in draws) / len(draws)))


def experts_of_blocks(load: Sequence[int], height: int, count: int) -> tuple[int, ...]:
    """Return the expert of each of ``count`` row blocks in one draw; blocks beyond those needed get the last expert."""
    owners = [expert for expert, rows in enumerate(load) for _ in range(-(-rows // height))]
    return tuple((owners + owners[-1:] * count)[:count])
