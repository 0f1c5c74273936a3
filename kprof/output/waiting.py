"""What a terminal shows while kernels are compiled: one line on standard error that is gone afterwards."""

import time
from typing import Any

from kprof.output.progress import Underway
from kprof.output.status_line import StatusLine

AFTER = 1.0
"""Seconds of compiling before anything is shown."""


class Waiting:
    """A watcher that draws the line.

    Args:
        stream: where to; standard error by default.
    """

    def __init__(self, stream: Any = None) -> None:
        self._line = StatusLine(stream)
        self._since: float | None = None

    def __call__(self, underway: Underway | None) -> None:
        """Draw, or with ``None`` clear."""
        if underway is None:
            self._line.clear()
            return
        now = time.monotonic()
        if self._since is None:
            self._since = now - underway.seconds
        if now - self._since >= AFTER:
            self._line.draw(line(underway))


def line(underway: Underway) -> str:
    """``3 of 12 compiled · 14 s, making llir: attn_fwd gfx942 BLOCK_M=128``; a narrow terminal cuts the end off."""
    so_far = f"{underway.done:,} compiled"
    if underway.total is not None:
        so_far = f"{underway.done:,} of {underway.total:,} compiled"
    start = so_far if underway.done or (underway.total or 0) > 1 else "compiling"
    making = f", making {underway.stage}" if underway.stage else ""
    return f"{start} · {underway.seconds:.0f} s{making}: {underway.name}"
