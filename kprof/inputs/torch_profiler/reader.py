"""Read the events of a Kineto trace block by block; events of a damaged block are decoded one by one."""

import json
import re
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import msgspec

from kprof.errors import InputError
from kprof.inputs.torch_profiler.events import FullEvent, Loose, SlimEvent
from kprof.inputs.torch_profiler.issues import IssueLog, TraceIssue
from kprof.inputs.torch_profiler.normalise import kind_of
from kprof.inputs.torch_profiler.opening import BLOCK, blocks
from kprof.inputs.torch_profiler.proton import one_document
from kprof.inputs.torch_profiler.repair import Repair
from kprof.inputs.torch_profiler.scan import EVENT_START, last_boundary
from kprof.inputs.torch_profiler.summary_events import SummaryEvent, summary_decoder

MAX_OPEN = 100_000
_phase = attrgetter("ph")
_PAIRED = frozenset("BE")

E = TypeVar("E", SlimEvent, FullEvent)
Q = TypeVar("Q")

MAX_HEADER = 64 << 20
MAX_FOOTER = 64 << 20
_EVENTS_KEY = re.compile(rb'"traceEvents"\s*:\s*\[')
_LIST_END = re.compile(rb"\}\s*\]")
_END_GUESSES = 8
# Maximum number of blocks for which the batch decoder is skipped after it failed; the number doubles from one.
_MOST_PATIENCE = 64
_CLOSING = ord("]")
_READ = "supported are traces of PyTorch, rocprof, rocpd, Proton, Perfetto (.pftrace) and XLA (.xplane.pb)"


