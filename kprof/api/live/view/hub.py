"""News for every open page: answers in the order in which they finish, and files that have changed."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

MOST_PAGES = 16
"""Pages that can be connected at a time."""
KEPT = 500
"""Answers that a page gets that is opened later."""

_WAITING = 256
_QUIET = 15.0
"""Seconds without news after which a sign of life is sent, so that a page that is gone is noticed."""


class Hub:
    """Tells news to all who listen; to be used from the event loop."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self.results: deque[Mapping[str, Any]] = deque(maxlen=KEPT)
        self._closed = False

    @property
    def full(self) -> bool:
        """Whether no further page can listen."""
        return len(self._listeners) >= MOST_PAGES or self._closed

    def tell(self, kind: str, news: Mapping[str, Any]) -> None:
        """Tell all pages; one that has not listened for long is left behind, and has to ask again."""
        if kind == "result":
            self.results.append(news)
        # One line, whatever the texts hold.
        text = f"event: {kind}\ndata: {json.dumps(news)}\n\n"
        for listener in list(self._listeners):
            try:
                listener.put_nowait(text)
            except asyncio.QueueFull:
                self._listeners.discard(listener)

    async def listen(self) -> AsyncIterator[str]:
        """News as server-sent events, until the hub is closed."""
        listener: asyncio.Queue[str | None] = asyncio.Queue(_WAITING)
        self._listeners.add(listener)
        try:
            yield ": listening\n\n"
            while listener in self._listeners and not self._closed:
                try:
                    news = await asyncio.wait_for(listener.get(), _QUIET)
                except asyncio.TimeoutError:
                    yield ": quiet\n\n"
                    continue
                if news is None:
                    return
                yield news
        finally:
            self._listeners.discard(listener)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for listener in self._listeners:
            if listener.full():
                listener.get_nowait()
            listener.put_nowait(None)
