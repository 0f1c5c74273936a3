"""The short list: the entries of a ranking that are worth examining or measuring.

The first entries of a ranking are often variants of one tile that a prediction cannot distinguish. Measuring eight of
them is less useful than measuring the best of eight tiles, so each tile appears once, with its fastest
configuration. If there are fewer tiles than places, variants fill the list.
"""

from collections.abc import Sequence

from kprof.knobs import tile_of
from kprof.tuning.candidates import is_tie
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.residuals import informative

COUNT = 10
"""Number of configurations whose measured times are requested to correct the others."""
_LOOKED_AT = 120
"""Maximum number of configurations to choose from, spread evenly over the ranking."""


def short_list(ranked: Sequence[Evaluation], top: int) -> list[int]:
    """Return the short list as ascending positions in a ranking; if entries were measured, return exactly those."""
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
    """Count the configurations that a short-list entry represents: those of its tile with indistinguishable times."""
    one = ranked[place]
    tile = tile_of(one.config)
    return sum(
        1 + len(other.alike)
        for number, other in enumerate(ranked)
        if number not in shown and tile_of(other.config) == tile and is_tie(one, other)
    )


def to_time(ranked: Sequence[Evaluation]) -> list[int]:
    """Return the positions in a ranking of the configurations whose measured times would be most informative.

    Return an empty list if the ranking is short or times are already known.
    """
    timed = [place for place, one in enumerate(ranked) if one.time_us is not None]
    known = any(one.given or one.measured_ms is not None for one in ranked)
    if known or len(timed) <= COUNT:
        return []
    if len(timed) > _LOOKED_AT:
        timed = [timed[place * len(timed) // _LOOKED_AT] for place in range(_LOOKED_AT)]
    chosen = informative([(ranked[place].config, ranked[place].shares) for place in timed], COUNT)
    return sorted(timed[place] for place in chosen)
