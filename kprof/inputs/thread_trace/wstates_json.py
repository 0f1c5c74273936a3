"""``wstates<state>.json``: from each time on, how many of the traced wavefronts are in the state."""

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import msgspec

from kprof.errors import InputError
from kprof.inputs.thread_trace.content import LONGEST, Clock, decode
from kprof.inputs.thread_trace.timeline import WavefrontState
from kprof.inputs.thread_trace.wave_json import state_name

PATTERN = "wstates*.json"
LARGEST = 256 << 20

_Wavefronts = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF)]


class _File(msgspec.Struct):
    time: list[Clock]
    state: list[_Wavefronts]


def read(place: Path) -> tuple[WavefrontState, tuple[str, ...]]:
    """The state's cycles, and what was odd in words.

    Raises:
        KprofError: cut off, of wrong types, or with times that do not go up.
    """
    number = re.fullmatch(r"wstates(\d{1,3})\.json", place.name)
    if number is None:
        raise InputError("no state's number in the file's name", path=str(place), hint="it is wstates<number>.json")
    document = decode(place, _File, LARGEST)
    times, counts = document.time, document.state
    if len(times) != len(counts):
        raise InputError(f"{len(times):,} times and {len(counts):,} numbers of wavefronts", path=str(place))
    if any(after < before for before, after in pairwise(times)) or (times and times[-1] - times[0] > LONGEST):
        raise InputError("times that do not go up, or longer than a trace", path=str(place))
    cycles = sum(count * (after - before) for count, (before, after) in zip(counts, pairwise(times), strict=False))
    odd = (f"{place.name} ends with {counts[-1]} wavefronts in the state",) if counts and counts[-1] else ()
    return WavefrontState(state_name(int(number[1])), cycles, max(counts, default=0)), odd


def with_shares(states: list[WavefrontState]) -> tuple[WavefrontState, ...]:
    """Each with its share of the cycles of all."""
    whole = sum(one.cycles for one in states)
    return tuple(replace(one, share=one.cycles / whole if whole else 0.0) for one in states)
