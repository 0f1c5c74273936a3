"""Turn the results of a search into proposals: one per batch size, or one configuration for all batch sizes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.errors import KprofError
from kprof.inputs import boundary
from kprof.tuning.candidates import is_tie
from kprof.tuning.evaluation import Evaluation
from kprof_servers.served.document import NeededFile, PredictedConfig, RankedBatch

if TYPE_CHECKING:
    from kprof.tuning.search_result import SearchResult

RUNNERS_UP = 4
"""Number of configurations that are listed in addition to the proposal, as candidates for a measurement."""
_MOST = 1 << 20
ONE_FOR_ALL = "the model alone, over the same configurations for all rows: the table has one configuration"


def predicted(one: Evaluation, votes: float | None) -> PredictedConfig:
    """Convert the evaluation of a configuration to the document's structure.

    Args:
        one: the evaluation.
        votes: the configuration's share of the votes; ``None`` without votes.
    """
    time = one.time_us or 0.0
    spills = one.resources.get("vgpr_spills", 0)
    return PredictedConfig(
        dict(one.config),
        round(time, 3),
        round(time if one.low_us is None else one.low_us, 3),
        round(time if one.high_us is None else one.high_us, 3),
        spills if isinstance(spills, int) else 0,
        None if votes is None else round(votes, 3),
    )


def for_all_rows(ranked: Sequence[RankedBatch], found: "SearchResult") -> list[RankedBatch]:
    """Propose one configuration for all batches: the one with the smallest product of its times over the batches.

    Args:
        ranked: the batches, each ranked on its own.
        found: the search that ranked them, with one problem per batch.

    Returns:
        The batches, unchanged if no configuration has a time for every batch.
    """
    times = [_by_config([one for one in each if one.time_us is not None]) for each in found.ranked]
    common = [key for key in times[0] if all(key in each for each in times)] if times else []
    order = sorted(common, key=lambda key: _cost([each[key] for each in times]))
    if not order:
        return list(ranked)
    done = []
    for place, batch in enumerate(ranked):
        one, own = times[place][order[0]], found.own[place]
        tie = own is not None and own.time_us is not None and is_tie(one, own) and is_tie(own, one)
        others = [predicted(times[place][key], None) for key in order[1 : 1 + RUNNERS_UP]]
        best = predicted(one, None)
        done.append(msgspec.structs.replace(batch, best=best, tie=tie, runners_up=others))
    return done


def in_table(file: NeededFile, entry: Sequence[str], ranked: Sequence[RankedBatch], root: Path) -> NeededFile:
    """Add the ranking to a file that is a table for all shapes.

    If the server has no such file, also copy the other entries from the table of the most similar architecture.

    Args:
        file: the file as looked up.
        entry: keys of the configuration in the table.
        ranked: the batches, with one proposal for all of them.
        root: the folder that contains the server's package.
    """
    done = msgspec.structs.replace(file, ranked=list(ranked), basis=ONE_FOR_ALL, entry=list(entry))
    if file.status == "exact":
        return done
    own, _, kind = file.name.partition("-")
    others = [path for path in sorted((root / file.folder).glob(f"gfx*-{kind}")) if path.name != file.name]
    if not others:
        return done
    # The architecture whose name has the longest common prefix with this one is assumed to be the most similar.
    nearest = max(others, key=lambda path: _same(path.name.partition("-")[0], own))
    try:
        rest = boundary.json_of(boundary.read_bytes(nearest, most=_MOST), dict[str, Any], str(nearest), "a table")
    except KprofError:
        return done
    said = f"all other entries are those of {nearest.name}, for another GPU"
    return msgspec.structs.replace(done, rest=rest, rest_of=nearest.name, notes=[*done.notes, said])


def _same(one: str, other: str) -> int:
    """Return the length of the common prefix of two names."""
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), len(one))


def _by_config(ranked: Sequence[Evaluation]) -> dict[str, Evaluation]:
    """Map each configuration to the evaluation of its program. Several configurations may compile to one program."""
    found = {}
    for one in ranked:
        for config in (one.config, *one.alike):
            found[_key(config)] = replace(one, config=config)
    return found


def _key(config: Mapping[str, Any]) -> str:
    return repr(sorted(config.items(), key=str))


def _cost(programs: Sequence[Evaluation]) -> float:
    """Return the sum of the logarithms of the times in all batches. The times already include the cost of spills."""
    return sum(math.log(max(one.time_us or 0.0, 1e-9)) for one in programs)
