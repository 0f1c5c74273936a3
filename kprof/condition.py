"""What a launch finds in the caches, and what the way of timing adds: the condition that a time is of."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Caches = Literal["kept", "clean", "dirty"]


@dataclass(frozen=True)
class Condition:
    """How the launches that are timed follow each other.

    Attributes:
        name: as ``--condition`` takes it.
        caches: ``kept``: the same launch, or the program that it is in, ran just before, and what fits the last-level
            cache is still there; ``clean``: something else was read since; ``dirty``: something else was written since,
            whose lines have to go to memory before this launch's can take their place.
        events: two events around each launch are part of its time.
        replayed: the launch is one of a graph that is replayed.
        between: bytes touched from one launch to the next one with the same data, where ``caches`` are ``kept``;
            ``None``: those of the launch itself.
        written: these bytes are another kernel's results, of which an XCD's L2 has no more than chance would have it.
        text: what it is, for people.
        short: the same in a word or two, where a line has no room.
    """

    name: str
    caches: Caches
    events: bool = False
    replayed: bool = False
    between: float | None = None
    written: bool = False
    text: str = ""
    short: str = ""


WARM = Condition("warm", "kept", text="launched again and again with the same data", short="caches warm")
FLUSHED = Condition(
    "flushed",
    "clean",
    events=True,
    text="caches flushed by reads before each launch, events around it",
    short="caches flushed by reads",
)
FLUSHED_DIRTY = Condition(
    "flushed-dirty",
    "dirty",
    events=True,
    text="caches flushed by writes before each launch, as do_bench does, events around it",
    short="caches flushed by writes",
)
GRAPH = Condition(
    "graph",
    "kept",
    replayed=True,
    text="a graph replayed again and again with the same data",
    short="caches warm, graph replay",
)

CONDITIONS: Mapping[str, Condition] = {one.name: one for one in (WARM, FLUSHED, FLUSHED_DIRTY, GRAPH)}
"""The conditions by name, the default first."""


def in_short(name: str) -> str:
    """Return what caches hold before a launch, for a line that has room for a word or two; an unknown name as it is.

    >>> in_short("warm"), in_short("flushed-dirty")
    ('caches warm', 'caches flushed by writes')
    """
    known = CONDITIONS.get(name)
    return name if known is None else known.short
