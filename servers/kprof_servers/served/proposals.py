"""Files for a server that does not have them: in its own format, under its own name and folder."""

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
    """The files that the server lacks and that there are proposals for, for each batch size."""
    return [file for file in found.needed if _lacks(file) and _has_all(file)]


def _lacks(file: NeededFile) -> bool:
    """A table without which the kernel is not launched can be written where another architecture's has the rest."""
    return file.status in {"fallback", "default"} or (file.status == "none" and bool(file.rest))


def contents(files: Sequence[NeededFile], server: str = "vllm") -> Iterator[tuple[str, str]]:
    """Path below the server's root and content of each file, and ``runners_up.json`` for those who can measure."""
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
    """As vLLM and SGLang have them: the number of rows, and the nearest is taken."""
    return {str(batch.rows): _written(batch.best) for batch in file.ranked if batch.best is not None}


def _by_bounds(file: NeededFile) -> dict[str, Any]:
    """As AITER's loaders ask for them: bounds that it knows, and one for all rows above; three sizes for experts."""
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
        # Those above it have tiles that this one must not have.
        found |= {f"M_LEQ_{last}": config for rows, config in bests if rows <= last}
    return {**found, "any": bests[-1][1]} if bests else {}


def _in_table(rest: Mapping[str, Any], entry: Sequence[str], config: Mapping[str, Any]) -> dict[str, Any]:
    """A table for all shapes with one of its entries replaced; knobs that are no compiler options stay."""
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
"""``STANDARD_M_BOUNDS`` of AITER's ``gemm_config_utils.py`` at e4048607a5: other bounds are never asked for."""
_MORE_BOUNDS: Mapping[str, tuple[int, ...]] = {"GEMM-AFP4WFP4_PRESHUFFLED": (31,)}
"""Further bounds of a family; AITER asserts that tiles are lower up to them, and higher above."""
_SIZES = ((256, "small_M"), (1024, "medium_M"))
"""As ``moe_config_utils.py`` there has them."""
_BUCKETS: Mapping[str, Callable[[NeededFile], dict[str, Any]]] = {"aiter": _by_bounds}


def _to_measure(batch: RankedBatch) -> list[PredictedConfig]:
    """The proposal and the next ones; what runs today first, where it is predicted to be faster than the proposal."""
    if batch.best is None:
        return []
    today = [batch.runs] if batch.slower and batch.runs is not None else []
    return [*today, batch.best, *batch.runners_up]


def _has_all(file: NeededFile) -> bool:
    """A file with some of its batches only would send the others to far buckets."""
    complete = bool(file.ranked) and all(batch.best is not None for batch in file.ranked)
    if not all(any(b.rows <= last for b in file.ranked) for last in _MORE_BOUNDS.get(file.kernel, ())):
        return False
    # AITER reads all three sizes of a file of experts.
    return complete and (
        file.kernel != _AITER_EXPERTS or len({_size(batch.rows) for batch in file.ranked}) > len(_SIZES)
    )


def _written(one: PredictedConfig) -> dict[str, int | float | str | bool | None]:
    names = [name for name in _ORDER if name in one.config] + sorted(name for name in one.config if name not in _ORDER)
    return {name: one.config[name] for name in names}
