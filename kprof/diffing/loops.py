"""Compare the loops of two compiles of a kernel: pair them, and find their changes."""

from collections.abc import Iterator, Mapping, Sequence

from kprof.diffing import facts
from kprof.diffing.document import Change
from kprof.diffing.limits import DiffLimits
from kprof.diffing.rating import ComparedFigure, rate
from kprof.document import KernelReport, LoopFacts
from kprof.findings import Location, Severity

Pair = tuple[LoopFacts | None, LoopFacts | None]

# The instructions of a loop differ a little between any two compiles, so only larger changes are reported: from 10 % as
# a note, from 25 % as a warning.
_TELL = 0.1
_WARN = 0.25
# Maximum relative difference of work between paired loops that share no source line.
_MOST_UNLIKE = 0.5
# Minimum difference in a class's number of instructions that is reported.
_FEW = 4


def pair_loops(old: Sequence[LoopFacts], new: Sequence[LoopFacts], moved: int = 0) -> list[Pair]:
    """Pair loops with common source lines, best match first; then pair loops with the same nesting and similar work.

    Loops without a partner come last, with ``None`` on the other side.

    Args:
        old: loops on the old side.
        new: loops on the new side.
        moved: number of lines by which the kernel moved down in its file.
    """
    candidates = []
    for i, a in enumerate(old):
        for j, b in enumerate(new):
            shared, unlike = _overlap(a, b, moved), _work_difference(a, b)
            alike = (a.depth, a.innermost) == (b.depth, b.innermost) and unlike <= _MOST_UNLIKE
            if shared > 0 or alike:
                nesting = (a.depth != b.depth, a.innermost != b.innermost)
                candidates.append((-shared, *nesting, unlike, abs(i - j), i + j, i, j))
    candidates.sort()
    left, right, pairs = set(range(len(old))), set(range(len(new))), []
    for *_, i, j in candidates:
        if i in left and j in right:
            left.remove(i)
            right.remove(j)
            pairs.append((i, j))
    found: list[Pair] = [(old[i], new[j]) for i, j in sorted(pairs)]
    found += [(old[i], None) for i in sorted(left)]
    return found + [(None, new[j]) for j in sorted(right)]


def _overlap(a: LoopFacts, b: LoopFacts, moved: int) -> float:
    """Return the common source lines as a share of the lines of both loops, 0 to 1; files are compared by name."""
    ours, theirs = _ranges(a, moved), _ranges(b)
    shared = sum(_common(ours[name], theirs[name]) for name in ours.keys() & theirs.keys())
    total = sum(last - first + 1 for first, last in (*ours.values(), *theirs.values())) - shared
    return shared / total if total > 0 else 0.0


def _ranges(loop: LoopFacts, moved: int = 0) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for file, (first, last) in loop.lines.items():
        found.setdefault(file.replace("\\", "/").rsplit("/", 1)[-1], (first + moved, max(first, last) + moved))
    return found


def _common(a: tuple[int, int], b: tuple[int, int]) -> int:
    return max(0, min(a[1], b[1]) - max(a[0], b[0]) + 1)


def _work_difference(a: LoopFacts, b: LoopFacts) -> float:
    """Return the relative difference in work per iteration, which distinguishes a main loop from its remainder loop."""
    ours, theirs = facts.work(a), facts.work(b)
    return abs(ours - theirs) / max(ours, theirs) if max(ours, theirs) else 0.0


def place(loop: LoopFacts) -> str:
    """Return the loop's source lines such as ``gemm.py:93-103``, else its label."""
    for file, (first, last) in loop.lines.items():
        name = file.replace("\\", "/").rsplit("/", 1)[-1]
        return f"{name}:{first}" if first == last else f"{name}:{first}-{last}"
    return loop.header


def compare_loops(old: KernelReport, new: KernelReport, limits: DiffLimits) -> Iterator[Change]:
    """Yield the changes in the loops of a kernel."""
    inner = 0
    pairs = pair_loops(old.loops, new.loops, _moved_lines(old, new))
    for a, b in pairs:
        if (a is None or a.innermost) and (b is None or b.innermost):
            inner += _spills(b) - _spills(a)
            yield from _innermost(a, b, limits)
    # Counts of an outer loop include those of its inner loops. Only a difference beyond that of the inner loops belongs
    # to the outer loop.
    before, after = facts.loop_spills(old) or 0, facts.loop_spills(new) or 0
    if abs(after - before) > abs(inner):
        around = next((b for _, b in pairs if b is not None and not b.innermost), None)
        text, where = "spill accesses in all loops", place(around) if around is not None else ""
        yield from rate(ComparedFigure("loop_spills", text, before, after, Severity.ERROR, where=where), limits)


def _moved_lines(old: KernelReport, new: KernelReport) -> int:
    """Return the number of lines by which the kernel moved down in its file."""
    if isinstance(old.source, Location) and isinstance(new.source, Location):
        return new.source.line - old.source.line
    return 0


def _spills(loop: LoopFacts | None) -> int:
    return loop.spill_accesses if loop is not None else 0


