"""Begin and end events as one complete event each, as Chrome's trace format nests them: a stack a thread."""

from operator import attrgetter
from typing import Generic, TypeVar

from kprof.inputs.torch_profiler.events import FullEvent, Loose, SlimEvent
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.normalise import kind_of

E = TypeVar("E", SlimEvent, FullEvent)

MAX_OPEN = 100_000
_phase = attrgetter("ph")
_PAIRED = frozenset("BE")


class Pairing(Generic[E]):
    """Open events of one file, by process and thread; never more than :data:`MAX_OPEN`."""

    def __init__(self, log: IssueLog) -> None:
        self._log = log
        self._open: dict[tuple[Loose, Loose], list[E]] = {}
        self._depth = 0

    def complete(self, events: list[E]) -> list[E]:
        """The events with each begin and end replaced by a complete event, where its end stands.

        An end closes the innermost open event of its thread, or the innermost of its own name. What has no partner,
        ends before it begins or is open when one around it ends is left out and counted as lost.
        """
        if _PAIRED.isdisjoint(map(_phase, events)):
            return events
        result: list[E] = []
        for event in events:
            if event.ph == "B":
                self._begin(event)
            elif event.ph == "E":
                whole = self._end(event)
                if whole is not None:
                    result.append(whole)
            else:
                result.append(event)
        return result

    def finish(self) -> None:
        """Count what is still open at the end of the file."""
        for stack in self._open.values():
            for event in stack:
                self._lose(event, "begin events without an end were left out")
        self._open.clear()

    def _begin(self, event: E) -> None:
        if self._depth >= MAX_OPEN:
            self._lose(event, "begin events without an end were left out")
            return
        self._open.setdefault((event.pid, event.tid), []).append(event)
        self._depth += 1

    def _end(self, end: E) -> E | None:
        stack = self._open.get((end.pid, end.tid), [])
        place = len(stack) - 1
        while place >= 0 and end.name and stack[place].name != end.name:
            place -= 1
        if place < 0:
            self._lose(end, "end events without a begin were left out")
            return None
        for inner in stack[place + 1 :]:
            self._lose(inner, "begin events without an end were left out")
        begin = stack[place]
        self._depth -= len(stack) - place
        del stack[place:]
        if begin.ts is None or end.ts is None or end.ts < begin.ts:
            self._lose(begin, "events that end before they begin were left out")
            return None
        begin.ph = "X"
        # Times are written to the nanosecond; what the subtraction of doubles adds is not.
        begin.dur = round(end.ts - begin.ts, 3)
        if begin.args is None:
            begin.args = end.args
        return begin

    def _lose(self, event: E, message: str) -> None:
        if kind_of(event.cat, event.pid) != "other" or not event.cat:
            self._log.add("unpaired-phase", message, place=event.name[:80], lost=1)
