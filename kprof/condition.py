"""Timing conditions: the state of the caches before a launch, and the overhead that the timing method adds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Caches = Literal["kept", "clean", "dirty"]


@dataclass(frozen=True)
class Condition:
    """State of the caches and method of timing under which a launch is timed.

    Attributes:
        name: name of the condition, as in ``--condition``.
        caches: ``kept``: the same launch, or the program that contains it, ran just before, and its data is still in
            the last-level cache as far as it fits. ``clean``: other data was read since then. ``dirty``: other data was
            written since then, and must be written back to memory before this launch's data can replace it.
        events: True if the time includes the overhead of two events around each launch.
        replayed: True if the launch is part of a replayed graph.
        between: if ``caches`` is ``kept``, number of bytes accessed between two launches with the same data; ``None``:
            the launch's own bytes.
        written: True if the bytes in ``between`` are another kernel's results, of which an XCD's L2 holds only a random
            share.
        text: description for people.
        short: description in one or two words, for narrow lines.
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
"""Conditions by name, the default first."""


def in_short(name: str) -> str:
    """Return a short description of the caches before a launch; an unknown name is returned unchanged.

    >>> in_short("warm"), in_short("flushed-dirty")
    ('caches warm', 'caches flushed by writes')
    """
    known = CONDITIONS.get(name)
    return name if known is None else known.short
