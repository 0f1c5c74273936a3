"""Compute how busy each device was over time, in equal bins."""

from collections.abc import Sequence

import msgspec

from kprof.output.svg_text import svg_text
from kprof_analyzers.profiles.timeline.intervals import Disjoint
from kprof_analyzers.profiles.timeline.occupation import Lane, Occupation
from kprof_analyzers.profiles.timeline.pictures.colours import colour, shortened, svg

LANES: tuple[Lane, ...] = ("compute", "communication", "memory")
_COLOURS = {"compute": colour("attention"), "communication": colour("communication"), "memory": colour("memory")}
# From this number of intervals on, importing numpy saves time.
_MANY = 1 << 13
# Number of intervals that numpy handles at a time; limits the temporary memory to some megabytes.
_PIECE = 1 << 17
_LEFT, _WIDTH, _HEIGHT, _STEP = 120, 720, 40, 56


class Utilisation(msgspec.Struct, frozen=True):
    """Busy shares of one device over time: for each kind of work, one share (0 to 1) per bin. Kinds may overlap."""

    rank: int
    device: int | None
    first_ns: int
    last_ns: int
    lanes: dict[str, list[float]]


def utilisation(occupations: Sequence[Occupation], bins: int = 120) -> list[Utilisation]:
    """Return the busy shares of every device over the common span of all devices."""
    sets = [(o, {n: o.lane(n) for n in LANES}) for o in occupations]
    starts = [s.starts[0] for _, lanes in sets for s in lanes.values() if len(s)]
    if not starts:
        return []
    first = min(starts)
    last = max(s.ends[-1] for _, lanes in sets for s in lanes.values() if len(s))
    return [
        Utilisation(o.rank, o.device, first, last, {n: _binned(s, first, last, bins) for n, s in lanes.items()})
        for o, lanes in sets
    ]


def _binned(busy: Disjoint, first: int, last: int, bins: int) -> list[float]:
    width = max(1, last - first) / bins
    shares = [0.0] * bins
    if len(busy) >= _MANY:
        return _binned_at_once(busy, first, width, bins)
    for start, end in busy:
        # Subtract the first time: small times are exact as doubles, but wall-clock times in ns are not.
        begin, stop = start - first, end - first
        low = min(bins - 1, int(begin / width))
        high = min(bins - 1, int(stop / width))
        for index in range(low, high + 1):
            shares[index] += max(0.0, min(stop, (index + 1) * width) - max(begin, index * width)) / width
    return [min(1.0, s) for s in shares]


def _binned_at_once(busy: Disjoint, first: int, width: float, bins: int) -> list[float]:
    """Compute the result of the loop in :func:`_binned` with numpy. It is bit-identical: sums have the same order."""
    import numpy as np

    shares = np.zeros(bins)
    for at in range(0, len(busy), _PIECE):
        starts, ends = (
            np.frombuffer(times[at : at + _PIECE], dtype=np.int64) - first for times in (busy.starts, busy.ends)
        )
        low, high = (np.minimum(bins - 1, (times / width).astype(np.int64)) for times in (starts, ends))
        # Expand each interval to one entry for each bin that it touches.
        counts = np.maximum(high - low + 1, 0)
        which = np.repeat(np.arange(len(starts)), counts)
        index = low[which] + np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        inside = np.minimum(ends[which], (index + 1) * width) - np.maximum(starts[which], index * width)
        np.add.at(shares, index, np.maximum(0.0, inside) / width)
    return [min(1.0, share) for share in shares.tolist()]


def utilisation_svg(rows: Sequence[Utilisation], title: str) -> str:
    """Return an SVG with a strip per device. A bar's height is the busy share of a bin, its colour the kind of work."""
    body = [f'<text x="20" y="24" font-size="15" font-weight="bold">{svg_text(shortened(title, 90))}</text>']
    for index, row in enumerate(rows):
        base = 50 + index * _STEP + _HEIGHT
        label = f"rank {row.rank} · GPU {row.device}"
        body.append(f'<text x="{_LEFT - 8}" y="{base - 14}" text-anchor="end">{label}</text>')
        body.append(f'<line x1="{_LEFT}" y1="{base}" x2="{_LEFT + _WIDTH}" y2="{base}" stroke="#999"/>')
        for name in LANES:
            shares = row.lanes[name]
            step = _WIDTH / max(1, len(shares))
            for bin_number, share in enumerate(shares):
                if share > 0.001:
                    body.append(
                        f'<rect x="{_LEFT + bin_number * step:.2f}" y="{base - share * _HEIGHT:.2f}" '
                        f'width="{step:.2f}" '
                        f'height="{share * _HEIGHT:.2f}" fill="{_COLOURS[name]}" fill-opacity="0.75"/>'
                    )
    below = 50 + len(rows) * _STEP + 20
    span = (rows[0].last_ns - rows[0].first_ns) / 1e6 if rows else 0.0
    body.append(f'<text x="{_LEFT}" y="{below}">0 ms</text>')
    body.append(f'<text x="{_LEFT + _WIDTH}" y="{below}" text-anchor="end">{span:,.2f} ms</text>')
    for index, name in enumerate(LANES):
        x = _LEFT + 150 + index * 140
        body.append(f'<rect x="{x}" y="{below - 10}" width="12" height="12" fill="{_COLOURS[name]}"/>')
        body.append(f'<text x="{x + 18}" y="{below}">{name}</text>')
    return svg(870, below + 20, title, body)
