"""Describe where to put a better configuration into a recorded program: its autotuner, a JSON file, or the launch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kprof.errors import KprofError
from kprof.inputs import plain_files
from kprof.tuning.config_code import config_code
from kprof.tuning.recorded.relaunch import LaunchDescription
from kprof.tuning.recorded.subject import RecordedSubject

_ENOUGH = 3
_INDUCTOR = frozenset({"num_warps", "num_stages"})
"""Options of Inductor's configurations, besides block sizes."""


@dataclass(frozen=True)
class Answer:
    """The place of a configuration in the program, and the text to write there.

    Attributes:
        place: description of the place: a file with the line, or with the keys of an entry.
        before: the present text; empty if unknown.
        after: the new text.
        note: a further remark, or "".
    """

    place: str
    before: str
    after: str
    note: str = ""


def answer(subject: RecordedSubject, ready: LaunchDescription | None, config: Mapping[str, Any]) -> Answer:
    """Describe how to put a configuration into the program.

    Args:
        subject: the kernel.
        ready: the program's description of its launch; ``None`` if the program does not run.
        config: every knob.
    """
    from kprof.compiler.environment import SWITCHES
    from kprof.compiler.versions import installed
    from kprof.tuning.trials.changes import left_to_triton

    knobs = subject.knobs
    switches = [f"{name}={value}" for name, value in config.items() if name in SWITCHES and knobs.get(name) != value]
    note = f"with {' '.join(switches)} in the environment" if switches else ""
    unsaid = left_to_triton(installed().numbers)
    config = {
        name: value
        for name, value in config.items()
        if name not in SWITCHES and (name in knobs or unsaid.get(name) != value)
    }
    if ready is not None and ready.generated:
        return _for_inductor(ready, knobs, config, note)
    if ready is not None and ready.configs:
        source = subject.recorded.kernel.source
        place = "@triton.autotune" if source is None else f"@triton.autotune at {source.file}:{source.line}"
        names = dict.fromkeys(name for listed in ready.configs for name in listed)
        return Answer(place, triton_config(knobs, config, names), triton_config(config, knobs, names), note)
    for found in _in_files(ready, knobs):
        path, keys, entry = found
        changed = {name: config.get(name, value) for name, value in entry.items()}
        new = {n: v for n, v in config.items() if n not in entry and knobs.get(n) != v}
        buckets = " or ".join(" > ".join(json.dumps(key) for key in inside) for inside in keys if inside)
        where = f"{path}, {buckets}" if buckets else path
        return Answer(where, json.dumps(entry), json.dumps({**changed, **new}), note)
    site = None if ready is None else ready.site
    place = f"the launch at {site[0]}:{site[1]}" if site is not None else _launch_of(subject)
    changes = {name: value for name, value in config.items() if knobs.get(name) != value}
    before = ", ".join(f"{name}={knobs[name]!r}" for name in changes if name in knobs)
    return Answer(place, before, ", ".join(f"{name}={value!r}" for name, value in changes.items()), note)


def _for_inductor(ready: LaunchDescription, knobs: Mapping[str, Any], config: Mapping[str, Any], note: str) -> Answer:
    """Return the Inductor option that finds the configuration, and the corresponding entry of Inductor's cache.

    ``max_autotune_pointwise`` times the configurations of Inductor's heuristics; ``coordinate_descent_tuning`` times
    configurations around the best one. Inductor stores the result of either in a ``*.best_config`` file next to the
    generated kernel.
    """
    chosen = {name: value for name, value in config.items() if name.endswith("BLOCK") or name in _INDUCTOR}
    listed = any(all(chosen.get(name, value) == value for name, value in one.items()) for one in ready.configs)
    option = "max_autotune_pointwise" if listed else "coordinate_descent_tuning"
    own = {name: knobs[name] for name in chosen if name in knobs}
    entry = f"Inductor keeps {json.dumps(chosen)} in a *.best_config file next to the generated kernel"
    outside = [f"{n}={v!r}" for n, v in config.items() if n not in chosen and knobs.get(n) != v]
    entry += f"; it does not choose {', '.join(outside)}" if outside else ""
    return Answer(
        f"torch.compile, for a {ready.generated.replace('_', ' ')} kernel now at {json.dumps(own)}",
        "",
        f'torch.compile(..., options={{"{option}": True}})',
        "; ".join(filter(None, (entry, note))),
    )


def triton_config(config: Mapping[str, Any], other: Mapping[str, Any], names: Mapping[str, None]) -> str:
    """Return ``triton.Config({...}, num_warps=8)`` with the knobs in ``names`` and those that differ from ``other``."""
    wanted = {n: v for n, v in config.items() if n in names or (n in other and other[n] != v) or n not in other}
    return config_code(wanted)


def _launch_of(subject: RecordedSubject) -> str:
    site = subject.recorded.kernel.site
    return f"the launch at {site[0].file}:{site[0].line}" if site else "the launch"


def _in_files(
    ready: LaunchDescription | None, knobs: Mapping[str, Any]
) -> "list[tuple[str, list[tuple[str, ...]], dict[str, Any]]]":
    """Find the launched configuration in JSON files that the program opened.

    Return the file, the keys of each place in it, and the configuration.
    """
    found = []
    if ready is None:
        return []
    for path in ready.files:
        try:
            data = json.loads(plain_files.read_bytes(Path(path), plain_files.STAGE_LIMIT))
        except (KprofError, OSError, ValueError, RecursionError):
            continue
        keys: dict[str, list[tuple[str, ...]]] = {}
        _entries(data, (), knobs, keys)
        found += [(path, _used_places(places, ready, data), json.loads(entry)) for entry, places in keys.items()]
    return found


def _used_places(
    places: list[tuple[str, ...]], ready: LaunchDescription, data: Mapping[str, Any]
) -> list[tuple[str, ...]]:
    """Return the places that the program used among a file's equal entries, or all places if that is unknown.

    The keys under which the program holds the entry decide. If the program copied the entry, its batch size decides,
    because servers use the nearest size.
    """
    for length in sorted({len(keys) for keys in ready.keys}, reverse=True):
        ends = {tuple(keys) for keys in ready.keys if len(keys) == length}
        if taken := [place for place in places if place[-length:] in ends]:
            return taken
    sizes = [int(key) for key in data if key.isdecimal()]
    if ready.batch is None or not sizes:
        return places
    batch = ready.batch
    nearest = (str(min(sizes, key=lambda size: abs(size - batch))),)
    return [nearest] if nearest in places else places


def _entries(
    data: Any, keys: tuple[str, ...], knobs: Mapping[str, Any], found: dict[str, list[tuple[str, ...]]]
) -> None:
    """Add the places of entries that equal the launched configuration. A place lists the keys from the outside in."""
    if not isinstance(data, dict):
        return
    same = [name for name, value in data.items() if name in knobs and knobs[name] == value]
    other = [name for name, value in data.items() if name in knobs and knobs[name] != value]
    if len(same) >= _ENOUGH and not other:
        found.setdefault(json.dumps(data), []).append(keys)
        return
    for name, inner in data.items():
        _entries(inner, (*keys, name), knobs, found)
