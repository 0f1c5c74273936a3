"""Count the slices of Perfetto traces with kprof and by an independent byte-level reader, and print a row per file.

python validation/perfetto_against_files.py FILE.pftrace...

The independent reader only knows the numbers of Perfetto's fields and uses neither kprof nor protobuf.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kprof.inputs.perfetto import read_slices

Sums = dict[tuple[str, int], tuple[int, int]]
_PACKET = 1
_TIME, _SEQUENCE, _EVENT, _INTERNED, _FLAGS, _DEFAULTS = 8, 10, 11, 12, 13, 59
_NAMES, _TYPE, _NAME_IID, _TRACK, _NAME = 2, 9, 10, 11, 23
_BEGIN, _END = 1, 2


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        wire = tag & 7
        if wire == 0:
            value: Any
            value, at = _number(data, at)
        else:
            length = {1: 8, 5: 4}.get(wire, 0)
            if wire == 2:
                length, at = _number(data, at)
            if at + length > len(data):
                # The file ends within a packet.
                return
            value, at = data[at : at + length], at + length
        yield tag >> 3, value


def _all(data: bytes) -> defaultdict[int, list[Any]]:
    found: defaultdict[int, list[Any]] = defaultdict(list)
    for number, value in _fields(data):
        found[number].append(value)
    return found


def by_hand(data: bytes) -> Sums:
    """Return the number of slices and their nanoseconds by name and track."""
    names: dict[tuple[int, int], str] = {}
    tracks: dict[int, int] = {}
    begun: defaultdict[int, list[tuple[str, int]]] = defaultdict(list)
    count: Counter[tuple[str, int]] = Counter()
    total: Counter[tuple[str, int]] = Counter()
    for number, written in _fields(data):
        if number != _PACKET:
            continue
        packet = _all(written)
        sequence = sum(packet[_SEQUENCE])
        if sum(packet[_FLAGS]) & 1:
            names = {key: name for key, name in names.items() if key[0] != sequence}
        for defaults in packet[_DEFAULTS]:
            for event in _all(defaults)[_EVENT]:
                tracks[sequence] = sum(_all(event)[_TRACK])
        for interned in packet[_INTERNED]:
            for entry in _all(interned)[_NAMES]:
                each = dict(_fields(entry))
                names[sequence, each[1]] = each[2].decode(errors="replace")
        for content in packet[_EVENT]:
            event = _all(content)
            track = sum(event[_TRACK]) or tracks.get(sequence, 0)
            if event[_TYPE] == [_BEGIN]:
                name = event[_NAME][0].decode(errors="replace") if event[_NAME] else ""
                begun[track].append((name or names.get((sequence, sum(event[_NAME_IID])), ""), packet[_TIME][0]))
            elif event[_TYPE] == [_END] and begun[track]:
                name, start = begun[track].pop()
                count[name, track] += 1
                total[name, track] += packet[_TIME][0] - start
    return {key: (count[key], total[key]) for key in count}


def by_kprof(path: Path) -> Sums:
    """Return the result of :func:`by_hand` computed with kprof."""
    sums: Sums = {}
    for each in read_slices(path)[0]:
        number, time = sums.get((each.name, each.track), (0, 0))
        sums[each.name, each.track] = number + 1, time + each.duration_ns
    return sums


def main() -> int:
    """Compare the named files; the exit status is 1 if one differs."""
    different = 0
    for path in map(Path, sys.argv[1:]):
        mine, other = by_kprof(path), by_hand(path.read_bytes())
        different += mine != other
        slices, time = (sum(numbers) for numbers in zip(*other.values(), strict=True)) if other else (0, 0)
        verdict = "equal" if mine == other else "DIFFERENT"
        tracks = len({track for _, track in other})
        print(
            f"| `{path.name}` | {slices:,} slices | {time:,} ns | {len(other):,} names on {tracks} tracks | {verdict} |"
        )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