class TraceReader(Generic[E]):
    """Reader of one file, which can be read once, from beginning to end.

    After all events have been consumed, :attr:`metadata`, :attr:`issues` and :attr:`bytes_read` are complete. Memory
    use is a few blocks, whatever the size of the file.
    """

    def __init__(self, path: Path | str, kind: type[E], block: int = BLOCK) -> None:
        self.path = Path(path)
        self.log = IssueLog(str(path))
        self.metadata: dict[str, Any] = {}
        self.bytes_read = 0
        self.events_read = 0
        self._block = block
        self._decode_many = msgspec.json.Decoder(list[kind]).decode  # type: ignore[valid-type]
        self._repair = Repair(kind, self.log)
        self._is_list = False
        self._batch_decoder: Callable[[memoryview], list[Any]] | None = None
        self._wait, self._patience = 0, 1

    @property
    def issues(self) -> tuple[TraceIssue, ...]:
        """Issues found so far."""
        return self.log.all()

    def events(self) -> Iterator[list[E]]:
        """Yield lists of events in file order. A begin event and its end event become one complete event.

        The complete event has the position of the end event.

        Raises:
            KprofError: if the file cannot be read or is not a trace. Damage inside a trace is reported in
                :attr:`issues` instead.
        """
        # No batch decoder is used, so all events have the reader's type.
        yield from cast("Iterator[list[E]]", self._batches())

    def batches(self) -> Iterator[list[E] | list[SummaryEvent]]:
        """Yield lists as :meth:`events` does, of :data:`SummaryEvent` if a list has no begins, ends or damage."""
        return self.decoded_by(summary_decoder())

    def decoded_by(self, decoder: Callable[[memoryview], list[Q]]) -> Iterator[list[E] | list[Q]]:
        """Yield lists as :meth:`events` does, but use the faster ``decoder`` for each list that it accepts.

        Args:
            decoder: function that raises msgspec's errors for lists that it does not accept. It must reject every list
                with begin or end events, because those have to be paired.
        """
        self._batch_decoder = decoder
        return self._batches()

    def _batches(self) -> Iterator[list[E] | list[Any]]:
        pairing: Pairing[E] = Pairing(self.log)
        for events in self._as_written():
            if isinstance(events[0], SlimEvent | FullEvent):
                events = pairing.complete(events)  # noqa: PLW2901 - all of one kind
            if events:
                yield events
        pairing.finish()

    def _as_written(self) -> Iterator[list[E] | list[Any]]:
        source = self._counted(one_document(blocks(self.path, self.log, self._block)))
        carry = self._header(source)
        self._refuse_rocprof(carry)
        offset = self.bytes_read - len(carry)
        for block in source:
            # The buffer begins with the list's opening bracket, and the closing bracket is written into it later.
            # The data can therefore be decoded as a list without another copy.
            data = bytearray(b"[")
            data += carry
            data += block
            cut = last_boundary(data)
            if cut is None:
                if len(data) <= self._block * 2:
                    carry = bytes(data[1:])
                    continue
                cut = len(data)
            events, footer, rest = self._decode(data, cut, offset)
            self.events_read += len(events)
            if events:
                yield events
            if footer is not None:
                self._footer(footer, source)
                return
            offset += len(carry) + len(block) - len(rest)
            carry = rest
        yield from self._tail(carry, offset)

    def refuse_other_lists(self) -> None:
        """Raise an error for a file without events whose list contains other values, because it is not a trace."""
        if any(i.kind == "malformed" for i in self.issues):
            raise InputError("the list contains no profiler events", path=str(self.path))

    def _counted(self, source: Iterator[bytes]) -> Iterator[bytes]:
        for block in source:
            self.bytes_read += len(block)
            yield block

    def _header(self, source: Iterator[bytes]) -> bytes:
        """Consume the text before the events, and return the bytes after the opening bracket."""
        data = b""
        searched = 0
        for block in source:
            data += block
            text = data.lstrip(b"\xef\xbb\xbf \t\r\n")
            if text.startswith(b"["):
                self._is_list = True
                return text[1:]
            if text and not text.startswith(b"{"):
                raise InputError(
                    "not JSON: a trace starts with { or [",
                    path=str(self.path),
                    place="byte 0",
                    hint=_READ,
                )
            for match in _EVENTS_KEY.finditer(data, max(0, searched - 64)):
                if self._take_header(data[: match.start()]):
                    return data[match.end() :]
            searched = len(data)
            if searched > MAX_HEADER:
                break
        if not data.strip():
            raise InputError("the file is empty", path=str(self.path))
        raise InputError(
            "not a PyTorch profiler trace: it has no list of traceEvents",
            path=str(self.path),
            hint=_READ,
        )

    def _refuse_rocprof(self, events: bytes) -> None:
        """Raise an error for a trace of rocprof v1, which has the same outer structure."""
        # Flow events are the only events of rocprof v1 with a category.
        head = events[: 1 << 16].replace(b'"cat":"DataFlow"', b"")
        rocprof = (b'"KernelName"' in head and b'"gpu-id"' in head) or (b'"BeginNs"' in head and b'"EndNs"' in head)
        if rocprof and b'"cat"' not in head:
            raise InputError(
                "this is a trace of rocprof, not of PyTorch's profiler",
                path=str(self.path),
                hint=f"kprof ingest counters {self.path}",
            )

    def _take_header(self, data: bytes) -> bool:
        # Closing the object here yields valid JSON only at depth 1.
        header = _object(data.lstrip(b"\xef\xbb\xbf") + b'"":0}')
        if header is None:
            return False
        header.pop("", None)
        self.metadata.update(header)
        return True

    def _decode_as_batch(self, data: memoryview) -> list[Any] | None:
        """Return the events of a block; ``None`` if the batch decoder rejects it or is skipped after a rejection."""
        if self._batch_decoder is None:
            return None
        if self._wait:
            self._wait -= 1
            return None
        try:
            events = self._batch_decoder(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._wait, self._patience = self._patience - 1, min(2 * self._patience, _MOST_PATIENCE)
            return None
        self._patience = 1
        return events

    def _decode(self, data: bytearray, cut: int, offset: int) -> tuple[list[E] | list[Any], bytes | None, bytes]:
        """Return the events before ``cut``, the text after the list's end if found, and the data for the next block."""
        at_end = cut == len(data)
        if at_end:
            data += b"]"
        replaced = data[cut]
        data[cut] = _CLOSING
        try:
            # Raw arguments keep views of the buffer, so it must not be resized after this point.
            closed = memoryview(data)[: cut + 1]
            events = self._decode_as_batch(closed) or self._decode_many(closed)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            data[cut] = replaced
            body = bytes(data[1:cut] if at_end else data[1:])
            repaired, end, kept = self._repair.events(body, offset, final=False)
            return repaired, None if end is None else body[end + 1 :], body[kept:]
        data[cut] = replaced
        # Between the cut and the next event, there are only blanks and a comma.
        return events, None, b"" if at_end else bytes(data[data.find(b",", cut) + 1 :])

    def _tail(self, data: bytes, offset: int) -> Iterator[list[E]]:
        for match in list(_LIST_END.finditer(data))[: -_END_GUESSES - 1 : -1]:
            if self._is_list and EVENT_START.search(data, match.end()):
                # Events follow this closing bracket, so it does not end the list. They are read below, one by one.
                break
            try:
                events = self._decode_many(b"[" + data[: match.start() + 1] + b"]")
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            self.events_read += len(events)
            yield events
            self._footer(data[match.end() :], iter(()))
            return
        repaired, end, kept = self._repair.events(data, offset, final=True)
        self.events_read += len(repaired)
        if repaired:
            yield repaired  # type: ignore[misc]
        if end is not None:
            self._footer(data[end + 1 :], iter(()))
            return
        left = data[kept:].strip(b" \t\r\n,")
        self.log.add(
            "cut-off",
            "the file ends in the middle of an event" if left else "the file ends before its list of events does",
            place=f"byte {offset + kept}",
            lost=1 if left else 0,
        )

    def _footer(self, data: bytes, source: Iterator[bytes]) -> None:
        """Parse the text after the events, which contains further metadata or nothing."""
        for block in source:
            data += block
            if len(data) > MAX_FOOTER:
                self.log.add("long-footer", "metadata after the events is larger than 64 MiB and was left out")
                return
        text = data.strip()
        if self._is_list:
            if text:
                self.log.add("trailing-garbage", "bytes after the end of the list were left out")
            return
        footer = _object(b'{"":0' + text)
        if footer is None:
            lost = len(EVENT_START.findall(text))
            self.log.add("bad-footer", "the text after the events is not valid JSON and was left out", lost=lost)
            return
        footer.pop("", None)
        self.metadata.update(footer)


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(data.decode(errors="replace"), strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


class Pairing(Generic[E]):
    """Pairs the begin and end events of a file; keeps up to :data:`MAX_OPEN` begin events, by process and thread."""

    def __init__(self, log: IssueLog) -> None:
        self._log = log
        self._open: dict[tuple[Loose, Loose], list[E]] = {}
        self._depth = 0

    def complete(self, events: list[E]) -> list[E]:
        """Return the events with each begin and end replaced by a complete event at the end's position.

        An end closes the innermost open event of its thread, or the innermost one with its name. Events are left out
        and counted as lost if they have no partner, end before they begin, or are open when an enclosing event ends.
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
        """Report the events that are still open at the end of the file."""
        for stack in self._open.values():
            for event in stack:
                self._count_as_lost(event, "begin events without an end were left out")
        self._open.clear()

    def _begin(self, event: E) -> None:
        if self._depth >= MAX_OPEN:
            self._count_as_lost(event, "begin events without an end were left out")
            return
        self._open.setdefault((event.pid, event.tid), []).append(event)
        self._depth += 1

    def _end(self, end: E) -> E | None:
        stack = self._open.get((end.pid, end.tid), [])
        place = len(stack) - 1
        while place >= 0 and end.name and stack[place].name != end.name:
            place -= 1
        if place < 0:
            self._count_as_lost(end, "end events without a begin were left out")
            return None
        for inner in stack[place + 1 :]:
            self._count_as_lost(inner, "begin events without an end were left out")
        begin = stack[place]
        self._depth -= len(stack) - place
        del stack[place:]
        if begin.ts is None or end.ts is None or end.ts < begin.ts:
            self._count_as_lost(begin, "events that end before they begin were left out")
            return None
        begin.ph = "X"
        # Times are written with nanosecond resolution, so rounding removes the error of the subtraction.
        begin.dur = round(end.ts - begin.ts, 3)
        if begin.args is None:
            begin.args = end.args
        return begin

    def _count_as_lost(self, event: E, message: str) -> None:
        if kind_of(event.cat, event.pid) != "other" or not event.cat:
            self._log.add("unpaired-phase", message, place=event.name[:80], lost=1)
