"""The short list: of a ranking, what is worth a look or a measurement.

The first of a ranking are often variants of one tile that a prediction does not tell apart. Measuring eight of them
says less than measuring the best of eight tiles, so that each tile stands once, with its fastest configuration. Where
there are fewer tiles than places, variants follow.
"""

from collections.abc import Sequence

from kprof.knobs import tile_of
from kprof.tuning.candidates import is_tie
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.residuals import informative

COUNT = 10
"""Configurations whose times are asked for to correct the others."""
_LOOKED_AT = 120
"""Configurations of a ranking, evenly spread, that they are chosen from."""


def short_list(ranked: Sequence[Evaluation], top: int) -> list[int]:
    """Positions in a ranking, in its order; those that were measured are all in it."""
    measured = [i for i, one in enumerate(ranked) if one.measured_ms is not None or one.note]
    if measured:
        return measured
    seen: set[tuple[object, ...]] = set()
    firsts: list[int] = []
    others: list[int] = []
    for place, one in enumerate(ranked):
        tile = tile_of(one.config)
        (others if tile in seen else firsts).append(place)
        seen.add(tile)
    return sorted([*firsts, *others][:top])


def variants(ranked: Sequence[Evaluation], place: int, shown: Sequence[int]) -> int:
    """Configurations that are left out of a short list for one of it: the same tile, and not distinguished from it."""
    one = ranked[place]
    tile = tile_of(one.config)
    return sum(
        1 + len(other.alike)
        for number, other in enumerate(ranked)
        if number not in shown and tile_of(other.config) == tile and is_tie(one, other)
    )


def to_time(ranked: Sequence[Evaluation]) -> list[int]:
    """Positions in a ranking of the configurations whose times tell most of all others; empty where few are left.

    Where times are known already, there is nothing to ask for.
    """
    timed = [place for place, one in enumerate(ranked) if one.time_us is not None]
    known = any(one.given or one.measured_ms is not None for one in ranked)
    if known or len(timed) <= COUNT:
        return []
    if len(timed) > _LOOKED_AT:
        timed = [timed[place * len(timed) // _LOOKED_AT] for place in range(_LOOKED_AT)]
    chosen = informative([(ranked[place].config, ranked[place].shares) for place in timed], COUNT)
    return sorted(timed[place] for place in chosen)
