"""Text of occupancy results, without rich, whose import would take longer than printing the few lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from msgspec import UNSET

from kprof.document import Occupancy
from kprof.output.colour import coloured, painted
from kprof.output.headline import screen_width, wrapped
from kprof.output.sink import clean
from kprof.reporters._console_text import limiter, needs, waves

_CELLS = 24


class PlateauRow(Protocol):
    """A range of amounts of a resource for which the occupancy is the same."""

    @property
    def first(self) -> int:
        """Smallest amount in the range."""

    @property
    def last(self) -> int:
        """Largest amount in the range."""

    @property
    def waves_per_simd(self) -> float:
        """Wavefronts per SIMD in the range."""

    @property
    def limiter(self) -> str:
        """The resource that limits occupancy."""

    @property
    def current(self) -> bool:
        """Whether the kernel is in this range."""


@dataclass(frozen=True)
class Entry:
    """One kernel on one architecture.

    Attributes:
        title: the kernel's name; empty for resource counts from the command line.
        target: ``gfx942`` or ``gfx942 · MI300X``.
        demand: the kernel's resources, in words.
        block: ``CU`` or ``WGP``, the unit that holds the workgroups.
        occupancy: the result.
        problems: reasons why the kernel cannot be launched; empty if it can.
        notes: further lines, such as differences from AMD's guide.
        curve: ranges of equal occupancy over a resource; empty without a curve.
        curve_of: name of that resource: ``VGPRs``, ``bytes of LDS`` or ``waves per workgroup``.
    """

    title: str
    target: str
    demand: str
    block: str
    occupancy: Occupancy
    problems: Sequence[str] = ()
    notes: Sequence[str] = ()
    curve: Sequence[PlateauRow] = ()
    curve_of: str = ""


class Style:
    """ANSI colours, if they are enabled."""

    def __init__(self, *, no_color: bool = False) -> None:
        """Check the terminal and ``NO_COLOR``."""
        self._colour = coloured(no_color=no_color)

    def paint(self, text: str, code: str) -> str:
        """Return the text with an ANSI code around it, if colours are enabled."""
        return painted(text, code, colour=self._colour)

    def bar(self, share: float, cells: int = 8) -> str:
        """Return a bar that is green for at least 50 %, yellow for more than 20 %, and red below."""
        done = max(round(share * cells), 1 if share > 0 else 0)
        colour = "32" if share >= 0.5 else "33" if share > 0.2 else "31"
        return self.paint("█" * done, colour) + self.paint("░" * (cells - done), "2")


def single(entry: Entry, style: Style) -> list[str]:
    """Return the lines for one entry; problems that prevent a launch come first."""
    found = entry.occupancy
    share = found.waves_per_simd / found.max_waves_per_simd
    head = " ".join(filter(None, (style.paint(entry.title, "1"), style.paint(entry.target, "1"))))
    title = f"{entry.title} {entry.target}".strip()
    own_line = len(title) + 3 + len(entry.demand) > (screen_width() or 1000)
    lines = (
        [head, f"  {style.paint(entry.demand, '2')}"] if own_line else [f"{head}   {style.paint(entry.demand, '2')}"]
    )
    if entry.problems:
        lines += [f"  {style.paint('error', '1;31')}       {clean(problem)}" for problem in entry.problems]
    number = f"{waves(found.waves_per_simd)} / {found.max_waves_per_simd} waves per SIMD"
    resident = f"{found.workgroups_per_cu} {'workgroup' if found.workgroups_per_cu == 1 else 'workgroups'}"
    lines.append(
        f"  {'Occupancy':<10}  {number}   {style.bar(share)}   limited by "
        f"{limiter(found.limiter, found.waves_per_simd)}"
    )
    lines.append(f"  {'':<10}  {resident} per {entry.block}")
    ordered = sorted(found.limits.items(), key=lambda pair: (pair[1], pair[0] != found.limiter))
    limits = "  ·  ".join(f"{limiter(name, limit)} {waves(limit)}" for name, limit in ordered)
    lines.append(wrapped(f"  {'Limits':<10}  {limits}", " " * 12))
    if found.next_step is not UNSET:
        lines.append(f"  {'Next step':<10}  {style.paint(needs(found.next_step), '36')}")
    lines += [f"  {'Note' if number == 0 else '':<10}  {note}" for number, note in enumerate(entry.notes)]
    if entry.curve:
        lines += ["", *curve(entry, style)]
    return lines


def rows(entries: Sequence[Entry]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return headings, and one row of text for each entry."""
    found: list[tuple[str, ...]] = [
        (
            " ".join(filter(None, (e.title, e.target))),
            f"{waves(e.occupancy.waves_per_simd)} / {e.occupancy.max_waves_per_simd}",
            "cannot launch" if e.problems else limiter(e.occupancy.limiter),
            f"{e.occupancy.workgroups_per_cu} per {e.block}",
            "" if e.occupancy.next_step is UNSET else needs(e.occupancy.next_step),
        )
        for e in entries
    ]
    return ("", "waves/SIMD", "limited by", "workgroups", "next step"), found


