"""Read the files next to a thread trace's instruction listing. An unreadable file does not affect the others.

An occupancy event is ``[clock, CU, SIMD, slot, whether a wavefront began, kernel]``. Earlier decoders pack it into 64
bits (``occupancy_data_v1`` of rocprofiler-sdk). From the lowest bit, the fields are kernel (12 bits), SIMD (2), slot
(4), began (1), CU (4) and time (41, in units of 8 cycles).
"""

import re
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec

from kprof.errors import InputError, KprofError
from kprof.inputs import boundary
from kprof.inputs.thread_trace import wave_json
from kprof.inputs.thread_trace.content import LONGEST, Clock, content, decode
from kprof.inputs.thread_trace.timeline import ResidentWavefronts, Timeline, Wavefront, WavefrontState
from kprof.inputs.thread_trace.wave_json import state_name

RESIDENT = "occupancy.json"
"""Name of the file with the number of resident wavefronts over time."""
LARGEST_OCCUPANCY = 32 << 20
PARTS = 32
_FIELDS = 6
_UNIT = 8
_Event = tuple[int, int, int, int, int]
STATES_PATTERN = "wstates*.json"
LARGEST = 256 << 20
_Wavefronts = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF)]

MOST_FILES = 1024
MOST_BYTES = 512 << 20


def read(folder: Path) -> tuple[Timeline, tuple[str, ...]]:
    """Return the wavefronts, states and occupancy of a folder, and sentences about problems."""
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
    for place in _files(folder, STATES_PATTERN, issues):
        try:
            state, odd = read_states(place)
        except KprofError as error:
            complete = False
            issues.append(_left_out(place, error))
        else:
            states.append(state)
            issues += odd
    occupancy: tuple[ResidentWavefronts, ...] = ()
    place = folder / RESIDENT
    if place.exists():
        try:
            occupancy, odd = read_occupancy(place)
        except KprofError as error:
            issues.append(_left_out(place, error))
        else:
            issues += odd
    shared = with_shares(states) if complete else tuple(states)
    return Timeline(tuple(waves), shared, occupancy), tuple(issues)


def _files(folder: Path, pattern: str, issues: list[str]) -> list[Path]:
    """Return the files that match a pattern, in name order, up to limits on their number and total size."""
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
        issues.append(
            f"only the first {len(used):,} files {pattern} are read, because of the limits on number and total size"
        )
    return used


def _left_out(place: Path, error: KprofError) -> str:
    where = f"{error.place}: " if error.place else ""
    return f"{place.name} is left out: {where}{error.message}"


class _File(msgspec.Struct):
    time: list[Clock]
    state: list[_Wavefronts]


def read_states(place: Path) -> tuple[WavefrontState, tuple[str, ...]]:
    """Return the cycles that wavefronts spent in the state of one file, and sentences about problems.

    Raises:
        KprofError: if the file is cut off, has wrong types, or has times that are not ascending.
    """
    number = re.fullmatch(r"wstates(\d{1,3})\.json", place.name)
    if number is None:
        raise InputError("the file name contains no state number", path=str(place), hint="it is wstates<number>.json")
    document = decode(place, _File, LARGEST)
    times, counts = document.time, document.state
    if len(times) != len(counts):
        raise InputError(f"{len(times):,} times and {len(counts):,} numbers of wavefronts", path=str(place))
    if any(after < before for before, after in pairwise(times)) or (times and times[-1] - times[0] > LONGEST):
        raise InputError("the times are not ascending, or span more than a trace", path=str(place))
    cycles = sum(count * (after - before) for count, (before, after) in zip(counts, pairwise(times), strict=False))
    odd = (f"{place.name} ends with {counts[-1]} wavefronts in the state",) if counts and counts[-1] else ()
    return WavefrontState(state_name(int(number[1])), cycles, max(counts, default=0)), odd


def with_shares(states: list[WavefrontState]) -> tuple[WavefrontState, ...]:
    """Return the states with their fraction of the total cycles."""
    whole = sum(one.cycles for one in states)
    return tuple(replace(one, share=one.cycles / whole if whole else 0.0) for one in states)


