"""What a server's tuned files for other shapes say of one that has none: a weighted vote of the nearest.

Compared with the files themselves, each left out in turn (``docs/validation/server_configs.md``): the winner is among
the first five votes more often than among the five most common configurations, and than among the model's first five.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kprof.errors import KprofError
from kprof.tuning.configs.model import Knob
from kprof.tuning.configs.reading import read
from kprof.tuning.servers.devices import ServedGpu

_NAME = re.compile(r"([A-Z])=(\d+),([A-Z])=(\d+),device_name=([^,]+?)(,.*)?\.json")
_PLAIN = (bool, int, float, str)


@dataclass(frozen=True)
class TunedFile:
    """One tuned file.

    Attributes:
        sizes: the two in its name.
        device: the GPU in its name.
        kind: what follows: type and blocks.
        buckets: rows to configuration.
    """

    sizes: tuple[int, int]
    device: str
    kind: str
    buckets: Mapping[int, Mapping[str, Any]]


def read_all(folders: Iterable[Path], wanted: str) -> list[TunedFile]:
    """The files of some folders whose names have the keys and the kind of one that is wanted, but not its sizes.

    Files that cannot be read are left out: ``kprof lint-configs`` is about them.
    """
    own = _NAME.fullmatch(wanted)
    if own is None:
        return []
    found = []
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            match = _NAME.fullmatch(path.name)
            if match is None or (match[1], match[3], _kind(match)) != (own[1], own[3], _kind(own)):
                continue
            if match.group(2, 4) == own.group(2, 4) and match[5] == own[5]:
                continue
            buckets = _buckets(path)
            if buckets:
                found.append(TunedFile((int(match[2]), int(match[4])), match[5], _kind(match), buckets))
    return found


def of_gpu(files: Sequence[TunedFile], device: str, gpu: ServedGpu) -> tuple[list[TunedFile], str]:
    """Those for a GPU, under any of its names; where there are none, those for all AMD GPUs.

    Returns:
        The files, and the names of the GPUs that they are for.
    """
    mine = [file for file in files if file.device == device or (file.device != device and _is(gpu, file.device))]
    chosen = mine or [file for file in files if "AMD" in file.device.upper()]
    return chosen, ", ".join(sorted({file.device for file in chosen}))


def votes(files: Sequence[TunedFile], sizes: tuple[int, int], rows: int) -> list[tuple[Mapping[str, Any], float]]:
    """Configurations with their weight, the heaviest first.

    A bucket counts the less, the further its shape and its rows are away: ``exp(-d)`` with ``d`` the doublings between
    them in each size and in the rows.
    """
    found: dict[str, tuple[Mapping[str, Any], float]] = {}
    for file in files:
        away = sum(abs(math.log2(mine / theirs)) for mine, theirs in zip(sizes, file.sizes, strict=True))
        for bucket, config in file.buckets.items():
            weight = math.exp(-away - abs(math.log2(rows / bucket)))
            key = repr(sorted(config.items()))
            found[key] = (config, found.get(key, (config, 0.0))[1] + weight)
    return sorted(found.values(), key=lambda vote: (-vote[1], repr(sorted(vote[0].items()))))


def _kind(match: "re.Match[str]") -> str:
    return (match[6] or "").replace(" ", "")


def _is(gpu: ServedGpu, device: str) -> bool:
    return "AMD" in device.upper() and gpu.is_named(device)


def _buckets(path: Path) -> dict[int, dict[str, Any]]:
    try:
        config = read(str(path))
    except KprofError:
        return {}
    found = {}
    for bucket in config.buckets if config is not None else ():
        name = bucket.path[-1]
        if name.isdecimal() and int(name) > 0:
            found[int(name)] = {knob.name: knob.value for knob in bucket.knobs if _is_plain(knob)}
    return found


def _is_plain(knob: Knob) -> bool:
    return isinstance(knob.value, _PLAIN) and knob.name != "SPLIT_K"