def _spill_change(a: LoopFacts | None, b: LoopFacts | None, limits: DiffLimits) -> Iterator[Change]:
    shown = b or a
    assert shown is not None
    found = ComparedFigure(
        "loop_spills",
        "spill accesses per iteration",
        _spills(a),
        _spills(b),
        Severity.ERROR,
        scale=_scale(a, b),
        where=place(shown),
        hot=_hot(a, b),
        note=_scale_note(_scale(a, b)),
    )
    yield from rate(found, limits)


def _hot(a: LoopFacts | None, b: LoopFacts | None) -> bool:
    return (a is not None and a.hot) or (b is not None and b.hot)


def _scale(a: LoopFacts | None, b: LoopFacts | None) -> float:
    """Return the work of a new iteration divided by that of an old one, because unrolling increases it."""
    if a is None or b is None or bool(a.flops) != bool(b.flops):
        return 1.0
    before, after = facts.work(a), facts.work(b)
    return after / before if before and after else 1.0


def _severity_of_count(before: float, after: float, *, is_hot: bool) -> Severity:
    """Return the severity of a changed count: a warning for a large relative change in the hot loop, else a note."""
    return Severity.WARNING if is_hot and abs(after - before) > _WARN * max(after, before) else Severity.NOTE


def _scale_note(scale: float) -> str:
    return "" if scale == 1 else f"for {scale:.3g} times the work"


def _innermost(a: LoopFacts | None, b: LoopFacts | None, limits: DiffLimits) -> Iterator[Change]:
    yield from _spill_change(a, b, limits)
    if a is None or b is None:
        return
    where, is_hot, scale = place(b), _hot(a, b), _scale(a, b)
    note = _scale_note(scale)

    def rated(kind: str, text: str, old: float, new: float, severity: Severity, **more: object) -> Iterator[Change]:
        defaults = {"where": where, "hot": is_hot, "scale": scale, "note": note}
        yield from rate(ComparedFigure(kind, text, old, new, severity, **{**defaults, **more}), limits)  # type: ignore[arg-type]

    yield from _widths(a.instructions, b.instructions, limits, where=where, is_hot=is_hot)
    before, after = facts.drains(a), facts.drains(b)
    severity = _severity_of_count(before * scale, after, is_hot=is_hot)
    yield from rated("drains", "full waits per iteration", before, after, severity)
    before, after = sum(a.instructions.values()), sum(b.instructions.values())
    severity = _severity_of_count(before * scale, after, is_hot=is_hot)
    yield from rated("loop_instructions", "instructions per iteration", before, after, severity, negligible=_TELL)
    for name in sorted({*a.classes, *b.classes}):
        count, now = a.classes.get(name, 0), b.classes.get(name, 0)
        # Scratch accesses were already reported, as spills in loops.
        if name != "scratch" and abs(now - count * scale) >= _FEW * scale**0.5:
            metric, text = f"instructions:{name}", f"{name} instructions per iteration"
            yield from rated("loop_class", text, count, now, Severity.NOTE, metric=metric, negligible=_TELL)
    for shape in sorted({*a.matrix, *b.matrix}):
        count, now = a.matrix.get(shape, 0), b.matrix.get(shape, 0)
        metric, text = f"matrix:{shape}", f"matrix instructions {shape} per iteration"
        yield from rated("matrix", text, count, now, Severity.NOTE, metric=metric)


def _widths(
    a: Mapping[str, int], b: Mapping[str, int], limits: DiffLimits, *, where: str = "", is_hot: bool = False
) -> Iterator[Change]:
    before, after = facts.widths(a), facts.widths(b)
    for kind in sorted(before.keys() & after.keys()):
        old, new = facts.mean_width(before[kind]), facts.mean_width(after[kind])
        note = "" if old == new else f"{_counts(before[kind])}, then {_counts(after[kind])} (count x bytes)"
        yield from rate(
            ComparedFigure(
                "width",
                f"bytes per lane of a {kind}",
                old,
                new,
                # LDS accesses of 8 and 16 bytes per lane cost about the same.
                Severity.WARNING if kind.startswith("global") else Severity.NOTE,
                metric=f"width:{kind}",
                negligible=_WARN,
                where=where,
                hot=is_hot,
                note=note,
            ),
            limits,
        )


def compare_widths(old: KernelReport, new: KernelReport, limits: DiffLimits) -> Iterator[Change]:
    """Yield changes of access widths outside loops: of all accesses if there is no loop, else of stores after loops."""
    if not old.loops and not new.loops:
        yield from _widths(old.instructions, new.instructions, limits)
        return
    a, b = ({k: n for k, n in kernel.instructions.items() if "store" in k} for kernel in (old, new))
    in_loops = any("store" in name for kernel in (old, new) for loop in kernel.loops for name in loop.instructions)
    if not in_loops:
        yield from (c for c in _widths(a, b, limits) if c.metric == "width:global store")


def _counts(sizes: dict[int, int]) -> str:
    return " ".join(f"{count}x{size}" for size, count in sizes.items())
