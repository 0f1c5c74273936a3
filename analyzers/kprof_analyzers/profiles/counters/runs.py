"""Assign measurement files to runs of the program. Only files of one run may be combined into one number."""

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.inputs.rocprof import Data, ProfileFile


@dataclass(frozen=True)
class Runs:
    """Runs, and the run of each source.

    Attributes:
        labels: label of each run: the path that the user named, or the run's file.
        of_source: for each source the index of its run; -1 if unknown.
    """

    labels: tuple[str, ...]
    of_source: tuple[int, ...]


@dataclass
class _Unit:
    """One file or one workload folder. Neither contains more than one run."""

    given: str
    path: str
    workload: bool = False
    sources: list[int] = field(default_factory=list)
    counters: set[str] = field(default_factory=set)
    times: tuple[int, int] | None = None
    run: int = -1


def runs_of(data: "Data") -> Runs:
    """Return the runs among the files.

    Every path that the user named and that has counters is a run. Within a named folder, files with different counters
    are passes of one run. Files with the same counters are separate runs, unless they ran at the same time (ranks).
    Each workload folder is one run. Files without counters, such as traces, belong to the run of the same path or
    folder, or to the only run.
    """
    units = _units(data)
    runs: list[list[_Unit]] = []
    for unit in units:
        if unit.counters:
            home = next((run for run in runs if all(_one_run(unit, other) for other in run)), None)
            if home is None:
                runs.append([unit])
            else:
                home.append(unit)
    for number, run in enumerate(runs):
        for unit in run:
            unit.run = number
    for unit in units:
        if not unit.counters:
            unit.run = _run_beside(unit, runs)
    of_source = [-1] * len(data.sources)
    for unit in units:
        for source in unit.sources:
            of_source[source] = unit.run
    return Runs(_labels(runs), tuple(of_source))


def _units(data: "Data") -> list[_Unit]:
    sources = data.sources
    found: dict[tuple[str, str], _Unit] = {}
    of_source: list[_Unit] = []
    for place in range(len(sources)):
        home = _home(sources, place)
        path = home.folder or home.path
        unit = found.setdefault((home.given, path), _Unit(home.given, path, home.folder is not None))
        unit.sources.append(place)
        of_source.append(unit)
    counters = data.counters
    for key, names in counters.groupby("source", observed=True)["counter"]:
        of_source[int(str(key))].counters.update(map(str, names.unique()))
    dispatches = data.dispatches
    if "start_ns" in dispatches and "end_ns" in dispatches:
        for key, rows in dispatches.groupby("source", observed=True)[["start_ns", "end_ns"]]:
            begin, end = rows["start_ns"].dropna(), rows["end_ns"].dropna()
            unit = of_source[int(str(key))]
            if len(begin) and len(end):
                span = int(begin.min()), int(end.max())
                unit.times = span if unit.times is None else (min(unit.times[0], span[0]), max(unit.times[1], span[1]))
    return list(found.values())


def _home(sources: "list[ProfileFile]", place: int) -> "ProfileFile":
    same = sources[place].same_as
    return sources[place] if same is None else sources[same]


def _one_run(one: _Unit, other: _Unit) -> bool:
    if one.given != other.given or (one.workload and other.workload):
        return False
    if not (one.counters <= other.counters or other.counters <= one.counters):
        return True
    if one.times is None or other.times is None:
        return False
    return one.times[0] < other.times[1] and other.times[0] < one.times[1]


def _run_beside(unit: _Unit, runs: list[list[_Unit]]) -> int:
    """Return the run of a file without counters; -1 if it is ambiguous.

    If there is a single run, the file belongs to it. Otherwise it belongs to the run in the same folder or, if that
    folder has no run, to the run of the same named path. The result is -1 if several runs qualify.
    """

    def same_path(other: _Unit) -> bool:
        return other.given == unit.given

    def same_folder(other: _Unit) -> bool:
        return PurePath(other.path).parent == PurePath(unit.path).parent

    if len(runs) == 1:
        return 0
    for near in (same_folder, same_path):
        found = [number for number, run in enumerate(runs) if any(near(other) for other in run)]
        if found:
            return found[0] if len(found) == 1 else -1
    return -1


def _labels(runs: list[list[_Unit]]) -> tuple[str, ...]:
    """Return the shortest path endings that distinguish the runs."""
    givens = [run[0].given for run in runs]
    paths = [PurePath(run[0].given if givens.count(run[0].given) == 1 else run[0].path) for run in runs]
    depth = max((len(path.parts) for path in paths), default=1)
    for length in range(1, depth + 1):
        ends = ["/".join(path.parts[-length:]) for path in paths]
        if len(set(ends)) == len(ends):
            return tuple(ends)
    return tuple(map(str, paths))


def run_column(data: "Data", runs: Runs) -> Any:
    """Return the run of each row of ``data.dispatches``."""
    import numpy as np

    return np.asarray([*runs.of_source, -1])[data.dispatches["source"].to_numpy(dtype=int)]
