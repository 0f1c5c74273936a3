"""What a thread trace (ATT) tells: how often each instruction ran and how long it took."""

import re
from dataclasses import asdict, dataclass, field

from kprof.inputs.thread_trace.timeline import StalledInstruction, Timeline

_MNEMONIC = re.compile(r"[a-z][a-z0-9_]*")


def kernel_in(comment: str) -> str | None:
    """The kernel that a comment row of a listing names; ``None`` for one that only marks its begin or end."""
    name = comment.strip().lstrip(";").strip()
    return name if name and not name.lower().startswith(("begin att", "end att")) else None


@dataclass(frozen=True)
class TracedInstruction:
    """One instruction of the traced kernel.

    Attributes:
        index: position in the listing.
        text: as disassembled.
        code_object: number of the code object, when recorded.
        address: virtual address in bytes.
        hits: times it was issued by the traced wavefronts.
        latency: cycles from when it could have issued until it was done, summed over the hits.
        stall: cycles of that in which it could not issue; ``None`` in formats that do not tell.
        idle: cycles in which nothing was ready before it; ``None`` in formats that do not tell.
        source: ``file:line``, or ``None``.
        line: number that files of single wavefronts refer to it by; ``None`` in formats that do not tell.
    """

    index: int
    text: str
    code_object: int | None
    address: int | None
    hits: int
    latency: int
    stall: int | None = None
    idle: int | None = None
    source: str | None = None
    line: int | None = None

    @property
    def mnemonic(self) -> str:
        """The first word."""
        match = _MNEMONIC.match(self.text)
        return match[0] if match else ""


@dataclass(frozen=True)
class LineCost:
    """All instructions of one source line, or one mnemonic.

    Attributes:
        name: ``file:line`` or mnemonic.
        instructions: different instructions.
        hits: issues.
        latency: cycles, summed.
        stall: cycles, summed; ``None`` when the format does not tell.
        share: of the latency of the whole trace, 0 to 1.
    """

    name: str
    instructions: int
    hits: int
    latency: int
    stall: int | None
    share: float


@dataclass(frozen=True)
class Dispatch:
    """A traced dispatch in short.

    Attributes:
        path: its listing.
        agent: number in the name of its folder or file; ``None`` when it has none.
        dispatch: as ``agent``.
        kernel: name from the listing, when recorded.
        hits: instructions issued by the traced wavefronts.
        latency: cycles of them, summed.
    """

    path: str
    agent: int | None
    dispatch: int | None
    kernel: str | None
    hits: int
    latency: int


@dataclass(frozen=True)
class DecodedThreadTrace:
    """A decoded thread trace.

    Attributes:
        path: the file read.
        format: which layout.
        kernel: name from the listing's comment line, when there is one.
        version: of the decoder, when recorded.
        instructions: in address order as listed.
        issues: what was odd, in words.
        wavefronts: number of wavefront files listed beside it, when there is such a list.
        lifetimes: cycles from the beginning to the end of each wavefront of that list.
        timeline: wavefronts that have a file of their own, states and occupancy; empty without such files.
        dispatches: of a folder with several: all of them, the one that this is in front.
    """

    path: str
    format: str
    kernel: str | None
    instructions: tuple[TracedInstruction, ...]
    version: str | None = None
    issues: tuple[str, ...] = field(default=())
    wavefronts: int | None = None
    lifetimes: tuple[int, ...] = ()
    timeline: Timeline = field(default=Timeline())
    dispatches: tuple[Dispatch, ...] = ()

    @property
    def hits(self) -> int:
        """Issues in all."""
        return sum(one.hits for one in self.instructions)

    @property
    def latency(self) -> int:
        """Cycles in all, summed over wavefronts that ran at the same time: not the kernel's time."""
        return sum(one.latency for one in self.instructions)

    def by_line(self) -> list[LineCost]:
        """Cost by source line, most expensive first. Instructions without a line are under ``?``."""
        return self._grouped([one.source or "?" for one in self.instructions])

    def by_mnemonic(self) -> list[LineCost]:
        """Cost by mnemonic, most expensive first."""
        return self._grouped([one.mnemonic or "?" for one in self.instructions])

    def by_stall(self) -> list[StalledInstruction]:
        """Instructions of the wavefronts that have a file of their own, most stalled first."""
        listed = {one.line: one for one in self.instructions if one.line is not None}
        totals = self.timeline.totals()
        whole = sum(one.stall for one in totals)
        return [
            StalledInstruction(
                **asdict(one),
                text=listed[one.line].text if one.line in listed else None,
                source=listed[one.line].source if one.line in listed else None,
                share=one.stall / whole if whole else 0.0,
            )
            for one in totals
        ]

    def _grouped(self, names: list[str]) -> list[LineCost]:
        groups: dict[str, list[TracedInstruction]] = {}
        for name, one in zip(names, self.instructions, strict=True):
            if one.hits or one.latency:
                groups.setdefault(name, []).append(one)
        whole = self.latency
        costs = [
            LineCost(
                name,
                len(members),
                sum(one.hits for one in members),
                sum(one.latency for one in members),
                sum(one.stall or 0 for one in members) if any(one.stall is not None for one in members) else None,
                sum(one.latency for one in members) / whole if whole else 0.0,
            )
            for name, members in groups.items()
        ]
        return sorted(costs, key=lambda cost: (-cost.latency, -cost.hits, cost.name))
