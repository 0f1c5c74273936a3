"""Files for a server that does not have them: in its own format, under its own name and folder."""

import json
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from kprof.tuning.servers.document import NeededFile, PredictedConfig, RankedBatch, ServerConfigs

_ORDER = (
    "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "num_warps", "num_stages", "waves_per_eu",
    "matrix_instr_nonkdim", "kpack",
)  # fmt: skip


def proposed(found: ServerConfigs) -> list[NeededFile]:
    """The files that the server lacks and that there are proposals for, for each batch size."""
    return [file for file in found.needed if file.status in {"fallback", "default"} and _has_all(file)]


def contents(files: Sequence[NeededFile]) -> Iterator[tuple[str, str]]:
    """Path below the server's root and content of each file, and ``runners_up.json`` for those who can measure."""
    for file in files:
        content = {str(batch.rows): _written(batch.best) for batch in file.ranked if batch.best is not None}
        yield str(PurePosixPath(file.folder) / file.name), json.dumps(content, indent=4) + "\n"
    others = {
        f"{file.folder}/{file.name}": {
            str(batch.rows): [
                {
                    "predicted_us": one.time_us,
                    "config": _written(one),
                    **({"runs_today": True} if one is batch.runs else {}),
                }
                for one in _to_measure(batch)
            ]
            for batch in file.ranked
        }
        for file in files
    }
    yield "runners_up.json", json.dumps(others, indent=2) + "\n"


def _to_measure(batch: RankedBatch) -> list[PredictedConfig]:
    """The proposal and the next ones; what runs today first, where it is predicted to be faster than the proposal."""
    if batch.best is None:
        return []
    today = [batch.runs] if batch.slower and batch.runs is not None else []
    return [*today, batch.best, *batch.runners_up]


def _has_all(file: NeededFile) -> bool:
    """A file with some of its batches only would send the others to far buckets."""
    return bool(file.ranked) and all(batch.best is not None for batch in file.ranked)


def _written(one: PredictedConfig) -> dict[str, int | float | str | bool | None]:
    names = [name for name in _ORDER if name in one.config] + sorted(name for name in one.config if name not in _ORDER)
    return {name: one.config[name] for name in names}
