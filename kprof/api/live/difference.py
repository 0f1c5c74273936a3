"""Compare a compiler stage of two configurations side by side, with equal lines aligned."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from kprof.api.live.listings import listing

AROUND = 3
"""Number of equal lines shown before and after a change."""

_COMMENT = re.compile(r"\s*;.*$")
# Names of values, blocks and registers. They are ignored, because one changed line renumbers all later names.
_NAMES = re.compile(r"%[\w$.#-]+|!\d+|\b[sva]\d+\b|\b[sva]\[\d+:\d+\]|\.L\w+")

Pieces = Sequence[Sequence[str]]
Line = tuple[int | None, Pieces]
Row = tuple[str, int | None, Pieces | None, int | None, Pieces | None]


@dataclass(frozen=True)
class StageDifference:
    """Comparison of one compiler stage of two configurations; ``changed`` is the number of changed rows.

    ``rows`` are ``[kind, old line, old pieces, new line, new pieces]``: line numbers, and pieces of highlighted text.
    The kind is ``same``, ``changed`` (a side without a line has no pieces), or ``gap``. A gap has the number of omitted
    equal lines in place of the old line number.
    """

    kernel: str
    stage: str
    changed: int
    rows: list[Row]


def difference(
    target: str, stage: str, old: Mapping[str, Any], new: Mapping[str, Any], kernel: int = 0
) -> StageDifference:
    """Compare a stage of one kernel, compiled with two sets of options.

    Lines count as equal if they differ only in names of values, blocks or registers, or in comments.

    Args:
        target: as for :func:`kprof.analyze`.
        stage: a key of :data:`kprof.api.live.listings.STAGES`.
        old: compile options of the old side, as for :func:`kprof.analyze`.
        new: compile options of the new side.
        kernel: position among the target's kernels.

    Raises:
        TargetError: the stage or the kernel does not exist.
        KprofError: as :func:`kprof.analyze`.
    """
    return side_by_side(*(asdict(listing(target, stage, kernel, **side)) for side in (old, new)))


def side_by_side(old: Mapping[str, Any], new: Mapping[str, Any]) -> StageDifference:
    """Align two listings of one stage, given as JSON values of :class:`kprof.api.live.listings.StageListing`."""
    rows = aligned(*([(line[0], line[1]) for line in side["lines"]] for side in (old, new)))
    return StageDifference(old["kernel"], old["stage"], sum(row[0] == "changed" for row in rows), rows)


def aligned(old: Sequence[Line], new: Sequence[Line]) -> list[Row]:
    """Align two listings into rows of :class:`StageDifference`; empty lines and comments are skipped."""
    left, right = ([(line, key) for line in side if (key := _key(line))] for side in (old, new))
    matcher = SequenceMatcher(None, [key for _, key in left], [key for _, key in right], autojunk=False)
    steps = matcher.get_opcodes()
    rows: list[Row] = []
    for at, (kind, a, b, c, d) in enumerate(steps):
        pairs = list(zip_longest((line for line, _ in left[a:b]), (line for line, _ in right[c:d])))
        if kind != "equal":
            rows += [_row("changed", *pair) for pair in pairs]
            continue
        head, tail = (0 if at == end else AROUND for end in (0, len(steps) - 1))
        hidden = len(pairs) - head - tail
        if hidden <= 1:
            rows += [_row("same", *pair) for pair in pairs]
            continue
        rows += [_row("same", *pair) for pair in pairs[:head]]
        rows.append(("gap", hidden, None, None, None))
        rows += [_row("same", *pair) for pair in pairs[len(pairs) - tail :]]
    return rows


def _row(kind: str, old: Line | None, new: Line | None) -> Row:
    return (kind, *(old or (None, None)), *(new or (None, None)))


def _key(line: Line) -> str:
    """Return the part of a line that is compared: its text without comments, and with names replaced by ``_``."""
    text = "".join(text for _, text in line[1])
    return _NAMES.sub("_", _COMMENT.sub("", text)).strip()
