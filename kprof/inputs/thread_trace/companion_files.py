"""Everything that lies beside a thread trace's listing. One file that cannot be read costs nothing but itself."""

from itertools import islice
from pathlib import Path

from kprof.errors import KprofError
from kprof.inputs.thread_trace import occupancy_json, wave_json, wstates_json
from kprof.inputs.thread_trace.timeline import ResidentWavefronts, Timeline, Wavefront, WavefrontState

MOST_FILES = 1024
MOST_BYTES = 512 << 20


def read(folder: Path) -> tuple[Timeline, tuple[str, ...]]:
    """The wavefronts, the states and the occupancy of a folder, and what was odd in words."""
    issues: list[str] = []
    waves: list[Wavefront] = []
    for place in _files(folder, wave_json.PATTERN, issues):
        try:
            wave, odd = wave_json.read(place)
        except KprofError as error:
            issues.append(_left_out(place, error))
        else:
            waves.append(wave)
            issues += odd
    states: list[WavefrontState] = []
    complete = True
    for place in _files(folder, wstates_json.PATTERN, issues):
        try:
            state, odd = wstates_json.read(place)
        except KprofError as error:
            complete = False
            issues.append(_left_out(place, error))
        else:
            states.append(state)
            issues += odd
    occupancy: tuple[ResidentWavefronts, ...] = ()
    place = folder / occupancy_json.NAME
    if place.exists():
        try:
            occupancy, odd = occupancy_json.read(place)
        except KprofError as error:
            issues.append(_left_out(place, error))
        else:
            issues += odd
    shared = wstates_json.with_shares(states) if complete else tuple(states)
    return Timeline(tuple(waves), shared, occupancy), tuple(issues)


def _files(folder: Path, pattern: str, issues: list[str]) -> list[Path]:
    """The files of one kind by name, as many as are worth reading."""
    found = sorted(islice((place for place in folder.glob(pattern) if place.is_file()), MOST_FILES + 1))
    used: list[Path] = []
    size = 0
    for place in found[:MOST_FILES]:
        try:
            size += place.stat().st_size
        except OSError as error:
            issues.append(f"{place.name} is left out: {error.strerror or error}")
            continue
        if size > MOST_BYTES:
            break
        used.append(place)
    if len(used) < len(found):
        issues.append(f"only the first {len(used):,} files {pattern} are read: there are more, or they are too large")
    return used


def _left_out(place: Path, error: KprofError) -> str:
    where = f"{error.place}: " if error.place else ""
    return f"{place.name} is left out: {where}{error.message}"
