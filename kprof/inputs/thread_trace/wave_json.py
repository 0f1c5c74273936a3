"""Read ``se*_sm*_sl*_wv*.json``, the instructions of one wavefront.

An instruction is ``[clock, category, stall, duration, line of code.json]``. An entry of the timeline is ``[state,
cycles]``.
"""

import re
from pathlib import Path
from typing import Annotated

import msgspec

from kprof.errors import InputError
from kprof.inputs.thread_trace.content import LONGEST, Clock, Count, decode
from kprof.inputs.thread_trace.timeline import Issues, Wavefront

PATTERN = "se*_wv*.json"
LARGEST = 64 << 20

STATES = ("empty", "idle", "exec", "wait", "stall")
"""Names of a wavefront's states by the decoder's numbers."""

_Record = Annotated[list[Clock], msgspec.Meta(min_length=5, max_length=16)]
_Part = Annotated[list[Count], msgspec.Meta(min_length=2, max_length=16)]


class _Wave(msgspec.Struct):
    begin: Clock
    end: Clock
    cu: Count
    simd: Count
    slot: Count
    id: Count = 0
    instructions: list[_Record] | None = None
    timeline: list[_Part] | None = None


class _File(msgspec.Struct):
    wave: _Wave
    name: str = ""
    duration: Clock | None = None
    num_insts: Count | None = None


def read(place: Path) -> tuple[Wavefront, tuple[str, ...]]:
    """Return the wavefront, and sentences about problems.

    Raises:
        KprofError: if the file is cut off, has wrong types, or has impossible times.
    """
    document = decode(place, _File, LARGEST)
    wave = document.wave
    records = wave.instructions or []
    if not 0 <= wave.end - wave.begin <= LONGEST:
        raise InputError(f"a wavefront from cycle {wave.begin} to {wave.end}", path=str(place))
    costs = _costs(records, wave.begin, place)
    issues = []
    if document.num_insts is not None and document.num_insts != len(records):
        issues.append(f"{place.name} states {document.num_insts:,} instructions but lists {len(records):,}")
    if document.duration is not None and document.duration != wave.end - wave.begin:
        issues.append(f"{place.name} states {document.duration:,} cycles but lasts {wave.end - wave.begin:,}")
    engine = re.fullmatch(r"SE(\d{1,4})", document.name)
    return Wavefront(
        place.name,
        int(engine[1]) if engine else None,
        wave.cu,
        wave.simd,
        wave.slot,
        wave.id,
        wave.begin,
        wave.end,
        wave.end - wave.begin,
        len(records),
        sum(one.latency for one in costs),
        sum(one.stall for one in costs),
        sum(one.idle for one in costs),
        _states(wave.timeline or []),
        costs,
    ), tuple(issues)


def state_name(number: int) -> str:
    """Return the decoder's name of a state."""
    return STATES[number] if number < len(STATES) else f"state {number}"


def _states(parts: list[list[int]]) -> dict[str, int]:
    cycles: dict[int, int] = {}
    for state, duration, *_ in parts:
        cycles[state] = cycles.get(state, 0) + duration
    return {state_name(state): cycles[state] for state in sorted(cycles)}


def _costs(records: list[list[int]], begin: int, place: Path) -> tuple[Issues, ...]:
    """Sum the costs by instruction.

    Idle cycles are counted from the end of all earlier instructions, as in the decoder's instruction listing.
    """
    sums: dict[int, list[int]] = {}
    done = begin
    for number, (clock, _, stall, duration, line, *_) in enumerate(records):
        if not 0 <= stall < 1 << 31 or not 0 <= duration < 1 << 31 or line < 0 or abs(clock - begin) > LONGEST:
            raise InputError("an instruction with impossible times or line", path=str(place), place=f"record {number}")
        entry = sums.setdefault(line, [0, 0, 0, 0])
        for position, value in enumerate((1, duration, stall, max(clock - done, 0))):
            entry[position] += value
        done = max(done, clock + duration)
    return tuple(Issues(line, *sums[line]) for line in sorted(sums))
