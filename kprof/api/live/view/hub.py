"""Events for all open pages: finished answers in order, and changed files."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import Any

MOST_PAGES = 16
"""Maximum number of connected pages."""
KEPT = 500
"""Number of previous answers that a newly opened page receives."""

_WAITING = 256
_QUIET = 15.0
"""Seconds without events after which a keep-alive is sent, so that a closed page is noticed."""


class Hub:
    """Sends events to all connected pages. It must be used only from the event loop."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self.results: deque[Mapping[str, Any]] = deque(maxlen=KEPT)
        self._closed = False

    @property
    def full(self) -> bool:
        """Whether no further page can connect."""
        return len(self._listeners) >= MOST_PAGES or self._closed

    def tell(self, kind: str, news: Mapping[str, Any]) -> None:
        """Send an event to all pages; disconnect pages whose queue is full, which must then reconnect."""
        if kind == "result":
            self.results.append(news)
        # json.dumps escapes line breaks, so the data is one line.
        text = f"event: {kind}\ndata: {json.dumps(news)}\n\n"
        for listener in list(self._listeners):
            try:
                listener.put_nowait(text)
            except asyncio.QueueFull:
                self._listeners.discard(listener)

    async def listen(self) -> AsyncIterator[str]:
        """Yield events as server-sent events until the hub is closed."""
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
        """Close the event streams of all pages."""
        self._closed = True
        for listener in self._listeners:
            if listener.full():
                listener.get_nowait()
            listener.put_nowait(None)
