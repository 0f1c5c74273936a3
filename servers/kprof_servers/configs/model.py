"""Data model of tuned configurations, which the readers create and the checks use."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kprof_servers.configs.json_text import JsonNode, JsonPlace, Member

UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda _: "not a literal"})()
"""Value of a knob that is not a literal in the text."""

_BOUND = re.compile(r"M_(LEQ|GEQ)_(\d{1,12})", re.ASCII)


@dataclass(frozen=True)
class Knob:
    """One setting of a configuration.

    Attributes:
        name: name as written in the file.
        value: a number, string, boolean or ``None``; :data:`UNKNOWN` if it is not a literal.
        place: place of the name in the file.
    """

    name: str
    value: Any
    place: JsonPlace


@dataclass(frozen=True)
class Bucket:
    """One configuration, and the problems that it is for.

    Attributes:
        path: keys of the enclosing objects and of the bucket: ``("M_LEQ_64",)``, ``("fwd", "default")``; for a
            ``triton.Config``, the function that it tunes and its line.
        place: place of the bucket's key.
        knobs: the settings, in file order.
    """

    path: tuple[str, ...]
    place: JsonPlace
    knobs: tuple[Knob, ...]

    @property
    def name(self) -> str:
        """Display name: ``M_LEQ_64`` or ``fwd/default``."""
        return "/".join(self.path)

    @property
    def bound(self) -> tuple[str, int] | None:
        """Comparison and number in the bucket's name: ``("LEQ", 64)`` for ``M_LEQ_64``; ``None`` for other names."""
        match = _BOUND.fullmatch(self.path[-1]) if self.path else None
        return (match[1], int(match[2])) if match else None

    def knob(self, *names: str) -> Knob | None:
        """Return the first of the named knobs that the bucket has, or ``None``."""
        return next((knob for name in names for knob in self.knobs if knob.name == name), None)

    def values(self) -> dict[str, Any]:
        """Return a map from knob name to value."""
        return {knob.name: knob.value for knob in self.knobs}


@dataclass(frozen=True)
class Oddity:
    """An element of a file that the reader cannot interpret."""

    place: JsonPlace
    message: str


@dataclass(frozen=True)
class Broken:
    """The reason why a text could not be parsed at all."""

    place: JsonPlace
    reason: str


@dataclass(frozen=True)
class ConfigFile:
    """One file with tuned configurations.

    Attributes:
        path: path as named by the user.
        format: name of the reader: ``AITER flat``, ``vLLM``.
        arch: architecture in the name of the file or folder, which may be unknown to kprof; ``None`` if there is none.
        device: name of the device in the file's name.
        family: kernel family, ``GEMM-A16W16``; for vLLM's files ``fused_moe`` or ``w8a8_block_fp8``.
        backend: ``triton`` or ``gluon``, if the format distinguishes them.
        parameters: problem parameters in the file's name: ``{"N": "256", "K": "7168"}``.
        default: True for the file that is used for shapes without their own file.
        buckets: the configurations, in file order.
        vocabulary: key of the family's knobs in ``vocabulary.FAMILIES``; ``None`` if any knob is allowed.
        oddities: elements that the reader could not interpret.
        repeated: keys that occur twice in one object: path of the object, first member and later member.
        broken: reason why nothing could be parsed; ``None`` if the file was parsed.
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
        """Group the buckets by the keys of the objects that contain them."""
        found: dict[tuple[str, ...], list[Bucket]] = {}
        for bucket in self.buckets:
            found.setdefault(bucket.path[:-1], []).append(bucket)
        return found


def buckets_of(node: JsonNode, path: tuple[str, ...] = ()) -> tuple[list[Bucket], list[Oddity]]:
    """Return the buckets of a JSON object (nested objects with settings), and an oddity for each other member.

    If a key is repeated, its last value counts, as in Python's JSON reader. Keys that begin with an underscore are
    comments and are skipped.
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
