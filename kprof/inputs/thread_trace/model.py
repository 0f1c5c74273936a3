"""Data model of a thread trace (ATT): how often each instruction was issued, and its cycles."""

import re
from dataclasses import asdict, dataclass, field

from kprof.inputs.thread_trace.timeline import StalledInstruction, Timeline

_MNEMONIC = re.compile(r"[a-z][a-z0-9_]*")


def kernel_in(comment: str) -> str | None:
    """Return the kernel that a listing's comment row names; ``None`` for rows such as ``; Begin ATT``."""
    name = comment.strip().lstrip(";").strip()
    return name if name and not name.lower().startswith(("begin att", "end att")) else None


@dataclass(frozen=True)
class TracedInstruction:
    """One instruction of the traced kernel.

    Attributes:
        index: position in the instruction listing.
        text: disassembled text.
        code_object: number of the code object, if recorded.
        address: virtual address in bytes.
        hits: number of times that the traced wavefronts issued the instruction.
        latency: cycles from when the instruction could have been issued until it completed, summed over the hits.
        stall: cycles of the latency in which the instruction could not be issued; ``None`` if the format does not
            contain them.
        idle: cycles before the instruction in which no instruction was ready; ``None`` if the format does not contain
            them.
        source: ``file:line``, or ``None`` if unknown.
        line: number by which files of single wavefronts refer to the instruction; ``None`` if the format has no such
            number.
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
        """The first word of the text."""
        match = _MNEMONIC.match(self.text)
        return match[0] if match else ""


@dataclass(frozen=True)
class LineCost:
    """Total cost of all instructions of one source line or mnemonic.

    Attributes:
        name: ``file:line`` or mnemonic.
        instructions: number of different instructions.
        hits: number of times that the instructions were issued.
        latency: total latency in cycles.
        stall: total stall cycles; ``None`` if the format does not contain them.
        share: fraction of the trace's total latency, 0 to 1.
    """

    name: str
    instructions: int
    hits: int
    latency: int
    stall: int | None
    share: float


@dataclass(frozen=True)
class Dispatch:
    """Summary of a traced dispatch.

    Attributes:
        path: path of the dispatch's instruction listing.
        agent: agent number in the name of the listing's folder or file, or ``None`` if the name has none.
        dispatch: dispatch number in the name of the listing's folder or file, or ``None`` if the name has none.
        kernel: kernel name in the listing; ``None`` if it contains none.
        hits: number of instructions issued by the traced wavefronts.
        latency: total cycles of these instructions.
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
        path: path of the instruction listing, the main file of the trace.
        format: name of the file's layout.
        kernel: kernel name from the listing's comment line, if there is one.
        version: version of the decoder, if recorded.
        instructions: instructions in the address order of the listing.
        issues: sentences about problems.
        wavefronts: number of wavefronts in the list of wavefront files; ``None`` without such a list.
        lifetimes: cycles from begin to end of each listed wavefront.
        timeline: content of the files about single wavefronts, states and occupancy; empty without such files.
        dispatches: all dispatches of the folder, starting with this one; empty if there is only one.
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
        """Total number of issued instructions."""
        return sum(one.hits for one in self.instructions)

    @property
    def latency(self) -> int:
        """Total latency in cycles, summed over wavefronts that ran concurrently. It is not the kernel's duration."""
        return sum(one.latency for one in self.instructions)

    def by_line(self) -> list[LineCost]:
        """Return the cost by source line, most expensive first; ``?`` has the instructions without a line."""
        return self._grouped([one.source or "?" for one in self.instructions])

    def by_mnemonic(self) -> list[LineCost]:
        """Return the cost by mnemonic, most expensive first."""
        return self._grouped([one.mnemonic or "?" for one in self.instructions])

    def by_stall(self) -> list[StalledInstruction]:
        """Return the cost of each instruction, summed over wavefronts that have their own file; most stalled first."""
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
