"""A progress line on standard error, shown during long work and cleared afterwards."""

import threading
import time
from typing import Any

from kprof.output.progress import EVERY, Step, Underway
from kprof.output.quantities import decimal_bytes
from kprof.output.status_line import StatusLine

AFTER = 1.0
"""Seconds without output before the line is shown."""
_MIN_SHARE = 0.02
"""Minimum share of a step that must be finished for an estimate of the remaining time."""


class Waiting:
    """A watcher of :mod:`kprof.output.progress` that draws the progress line.

    Args:
        stream: stream to draw on; standard error by default.
        begun: start of the wait on the monotonic clock, by default now. Pass the program's start to include imports and
            earlier steps.
    """

    def __init__(self, stream: Any = None, begun: float | None = None) -> None:
        self._line = StatusLine(stream, takes_over=False)
        self._begun = time.monotonic() if begun is None else begun
        self._since: float | None = None
        self._compiles_drawn = float("-inf")
        # One thread reports compiles and another thread reports steps.
        self._lock = threading.Lock()

    def __call__(self, underway: Underway | tuple[Step, ...] | None) -> None:
        """Draw the progress line; clear it for ``None``."""
        with self._lock:
            self._show(underway)

    def _show(self, underway: Underway | tuple[Step, ...] | None) -> None:
        now = time.monotonic()
        if not underway:
            self._line.clear()
            self._compiles_drawn = float("-inf")
        elif isinstance(underway, tuple):
            # Steps are reported every EVERY seconds, so draw up to two reports early rather than after the limit. A
            # line about compiles that was drawn less than AFTER seconds ago stays.
            if now - self._begun > AFTER - 2 * EVERY and now - self._compiles_drawn > AFTER:
                self._line.draw(steps_line(underway, now))
        else:
            if self._since is None:
                self._since = now - underway.seconds
            if now - self._since >= AFTER:
                self._line.draw(line(underway))
                self._compiles_drawn = now


def steps_line(steps: tuple[Step, ...], now: float) -> str:
    """Return a line such as ``3 of 12 traces · reading rank3.json: 34 % of 1.2 GB · 12 s, 23 s left``.

    For nested steps the line contains the counts of all steps, the description and remaining time of the innermost
    step, and the elapsed time of the outermost step. The remaining time assumes a constant speed.
    """
    *around, last = steps
    parts = [f"{step.done:,} of {step.total:,} {step.unit}" for step in around if step.total is not None]
    parts.append(f"{last.what}{_amount(last)}")
    took = f"{now - steps[0].since:.0f} s"
    if last.total and _MIN_SHARE * last.total <= last.done < last.total:
        took += f", {(now - last.since) * (last.total - last.done) / last.done:.0f} s left"
    return " · ".join([*parts, took])


def _amount(step: Step) -> str:
    if not step.total:
        return ""
    if step.unit == "bytes":
        return f": {100 * step.done // step.total} % of {decimal_bytes(step.total)}"
    return f": {step.done:,} of {step.total:,} {step.unit}"


def line(underway: Underway) -> str:
    """Return a line such as ``3 of 12 compiled · 14 s, making llir: attn_fwd gfx942 BLOCK_M=128``.

    A narrow terminal cuts the end.
    """
    so_far = f"{underway.done:,} compiled"
    if underway.total is not None:
        so_far = f"{underway.done:,} of {underway.total:,} compiled"
    start = so_far if underway.done or (underway.total or 0) > 1 else "compiling"
    making = f", making {underway.stage}" if underway.stage else ""
    return f"{start} · {underway.seconds:.0f} s{making}: {underway.name}"