def table(entries: Sequence[Entry], style: Style) -> list[str]:
    """Return one line for each entry, with aligned columns."""
    headings, found = rows(entries)
    widths = [max(len(row[i]) for row in (headings, *found)) for i in range(len(headings))]
    bar = " " * 8
    lines = [_row((*headings[:2], bar, *headings[2:]), (*widths[:2], 8, *widths[2:]), style, heading=True)]
    for entry, row in zip(entries, found, strict=True):
        share = entry.occupancy.waves_per_simd / entry.occupancy.max_waves_per_simd
        lines.append(_row((*row[:2], style.bar(share), *row[2:]), (*widths[:2], 0, *widths[2:]), style))
    lines += [f"  {entry.target}: {clean(problem)}" for entry in entries for problem in entry.problems]
    for entry in entries:
        lines += [f"  {entry.target}: {note}" for note in entry.notes]
        if entry.curve:
            lines += ["", *curve(entry, style)]
    return lines


def verdict(entries: Sequence[Entry]) -> str:
    """Return the verdict in one line."""
    if len(entries) == 1:
        entry, found = entries[0], entries[0].occupancy
        if entry.problems:
            return f"{entry.target}: cannot launch: {entry.problems[0]}"
        number = f"{waves(found.waves_per_simd)} of {found.max_waves_per_simd} waves per SIMD"
        return f"{entry.target}: {number}, limited by {limiter(found.limiter)}"
    same = len({e.title for e in entries}) == 1
    words = []
    for entry in entries:
        label = entry.target if same else f"{entry.title} {entry.target}"
        words.append(f"{label} {'cannot launch' if entry.problems else waves(entry.occupancy.waves_per_simd)}")
    return f"waves per SIMD: {', '.join(words)}"


def curve(entry: Entry, style: Style) -> list[str]:
    """Return one line with a bar for each range of the curve; the range of the kernel is marked."""
    most = entry.occupancy.max_waves_per_simd
    labels = [f"{p.first:,}" if p.first == p.last else f"{p.first:,}-{p.last:,}" for p in entry.curve]
    width = max((len(label) for label in labels), default=0)
    lines = [style.paint(f"  {entry.target}: waves per SIMD over {entry.curve_of}", "1")]
    for label, plateau in zip(labels, entry.curve, strict=True):
        share = plateau.waves_per_simd / most
        here = " ◄ here" if plateau.current else ""
        words = "cannot launch" if not plateau.waves_per_simd else limiter(plateau.limiter)
        number = f"{waves(plateau.waves_per_simd):>5}"
        lines.append(f"  {label:>{width}}  {number}  {style.bar(share, _CELLS)}  {words}{here}")
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], style: Style, *, heading: bool = False) -> str:
    text = "  " + "   ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True)).rstrip()
    return style.paint(text, "2") if heading else text