def read_occupancy(place: Path) -> tuple[tuple[ResidentWavefronts, ...], tuple[str, ...]]:
    """Return the occupancy of each shader engine followed by its compute units, and sentences about problems.

    Raises:
        KprofError: if the file is cut off or is not an occupancy file.
    """
    try:
        document = msgspec.json.decode(content(place, LARGEST_OCCUPANCY), type=dict[str, Any])
    except boundary.JSON_ERRORS as error:
        raise InputError(f"not readable as {RESIDENT}: {error}", path=str(place)) from error
    engines = sorted((int(name), name) for name in document if name.isascii() and name.isdecimal() and len(name) < 5)
    if not engines and "dispatches" not in document:
        raise InputError("no shader engine and no dispatch", path=str(place))
    found: list[ResidentWavefronts] = []
    issues: list[str] = []
    for engine, name in engines:
        records = document[name]
        events = [event for event in map(_event, records) if event] if isinstance(records, list) else []
        wrong = len(records) - len(events) if isinstance(records, list) else int(records is not None)
        if wrong:
            issues.append(
                f"{RESIDENT}: {wrong:,} records of shader engine {engine} have a wrong shape and are not used"
            )
        events.sort(key=lambda event: (event[0], event[4]))
        if events and events[-1][0] - events[0][0] > LONGEST:
            issues.append(f"{RESIDENT}: the times of shader engine {engine} are further apart than a trace is long")
            continue
        unpaired = _unpaired(events)
        if unpaired:
            issues.append(
                f"{RESIDENT}: {unpaired:,} wavefronts of shader engine {engine} began or ended outside the trace"
            )
        if events:
            found.append(_occupancy(engine, None, events, events))
            units = sorted({event[1] for event in events})
            found += [_occupancy(engine, unit, [one for one in events if one[1] == unit], events) for unit in units]
    return tuple(found), tuple(issues)


def _event(record: Any) -> _Event | None:
    """Decode an event into clock, CU, SIMD, slot, and 1 for a start or 0 for an end; ``None`` if it is invalid."""
    if type(record) is int and 0 <= record < 1 << 64:
        return (record >> 23) * _UNIT, record >> 19 & 15, record >> 12 & 3, record >> 14 & 15, record >> 18 & 1
    if not isinstance(record, list) or len(record) < _FIELDS or type(record[4]) not in {int, bool}:
        return None
    clock, unit, simd, slot, began = record[:5]
    plain = all(type(one) is int and 0 <= one < 256 for one in (unit, simd, slot))
    known = plain and began in {0, 1} and type(clock) is int and 0 <= clock <= 1 << 56
    return (clock, unit, simd, slot, int(began)) if known else None


def _unpaired(events: list[_Event]) -> int:
    """Return the number of starts without an end and ends without a start."""
    live: set[tuple[int, int, int]] = set()
    wrong = 0
    for _, unit, simd, slot, began in events:
        place = (unit, simd, slot)
        wrong += (place in live) == bool(began)
        (live.add if began else live.discard)(place)
    return wrong + len(live)


def _occupancy(engine: int, unit: int | None, events: list[_Event], span: list[_Event]) -> ResidentWavefronts:
    """Compute the occupancy of a shader engine, or of one of its compute units, from start and end events.

    An end without a start is ignored. A wavefront without an end lasts until the next start in its slot or, without
    one, until the end of the trace.
    """
    begin, end = span[0][0], span[-1][0]
    live: set[tuple[int, int, int]] = set()
    steps: list[tuple[int, int]] = []
    for clock, cu, simd, slot, began in events:
        (live.add if began else live.discard)((cu, simd, slot))
        steps.append((clock, len(live)))
    # The last event of a cycle counts, because a freed slot may be taken again in the same cycle.
    most = max(dict(steps).values())
    area = _areas([(clock - begin, count) for clock, count in steps], end - begin)
    mean = sum(area) / (end - begin) if end > begin else None
    part = (end - begin) / PARTS
    over_time = tuple(round(one / part, 3) for one in area) if end > begin else ()
    return ResidentWavefronts(engine, unit, sum(event[4] for event in events), begin, end, most, mean, over_time)


def _areas(steps: list[tuple[int, int]], end: int) -> list[float]:
    """Return the wavefronts integrated over cycles, for equal parts of the time from 0 to ``end``."""
    borders = [end * number / PARTS for number in range(PARTS + 1)]
    areas = [0.0] * PARTS
    part = 0
    for (clock, count), (after, _) in zip(steps, [*steps[1:], (end, 0)], strict=True):
        at = float(clock)
        while at < after:
            while part < PARTS - 1 and at >= borders[part + 1]:
                part += 1
            until = min(float(after), borders[part + 1]) if part < PARTS - 1 else float(after)
            areas[part] += count * (until - at)
            at = until
    return areas
