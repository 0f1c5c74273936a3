"""How tokens spread over a mixture of experts: drawn at random, the same at every call."""

import random
from collections.abc import Sequence
from functools import cache

SEED = 7
DRAWS = 16


@cache
def rows_of_experts(experts: int, tokens: int, chosen: int, draws: int = DRAWS) -> tuple[tuple[int, ...], ...]:
    """Rows that each expert gets when every token goes to ``chosen`` different ones, in several draws."""
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
    """Blocks of so many rows that the experts need, each of them whole blocks, on average over the draws."""
    return max(1, round(sum(sum(-(-rows // height) for rows in load) for load in draws) / len(draws)))


def experts_of_blocks(load: Sequence[int], height: int, count: int) -> tuple[int, ...]:
    """The expert of each block of rows, with the rows of one draw; the last one again up to ``count``."""
    owners = [expert for expert, rows in enumerate(load) for _ in range(-(-rows // height))]
    return tuple((owners + owners[-1:] * count)[:count])
