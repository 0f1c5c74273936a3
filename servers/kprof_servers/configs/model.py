"""What the readers of tuned configurations give and the checks get."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kprof_servers.configs.json_text import JsonNode, JsonPlace, Member

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda _: "not a literal"})()
"""The value of a knob that the text alone does not tell."""

_BOUND = re.compile(r"M_(LEQ|GEQ)_(\d{1,12})", re.ASCII)


@dataclass(frozen=True)
class Knob:
    """One setting of a configuration.

    Attributes:
        name: as the file spells it.
        value: a number, text, truth value or ``None``; :data:`UNKNOWN` when the text does not tell.
        place: the name's place in the file.
    """

    name: str
    value: Any
    place: JsonPlace


@dataclass(frozen=True)
class Bucket:
    """One configuration, and the problems it is for.

    Attributes:
        path: keys from the outside in, the bucket's own last: ``("M_LEQ_64",)``, ``("fwd", "default")``; for a
            ``triton.Config`` the function that it tunes.
        place: the bucket's key.
        knobs: in the file's order.
    """

    path: tuple[str, ...]
    place: JsonPlace
    knobs: tuple[Knob, ...]

    @property
    def name(self) -> str:
        """``M_LEQ_64``, or ``fwd/default``."""
        return "/".join(self.path)

    @property
    def bound(self) -> tuple[str, int] | None:
        """``("LEQ", 64)`` of ``M_LEQ_64``; ``None`` of other buckets."""
        match = _BOUND.fullmatch(self.path[-1]) if self.path else None
        return (match[1], int(match[2])) if match else None

    def knob(self, *names: str) -> Knob | None:
        """The first of these knobs that it has."""
        return next((knob for name in names for knob in self.knobs if knob.name == name), None)

    def values(self) -> dict[str, Any]:
        """Knob name to value."""
        return {knob.name: knob.value for knob in self.knobs}


@dataclass(frozen=True)
class Oddity:
    """Something that the reader cannot make sense of where it stands."""

    place: JsonPlace
    message: str


@dataclass(frozen=True)
class Broken:
    """Why a text could not be read at all."""

    place: JsonPlace
    reason: str


@dataclass(frozen=True)
class ConfigFile:
    """One file with tuned configurations.

    Attributes:
        path: as it was named.
        format: the reader's name: ``AITER flat``, ``vLLM``.
        arch: architecture as the file's name or folder writes it, known or not; ``None`` when nothing says.
        device: the device's name as the file's name writes it.
        family: kernel family, ``GEMM-A16W16``; the layers' key in vLLM.
        backend: ``triton`` or ``gluon``, where the format tells them apart.
        parameters: what the file's name says of the problem: ``{"N": "256", "K": "7168"}``.
        default: it is the file that is used when there is none for the shape.
        buckets: the configurations, in order.
        vocabulary: the family of ``vocabulary`` that lists its knobs; ``None``: any knob may stand here.
        oddities: what the reader could not make sense of.
        repeated: paths and members of keys that stand twice in one object.
        broken: why nothing could be read.
    """

    path: str
    format: str
    arch: str | None = None
    device: str | None = None
    family: str | None = None
    backend: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    default: bool = False
    buckets: tuple[Bucket, ...] = ()
    vocabulary: str | None = None
    oddities: tuple[Oddity, ...] = ()
    repeated: tuple[tuple[tuple[str, ...], Member, Member], ...] = ()
    broken: Broken | None = None

    def levels(self) -> dict[tuple[str, ...], list[Bucket]]:
        """Buckets that stand side by side, by the keys above them."""
        found: dict[tuple[str, ...], list[Bucket]] = {}
        for bucket in self.buckets:
            found.setdefault(bucket.path[:-1], []).append(bucket)
        return found


def buckets_of(node: JsonNode, path: tuple[str, ...] = ()) -> tuple[list[Bucket], list[Oddity]]:
    """Every object below a document that holds settings, and what is neither that nor an object of such.

    Of repeated keys the last one counts, as for Python's reader. A key that begins with an underscore is a comment.
    """
    found: list[Bucket] = []
    odd: list[Oddity] = []
    for member in _last(node.members or ()):
        if member.key.startswith("_"):
            continue
        inner = member.value
        here = (*path, member.key)
        if inner.members is None:
            odd.append(Oddity(member.place, f"{'/'.join(here)} is {_kind(inner)}, not a configuration"))
            continue
        knobs = [m for m in _last(inner.members) if m.value.members is None]
        nested = [m for m in inner.members if m.value.members is not None]
        if knobs or not nested:
            found.append(Bucket(here, member.place, tuple(Knob(m.key, m.value.plain(), m.place) for m in knobs)))
        if nested:
            more, worse = buckets_of(JsonNode(inner.place, members=tuple(nested)), here)
            found += more
            odd += worse
    return found, odd


def _last(members: Sequence[Member]) -> list[Member]:
    return list({member.key: member for member in members}.values())


def _kind(node: JsonNode) -> str:
    if node.items is not None:
        return "a list"
    if node.value is None or isinstance(node.value, bool):
        return {True: "true", False: "false", None: "null"}[node.value]
    return "text" if isinstance(node.value, str) else "a number"
