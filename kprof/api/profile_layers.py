"""A model of many layers, profiled by running it with two smaller numbers of them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof_analyzers.whole_step.document import ProfileChange, ProfileDocument, ProfiledRow
    from kprof_analyzers.whole_step.timing import StepCall

PLACE = "{layers}"
"""What stands in a program's arguments for the number of its layers."""

_NAMED = 8


@dataclass(frozen=True)
class Layers:
    """Numbers of layers: of the two runs, and of the model.

    Attributes:
        few, more: that the program is run with.
        wanted: that the model has.
    """

    few: int
    more: int
    wanted: int

    @property
    def steps(self) -> int:
        """How often what the second run has more than the first comes on top of the first."""
        return (self.wanted - self.few) // (self.more - self.few)


def layers_of(text: str) -> Layers:
    """``32``: from runs with 1 and 2 layers; ``4,8,32``: from runs with 4 and 8.

    Raises:
        KprofError: these are no such numbers, or the model's cannot be reached in whole steps.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() for word in words) or len(words) not in {1, 3}:
        raise KprofError(f"no numbers of layers: {text!r}", hint="32, or 4,8,32 for runs with 4 and 8 layers")
    few, more, wanted = (1, 2, int(words[0])) if len(words) == 1 else map(int, words)
    if not 0 < few < more <= wanted:
        raise KprofError(f"the numbers of layers have to grow, got {few}, {more}, {wanted}")
    if (wanted - few) % (more - few):
        raise KprofError(f"from {few} layers in steps of {more - few} there is no way to {wanted}")
    return Layers(few, more, wanted)


@dataclass(frozen=True)
class OneRun:
    """A program's profile with one number of layers.

    Attributes:
        document: what it tells.
        calls: each launch and each call of an operator.
    """

    document: "ProfileDocument"
    calls: "Sequence[StepCall]"


def scaled(program: Sequence[str], layers: Layers, by: str, one: Callable[[list[str]], OneRun]) -> "ProfileDocument":
    """Profile a program with few layers and with more, and continue the line through both to the model's number.

    Args:
        program: its command, with :data:`PLACE` in an argument.
        layers: the numbers.
        by: what rows are made by.
        one: profiles a command.

    Raises:
        KprofError: no argument says where the number goes.
    """
    if not any(PLACE in word for word in program):
        raise KprofError(
            f"no argument of the program has {PLACE} in it",
            hint=f"kprof profile --layers {layers.wanted} -- python step.py {PLACE}",
        )
    few, more = (one([word.replace(PLACE, str(n)) for word in program]) for n in (layers.few, layers.more))
    return _continued(few, more, layers, by, list(program))


def _continued(few: OneRun, more: OneRun, layers: Layers, by: str, program: list[str]) -> "ProfileDocument":
    from msgspec.structs import replace

    from kprof_analyzers.whole_step.changes import MOST_CHANGES, WORTH
    from kprof_analyzers.whole_step.table import rows_of, shared

    uneven: list[str] = []
    rows = shared(_rows(rows_of(few.calls, by), rows_of(more.calls, by), by, layers.steps, uneven))
    named = _rows(rows_of(few.calls, "name"), rows_of(more.calls, "name"), "name", layers.steps, [])
    unknown = Counter({(row.name, row.why): row.calls for row in named if row.us is None})
    us = sum(row.us for row in rows if row.us is not None)
    changes = [one for one in _changes(few, more, layers.steps, us) if one.share >= WORTH]
    notes = list(more.document.notes)
    notes.append(f"each layer beyond {layers.few} is taken to add what those up to {layers.more} add")
    if uneven:
        more_words = f" and {len(uneven) - _NAMED} more" if len(uneven) > _NAMED else ""
        notes.append(
            f"less with {layers.more} layers than with {layers.few}, taken as with {layers.more}: "
            f"{', '.join(uneven[:_NAMED])}{more_words}"
        )
    peaks = few.document.peak_bytes, more.document.peak_bytes
    peak = None if None in peaks else int(_line(peaks[0] or 0, peaks[1] or 0, layers.steps))
    return replace(
        more.document,
        program=program,
        rows=rows,
        us=us,
        low_us=sum(row.low_us or 0.0 for row in rows),
        high_us=sum(row.high_us or 0.0 for row in rows),
        triton_us=sum(row.us or 0.0 for row in named if row.kind == "triton"),
        calls=sum(row.calls for row in rows),
        unknown_calls=unknown.total(),
        unknown=[f"{name} ({count:,}: {why})" for (name, why), count in unknown.most_common(_NAMED)],
        changes=changes[:MOST_CHANGES],
        notes=notes,
        peak_bytes=peak,
        layers=[layers.few, layers.more, layers.wanted],
    )


def _line(few: float, more: float, steps: int) -> float:
    return few + (more - few) * steps


def _rows(
    few: "Sequence[ProfiledRow]", more: "Sequence[ProfiledRow]", by: str, steps: int, uneven: list[str]
) -> "list[ProfiledRow]":
    """Rows of the whole model; names of those that shrink are added to ``uneven``."""
    from msgspec.structs import replace

    from kprof.reporters.profile_text import heading

    before = {(heading(row, by), row.why): row for row in few}
    found = []
    for row in more:
        own = before.pop((heading(row, by), row.why), None)
        if own is None:
            own = replace(row, calls=0, us=row.us and 0.0, low_us=row.low_us and 0.0, high_us=row.high_us and 0.0)
        if row.calls < own.calls or (row.us or 0.0) < (own.us or 0.0):
            uneven.append(heading(row, by))
            found.append(row)
            continue
        times = {
            name: None if getattr(row, name) is None else _line(getattr(own, name), getattr(row, name), steps)
            for name in ("us", "low_us", "high_us")
        }
        found.append(replace(row, calls=int(_line(own.calls, row.calls, steps)), **times))
    uneven += [heading(row, by) for row in before.values()]
    return found


def _changes(few: OneRun, more: OneRun, steps: int, whole: float) -> "list[ProfileChange]":
    from msgspec.structs import replace

    from kprof.hardware.machine import find_product
    from kprof_analyzers.whole_step.changes import every_change

    product = find_product(more.document.gpu)
    before = {one.what: one for one in every_change(few.calls, product)}
    found = []
    for one in every_change(more.calls, product):
        own = before.get(one.what)
        us = max(0.0, _line(own.us if own else 0.0, one.us, steps))
        calls = int(_line(own.calls if own else 0, one.calls, steps))
        now = _line(own.now_us if own else 0.0, one.now_us, steps)
        share = us / whole if whole else 0.0
        found.append(replace(one, us=us, share=share, calls=max(calls, one.calls), now_us=now))
    return sorted(found, key=lambda one: (-one.us, one.what))
