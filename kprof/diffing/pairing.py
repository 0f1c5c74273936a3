"""Pair the entries of two reports that belong to the same kernel."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
from msgspec import UNSET

from kprof.diffing import facts
from kprof.document import KernelReport

_PARTS = ("signature", "constexprs", "attributes", "options", "environment")
# If a larger share of two specialisations differs, their reports do not count as the same kernel.
_MOST_DIFFERENT = 0.5
# If there are more candidate pairs of one name than this, only entries with equal specialisations are paired.
_MOST_CANDIDATES = 250_000
BY_LIKENESS = "several entries have the same description: paired by similarity"
"""Note on an uncertain pair, because a better and a worse kernel may have been swapped."""


@dataclass(frozen=True)
class KernelPair:
    """Paired entries of both sides. ``old`` is ``None`` for new kernels, ``new`` for kernels that are gone.

    Attributes:
        old, new: positions among the entries of their side.
        notes: why the pair is not certain.
    """

    old: int | None
    new: int | None
    notes: tuple[str, ...] = ()


def match(old: Sequence[KernelReport], new: Sequence[KernelReport]) -> list[KernelPair]:
    """Pair the kernels of two sides of a comparison.

    Entries are paired in this order:

    1. the same name, architecture, grid and specialisation; 2. the same name, architecture, grid, types, compile-time
    values and options, but other hints, because of another Triton or another launch; 3. as in 1 and 2, but with any
    grid; 4. the nearest specialisation of the same name and architecture.

    If several entries have equal descriptions, those that were read from files of the same name are paired. If the
    files' names do not decide, the most similar entries are paired, with a note.
    """
    left, right = dict(enumerate(old)), dict(enumerate(new))
    found: list[KernelPair] = []
    for key in (_with_grid(_exactly), _with_grid(_without_hints), _exactly, _without_hints):
        found += _same(left, right, key)
    found += _pair_nearest(left, right)
    found += [KernelPair(i, None) for i in left]
    found += [KernelPair(None, j) for j in right]
    return sorted(found, key=lambda m: (m.old is None, m.old if m.old is not None else m.new))


def _with_grid(key: Callable[[KernelReport], Hashable]) -> Callable[[KernelReport], Hashable]:
    return lambda kernel: (key(kernel), facts.grid(kernel))


def _exactly(kernel: KernelReport) -> Hashable:
    return (kernel.name, kernel.arch, json.dumps(_plain(kernel), sort_keys=True, default=str))


def _without_hints(kernel: KernelReport) -> Hashable:
    plain = {part: value for part, value in _plain(kernel).items() if part not in {"attributes", "environment"}}
    return (kernel.name, kernel.arch, json.dumps(plain, sort_keys=True, default=str))


def _plain(kernel: KernelReport) -> dict[str, object]:
    if kernel.specialization is UNSET:
        return {}
    found: dict[str, object] = msgspec.to_builtins(kernel.specialization, enc_hook=str)
    return found


def _same(
    left: dict[int, KernelReport], right: dict[int, KernelReport], key: Callable[[KernelReport], Hashable]
) -> Iterable[KernelPair]:
    """Pair entries with the same key and remove them from both sides."""
    groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, entries in enumerate((left, right)):
        for index, kernel in entries.items():
            groups[key(kernel)][side].append(index)
    for before, after in groups.values():
        alone = len(before) == len(after) == 1
        for i, j in () if alone else _same_file(left, right, before, after):
            before.remove(i)
            after.remove(j)
            del left[i], right[j]
            yield KernelPair(i, j)
        pairs = [*zip(before, after, strict=True)] if alone else _pair_by_similarity(left, right, before, after)
        note = () if alone else (BY_LIKENESS,)
        for i, j in pairs:
            del left[i], right[j]
            yield KernelPair(i, j, note)


def _same_file(
    left: dict[int, KernelReport], right: dict[int, KernelReport], before: list[int], after: list[int]
) -> list[tuple[int, int]]:
    """Pair entries that were read from files of the same name, if each name is unique on both sides."""
    ours, theirs = _by_file(left, before), _by_file(right, after)
    return [(i, theirs[file]) for file, i in ours.items() if file in theirs]


def _by_file(entries: dict[int, KernelReport], chosen: list[int]) -> dict[str, int]:
    counts = Counter(entries[index].file for index in chosen)
    return {file: i for i in chosen if (file := entries[i].file) is not UNSET and counts[file] == 1}


def _pair_by_similarity(
    left: dict[int, KernelReport], right: dict[int, KernelReport], before: list[int], after: list[int]
) -> list[tuple[int, int]]:
    """Pair entries that nothing else distinguishes: first those with equal facts, then the others in order of size."""
    pairs: list[tuple[int, int]] = []
    waiting = list(after)
    for i in list(before):
        for j in waiting:
            if left[i].instructions == right[j].instructions and left[i].resources == right[j].resources:
                pairs.append((i, j))
                waiting.remove(j)
                break
    done = {i for i, _ in pairs}
    rest = sorted((i for i in before if i not in done), key=lambda i: _size(left[i]))
    return [*pairs, *zip(rest, sorted(waiting, key=lambda j: _size(right[j])), strict=False)]


def _size(kernel: KernelReport) -> tuple[float, ...]:
    return (
        sum(loop.flops for loop in kernel.loops),
        sum(kernel.instructions.values()),
        facts.resource(kernel, "vgpr_allocated") or 0,
    )


def _pair_nearest(left: dict[int, KernelReport], right: dict[int, KernelReport]) -> Iterable[KernelPair]:
    """Pair the remaining entries of the same name and architecture, beginning with those that differ least."""
    groups: dict[tuple[str, str], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, entries in enumerate((left, right)):
        for index, kernel in entries.items():
            groups[kernel.name, kernel.arch][side].append(index)
    for before, after in groups.values():
        if not before or not after or len(before) * len(after) > _MOST_CANDIDATES:
            continue
        ours = {i: _items(left[i]) for i in before}
        theirs = {j: _items(right[j]) for j in after}
        candidates = sorted((_distance(ours[i], theirs[j]), i, j) for i in before for j in after)
        for distance, i, j in candidates:
            if i in left and j in right and (distance <= _MOST_DIFFERENT or len(before) == len(after) == 1):
                del left[i], right[j]
                yield KernelPair(i, j, ("the nearest specialisation: none is the same",))


def _items(kernel: KernelReport) -> dict[tuple[str, str], str]:
    """Return all parts of a kernel's specialisation as a flat mapping."""
    if kernel.specialization is UNSET:
        return {}
    return {
        (part, name): json.dumps(value, sort_keys=True, default=str)
        for part in _PARTS
        for name, value in getattr(kernel.specialization, part).items()
        if value is not None
    }


def _distance(a: dict[tuple[str, str], str], b: dict[tuple[str, str], str]) -> float:
    """Return the share of items that differ, among the parts that both specialisations record."""
    parts = {part for part, _ in a} & {part for part, _ in b}
    names = {key for key in (*a, *b) if key[0] in parts}
    if not names:
        return 0.0 if not a and not b else _MOST_DIFFERENT
    return sum(a.get(key) != b.get(key) for key in names) / len(names)
