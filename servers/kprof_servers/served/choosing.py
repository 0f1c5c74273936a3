"""From the programs of a search to what is proposed: for each batch size, or one configuration for all of them."""

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
"""Beside the proposal, for those who can measure."""
_MOST = 1 << 20
ONE_FOR_ALL = "the model alone, over the same configurations for all rows: the table has one for all of them"


def predicted(one: Evaluation, votes: float | None) -> PredictedConfig:
    """A program as the document has it."""
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
    """The batches with the configuration that is the fastest over all of them: the least product of times.

    Args:
        ranked: each for itself.
        found: the search that they come from, a problem a batch.

    Returns:
        Unchanged where no configuration has a time for every batch.
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
    """A file that is a table for all shapes, with its ranking and, where it is not there, what it needs besides.

    Args:
        file: what came of the lookup.
        entry: keys that lead to the configuration.
        ranked: with one proposal for all batches.
        root: the folder that the server's package is in.
    """
    done = msgspec.structs.replace(file, ranked=list(ranked), basis=ONE_FOR_ALL, entry=list(entry))
    if file.status == "exact":
        return done
    own, _, kind = file.name.partition("-")
    others = [path for path in sorted((root / file.folder).glob(f"gfx*-{kind}")) if path.name != file.name]
    if not others:
        return done
    # The nearest architecture: that with the most of the name in common.
    nearest = max(others, key=lambda path: _same(path.name.partition("-")[0], own))
    try:
        rest = boundary.json_of(boundary.read_bytes(nearest, most=_MOST), dict[str, Any], str(nearest), "a table")
    except KprofError:
        return done
    said = f"all other entries are those of {nearest.name}, for another GPU"
    return msgspec.structs.replace(done, rest=rest, rest_of=nearest.name, notes=[*done.notes, said])


def _same(one: str, other: str) -> int:
    """Characters that two names begin with."""
    return next((place for place, pair in enumerate(zip(one, other, strict=False)) if len(set(pair)) > 1), len(one))


def _by_config(ranked: Sequence[Evaluation]) -> dict[str, Evaluation]:
    """Each configuration with its program's times, those that lead to the same program too."""
    found = {}
    for one in ranked:
        for config in (one.config, *one.alike):
            found[_key(config)] = replace(one, config=config)
    return found


def _key(config: Mapping[str, Any]) -> str:
    return repr(sorted(config.items(), key=str))


def _cost(programs: Sequence[Evaluation]) -> float:
    """Of a program over all batches; what it spills is in its times."""
    return sum(math.log(max(one.time_us or 0.0, 1e-9)) for one in programs)
