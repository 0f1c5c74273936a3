"""The short list: of a ranking, what is worth a look or a measurement.

The first of a ranking are often variants of one tile that a prediction does not tell apart. Measuring eight of them
says less than measuring the best of eight tiles, so that each tile stands once, with its fastest configuration. Where
there are fewer tiles than places, variants follow.
"""

from collections.abc import Sequence

from kprof.knobs import tile_of
from kprof.tuning.candidates import Scored, is_tie


def short_list(ranked: Sequence[Scored], top: int) -> list[int]:
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


def variants(ranked: Sequence[Scored], place: int, shown: Sequence[int]) -> int:
    """Configurations that are left out of a short list for one of it: the same tile, and not distinguished from it."""
    one = ranked[place]
    tile = tile_of(one.config)
    return sum(
        1 + len(other.alike)
        for number, other in enumerate(ranked)
        if number not in shown and tile_of(other.config) == tile and is_tie(one, other)
    )
