"""Decode the events of a damaged block one by one, keep the readable events and report the unreadable events."""

import json
import math
import re
from typing import Any

import msgspec

from kprof.inputs.torch_profiler.events import AnyEvent, FullArgs, FullEvent, Loose, SlimArgs
from kprof.inputs.torch_profiler.issues import IssueLog
from kprof.inputs.torch_profiler.scan import EVENT_START, ListScanner

# A larger event that is never closed is damage; the largest real events are under 1 MB.
MAX_EVENT = 8 << 20
_LEAST_PATIENCE = 1 << 10
_NESTED = frozenset({"grid", "block", "input_dims", "input_dims_old", "input_types", "concrete_inputs"})
# Closing bracket of the list of events with the text that may follow: more metadata, the end of the document, the end
# of the data.
_LIST_END = re.compile(rb'\]\s*(?:,\s*"|\}|\Z)')
_LONG_DIGITS = re.compile(r"(?<![\d.eE])-?\d{20,}(?![\d.eE])")


class _Bare(msgspec.Struct, gc=False):
    """The fields that an event must have; other fields are skipped even if they are damaged."""

    ph: str
    cat: str = ""
    name: str = ""
    ts: int | float | None = None
    dur: int | float | None = None


class _WithDevice(_Bare, gc=False):
    """The fields of :class:`_Bare`, and the fields that identify the event's device, for sums by device."""

    pid: Loose = None
    args: SlimArgs | None = None


_BARE = (msgspec.json.Decoder(_WithDevice).decode, msgspec.json.Decoder(_Bare).decode)


class Repair:
    """Decoder of single events into type ``kind``, which reports repairs in the log."""

    def __init__(self, kind: type[AnyEvent], issues: IssueLog) -> None:
        self._kind = kind
        self._decode = msgspec.json.Decoder(kind).decode
        self._issues = issues

    def events(self, data: bytes, offset: int, *, final: bool) -> tuple[list[AnyEvent], int | None, int]:
        """Return every readable event in ``data``.

        Returns:
            The events; the index of the bracket that ends the list, or ``None``; the index from which data must be kept
            for the next block.
        """
        events: list[AnyEvent] = []
        position = 0
        patience = MAX_EVENT
        while True:
            scanner = ListScanner(data, position, patience)
            before = len(events)
            resume = self._walk(scanner, data, offset, events)
            # The limit on an event's size shrinks after failures. Otherwise, damage that is repeated in every event
            # would make each scan reach the end of the data.
            patience = min(MAX_EVENT, patience << (len(events) - before).bit_length()) // 2 + _LEAST_PATIENCE
            if resume is None:
                if scanner.end is not None and _LIST_END.match(data, scanner.end):
                    return events, scanner.end, scanner.end
                rest = scanner.rest
                if scanner.end is not None:
                    # The bracket is misplaced; the list continues after it if events follow.
                    following = EVENT_START.search(data, rest)
                    if following is None and not final:
                        return events, None, rest
                    if following is not None:
                        self._issues.add(
                            "malformed",
                            "a closing bracket has no opening bracket",
                            place=f"byte {offset + rest}",
                            lost=1,
                        )
                        position = following.end()
                        continue
                following = (
                    EVENT_START.search(data, rest) if final or scanner.gave_up or len(data) - rest > MAX_EVENT else None
                )
                if following is None:
                    return events, None, rest
                self._issues.add("malformed", "an event has no end", place=f"byte {offset + rest}", lost=1)
                resume = following.end()
            position = resume

    def _walk(self, scanner: ListScanner, data: bytes, offset: int, events: list[AnyEvent]) -> int | None:
        """Collect events up to a damaged value that contains further events, and return the position of these events.

        Return ``None`` if the scanner stops before it finds such a value.
        """
        for begin, end in scanner:
            event = self.one(data[begin:end], offset + begin)
            if event is not None:
                events.append(event)
                continue
            following = EVENT_START.search(data, begin + 1, end)
            if following is not None:
                return following.end()
        return None

    def one(self, raw: bytes, offset: int) -> AnyEvent | None:
        """Return one event, repaired if necessary, or ``None`` if it is not an event."""
        try:
            return self._decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        place = f"byte {offset}"
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = raw.decode(errors="replace")
            self._issues.add("bad-utf8", "text that is not UTF-8 was replaced", place=place)
        try:
            value = json.loads(text)
        except RecursionError:
            value = None
        except ValueError:
            value = self._parse_leniently(text, place)
        if value is None:
            bare = self._without_arguments(raw, place)
            if bare is not None:
                return bare
        if not isinstance(value, dict):
            self._issues.add("malformed", "an entry is not a readable event", place=place, lost=1)
            return None
        if _LONG_DIGITS.search(text):
            self._issues.add("huge-integer", "an integer does not fit 64 bits", place=place)
        return self._coerce_fields(value, place)

    def _without_arguments(self, raw: bytes, place: str) -> AnyEvent | None:
        """Return the event with only its name and times, if only other fields are damaged, else ``None``."""
        for decode in _BARE:
            try:
                found = decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            event = self._kind(ph=found.ph, cat=found.cat, name=found.name, ts=found.ts, dur=found.dur)
            if isinstance(found, _WithDevice):
                event.pid = found.pid
                if found.args is not None:
                    event.args = self._args({"device": found.args.device, "rank": found.args.rank})
            self._issues.add("odd-arguments", "an event's arguments could not be read", place=place)
            return event
        return None

    def _parse_leniently(self, text: str, place: str) -> Any:
        try:
            value = json.loads(text, strict=False)
        except (ValueError, RecursionError):
            return None
        self._issues.add("control-character", "a text contains a control character", place=place)
        return value

    def _coerce_fields(self, value: dict[str, Any], place: str) -> AnyEvent:
        event = self._kind()
        for name in ("ph", "cat", "name"):
            text = value.get(name)
            setattr(event, name, text if isinstance(text, str) else "" if text is None else str(text))
        for name in ("ts", "dur"):
            setattr(event, name, self._number(value.get(name), name, place))
        for name in ("pid", "tid"):
            if not hasattr(event, name):
                continue
            plain = value.get(name)
            setattr(event, name, plain if isinstance(plain, (int, float, str)) else None)
        args = value.get("args")
        if isinstance(args, dict):
            event.args = self._args(args)
        elif args is not None:
            self._issues.add("odd-arguments", "an event's arguments are not an object", place=place)
        return event

    def _number(self, value: Any, name: str, place: str) -> int | float | None:
        if value is None:
            return None
        if isinstance(value, str):
            try:
                value = float(value) if not value.lstrip("-").isdigit() else int(value)
            except ValueError:
                self._issues.add("odd-number", f"{name} is not a number", place=place)
                return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._issues.add("odd-number", f"{name} is not a number", place=place)
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self._issues.add("not-finite", f"{name} is not a finite number", place=place)
            return None
        return value

    def _args(self, args: dict[str, Any]) -> Any:
        kind = FullArgs if self._kind is FullEvent else SlimArgs
        result = kind()
        for field in msgspec.structs.fields(kind):
            value = args.get(field.encode_name)
            if value is None:
                continue
            if field.name in _NESTED:
                value = msgspec.Raw(json.dumps(value).encode())
            elif not isinstance(value, (int, float, str)):
                continue
            setattr(result, field.name, value)
        return result
