"""Write tuned files that a server lacks, with the format, names and folders that the server expects."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from kprof.kernel_spec import BACKEND_OPTIONS
from kprof_servers.served.document import NeededFile, PredictedConfig, RankedBatch, ServerConfigs

_ORDER = (
    "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "num_warps", "num_stages", "waves_per_eu",
    "matrix_instr_nonkdim", "cache_modifier", "NUM_KSPLIT", "kpack",
)  # fmt: skip


def proposed(found: ServerConfigs) -> list[NeededFile]:
    """Return the files that the server lacks and that have a proposal for each batch size."""
    return [file for file in found.needed if _lacks(file) and _has_all(file)]


def _lacks(file: NeededFile) -> bool:
    """Return whether a file is missing and can be written.

    A required table can be written only if its other entries can be copied from another architecture's table.
    """
    return file.status in {"fallback", "default"} or (file.status == "none" and bool(file.rest))


def contents(files: Sequence[NeededFile], server: str = "vllm") -> Iterator[tuple[str, str]]:
    """Yield each file's path below the server's root and its content.

    The last file is ``runners_up.json``, with further configurations to measure.
    """
    for file in files:
        content = _BUCKETS.get(server, _by_rows)(file)
        yield str(PurePosixPath(file.folder) / file.name), json.dumps(content, indent=4) + "\n"
    others = {
        f"{file.folder}/{file.name}": {
            str(batch.rows): [
                {
                    "predicted_us": one.time_us,
                    **({} if one.measured_us is None else {"measured_us": one.measured_us}),
                    **({"not_measured": one.failure} if one.failure else {}),
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


def _by_rows(file: NeededFile) -> dict[str, Any]:
    """Return the file's content in the format of vLLM and SGLang, which maps numbers of rows to configurations."""
    return {str(batch.rows): _written(batch.best) for batch in file.ranked if batch.best is not None}


def _by_bounds(file: NeededFile) -> dict[str, Any]:
    """Return the file's content in AITER's format.

    The keys are AITER's upper bounds of the number of rows, and ``any`` for more rows. For expert kernels they are
    ``small_M``, ``medium_M`` and ``large_M``. For a table for all shapes, the result is the whole table with one entry
    replaced.
    """
    bests = [(batch.rows, _written(batch.best)) for batch in file.ranked if batch.best is not None]
    if file.kernel == _AITER_EXPERTS:
        return {name: config for rows, config in bests for name in [_size(rows)]}
    if file.entry:
        return _in_table(file.rest, file.entry, bests[-1][1]) if bests else {}
    found = {}
    bounds = sorted({*_BOUNDS, *_MORE_BOUNDS.get(file.kernel, ())})
    for rows, config in bests:
        bound = next((bound for bound in bounds if rows <= bound), None)
        if bound is not None:
            found[f"M_LEQ_{bound}"] = config
    for last in _MORE_BOUNDS.get(file.kernel, ()):
        # AITER allows the tiles of larger batches only above this bound, so the configuration comes from a batch up to
        # it.
        found |= {f"M_LEQ_{last}": config for rows, config in bests if rows <= last}
    return {**found, "any": bests[-1][1]} if bests else {}


def _in_table(rest: Mapping[str, Any], entry: Sequence[str], config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table for all shapes with one entry replaced. Knobs that only the old entry has are kept.

    Compiler options of the old entry are dropped.
    """
    name, *below = entry
    old = rest.get(name)
    if below:
        return {**rest, name: _in_table(old if isinstance(old, dict) else {}, below, config)}
    kept = {knob: value for knob, value in (old or {}).items() if knob not in BACKEND_OPTIONS}
    return {**rest, name: {**kept, **config}}


def _size(rows: int) -> str:
    return next((name for most, name in _SIZES if rows < most), "large_M")


_AITER_EXPERTS = "MoE"
_BOUNDS = (1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
"""``STANDARD_M_BOUNDS`` of AITER's ``gemm_config_utils.py`` at e4048607a5; other bounds are never looked up."""
_MORE_BOUNDS: Mapping[str, tuple[int, ...]] = {"GEMM-AFP4WFP4_PRESHUFFLED": (31,)}
"""Additional bounds by family. AITER asserts that tiles have fewer rows up to such a bound than above it."""
_SIZES = ((256, "small_M"), (1024, "medium_M"))
"""Exclusive upper bounds (rows) and names of the size classes of ``moe_config_utils.py`` at e4048607a5."""
_BUCKETS: Mapping[str, Callable[[NeededFile], dict[str, Any]]] = {"aiter": _by_bounds}


def _to_measure(batch: RankedBatch) -> list[PredictedConfig]:
    """Return the proposal and the next best configurations.

    The current configuration precedes them if it is predicted to be faster than the proposal.
    """
    if batch.best is None:
        return []
    today = [batch.runs] if batch.slower and batch.runs is not None else []
    return [*today, batch.best, *batch.runners_up]


def _has_all(file: NeededFile) -> bool:
    """Return whether every batch has a proposal. A batch without one would use a bucket of a far different size."""
    complete = bool(file.ranked) and all(batch.best is not None for batch in file.ranked)
    if not all(any(b.rows <= last for b in file.ranked) for last in _MORE_BOUNDS.get(file.kernel, ())):
        return False
    # AITER requires all three size classes in a file for experts.
    return complete and (
        file.kernel != _AITER_EXPERTS or len({_size(batch.rows) for batch in file.ranked}) > len(_SIZES)
    )


def _written(one: PredictedConfig) -> dict[str, int | float | str | bool | None]:
    names = [name for name in _ORDER if name in one.config] + sorted(name for name in one.config if name not in _ORDER)
    return {name: one.config[name] for name in names}
