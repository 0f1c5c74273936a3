"""Choose candidates for a shape without a tuned file: the server's tuned files for other shapes vote.

Votes of similar shapes have more weight. The method was validated on the files themselves, each left out in turn
(``docs/validation/server_configs.md``). The best configuration is among the first five by votes more often than among
the five most common ones, or among the model's first five.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kprof.errors import KprofError
from kprof_servers.configs.model import Knob
from kprof_servers.configs.reading import read
from kprof_servers.served.devices import ServedGpu

_NAME = re.compile(r"([A-Z])=(\d+),([A-Z])=(\d+),device_name=([^,]+?)(,.*)?\.json")
_AITER = re.compile(r"(?:(gfx[0-9a-f]+)-)?((?:BATCHED_)?GEMM-[A-Z0-9_-]+?)(?:-B=\d+)?-N=(\d+)-K=(\d+)\.json")
_BOUND = re.compile(r"M_[LG]EQ_(\d+)")
_ARCH = re.compile(r"gfx[0-9a-f]+")
_PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True)
class TunedFile:
    """One tuned file.

    Attributes:
        sizes: the two sizes in the file's name.
        device: the GPU in the file's name.
        kind: the rest of the file's name: type and blocks.
        buckets: map from rows to configuration; 0 for all rows.
    """

    sizes: tuple[int, int]
    device: str
    kind: str
    buckets: Mapping[int, Mapping[str, Any]]


def read_all(folders: Iterable[Path], wanted: str) -> list[TunedFile]:
    """Read the files whose names have the same type and blocks as the wanted file's name, but other sizes or GPUs.

    Files that cannot be read are skipped; ``kprof lint`` reports them.
    """
    own = _parsed(Path(wanted))
    if own is None:
        return []
    found = []
    for folder in folders:
        mine = own if own.device else replace(own, device=_arch(folder))
        for path in sorted(folder.glob("*.json")):
            named = _parsed(path)
            if named is None or named.kind != mine.kind:
                continue
            device = named.device or _arch(folder)
            if (named.sizes, device) == (mine.sizes, mine.device):
                continue
            buckets = _buckets(path)
            if buckets:
                found.append(replace(named, device=device, buckets=buckets))
    return found


def _parsed(path: Path) -> TunedFile | None:
    """Parse a file's name; the device is "" if only the folder names it."""
    match = _NAME.fullmatch(path.name)
    if match is not None:
        kind = f"{match[1]}{match[3]}{(match[6] or '').replace(' ', '')}"
        return TunedFile((int(match[2]), int(match[4])), match[5], kind, {})
    match = _AITER.fullmatch(path.name)
    if match is None:
        return None
    return TunedFile((int(match[3]), int(match[4])), match[1] or "", match[2], {})


def _arch(folder: Path) -> str:
    """Return the architecture in the path of one of AITER's folders."""
    return next((part for part in reversed(folder.parts) if _ARCH.fullmatch(part)), "")


def of_gpu(files: Sequence[TunedFile], device: str, gpu: ServedGpu) -> tuple[list[TunedFile], str]:
    """Return the files for any name of a GPU; if there are none, return the files for all AMD GPUs.

    Returns:
        The files, and the names of the GPUs that they are for.
    """
    mine = [file for file in files if file.device == device or (file.device != device and _is(gpu, file.device))]
    chosen = mine or [f for f in files if "AMD" in f.device.upper() or _ARCH.fullmatch(f.device)]
    return chosen, ", ".join(sorted({file.device for file in chosen}))


def votes(files: Sequence[TunedFile], sizes: tuple[int, int], rows: int) -> list[tuple[Mapping[str, Any], float]]:
    """Return configurations with their weights, the highest weight first.

    Each bucket of a file votes for its configuration with the weight ``exp(-d)``. The distance ``d`` is the number of
    doublings between the file's sizes and ``sizes``, plus the doublings between the bucket's rows and ``rows``. A
    bucket for all numbers of rows has no distance in rows.
    """
    found: dict[str, tuple[Mapping[str, Any], float]] = {}
    for file in files:
        away = sum(abs(math.log2(mine / theirs)) for mine, theirs in zip(sizes, file.sizes, strict=True))
        for bucket, config in file.buckets.items():
            weight = math.exp(-away - (abs(math.log2(rows / bucket)) if bucket else 0.0))
            key = repr(sorted(config.items()))
            found[key] = (config, found.get(key, (config, 0.0))[1] + weight)
    return sorted(found.values(), key=lambda vote: (-vote[1], repr(sorted(vote[0].items()))))


def _is(gpu: ServedGpu, device: str) -> bool:
    return "AMD" in device.upper() and gpu.is_named(device)


def _buckets(path: Path) -> dict[int, dict[str, Any]]:
    try:
        config = read(str(path))
    except KprofError:
        return {}
    found: dict[int, dict[str, Any]] = {}
    for bucket in config.buckets if config is not None else ():
        rows = _rows(bucket.path[-1], found)
        knobs = {knob.name: knob.value for knob in bucket.knobs if _is_plain(knob)}
        # Configurations of AITER's Gluon kernels have other knob names and are skipped.
        if rows is not None and "BLOCK_SIZE_M" in knobs:
            found[rows] = knobs
    return found


def _rows(name: str, before: Mapping[int, Any]) -> int | None:
    """Return the number of rows in a bucket's name; None if the name contains no number.

    AITER's ``any`` counts as twice the largest bucket before it, or as 0 (all rows) if there is none.
    """
    if name == "any":
        return 2 * max(before) if before else 0
    match = _BOUND.fullmatch(name)
    digits = match[1] if match is not None else name
    return int(digits) if digits.isdecimal() and int(digits) > 0 else None


def _is_plain(knob: Knob) -> bool:
    return isinstance(knob.value, _PLAIN) and knob.name != "SPLIT_K"
