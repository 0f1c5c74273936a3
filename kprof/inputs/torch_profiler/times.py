"""Convert and validate the times of trace events, with the same rules for all readers."""

from array import array
from collections.abc import Sequence

from kprof.inputs.completeness import BUSY, GAPS, KERNEL_TIMES, STEPS
from kprof.inputs.torch_profiler.issues import IssueLog

DAY_NS = 86_400 * 10**9
"""One day in ns. A gap of a day without activity means that a clock is wrong; no known session lasts even an hour."""
DAY_MICROSECONDS = 86_400 * 10**6
"""One day in microseconds, from which on an event's duration is impossible."""
MAX_MICROSECONDS = (1 << 62) // 1000
"""Maximum time in microseconds (the year 2116); beyond it, a time plus a day does not fit 64 bits of nanoseconds."""

# Below this many microseconds, a double still represents whole nanoseconds.
_EXACT = 1 << 43


def nanoseconds(microseconds: float) -> int:
    """Convert microseconds to whole nanoseconds, exactly for integers of any size."""
    if -_EXACT < microseconds < _EXACT:
        return round(microseconds * 1000)
    whole = int(microseconds)
    return whole * 1000 + round((microseconds - whole) * 1000)


def all_nanoseconds(times: Sequence[float]) -> list[int]:
    """Apply :func:`nanoseconds` to one or more times."""
    if max(times) < _EXACT and min(times) > -_EXACT:
        return [round(time * 1000) for time in times]
    return [nanoseconds(time) for time in times]


def nanosecond_column(times: Sequence[float]) -> "array[int]":
    """Convert one or more times to an array of nanoseconds; numpy rounds products of doubles as Python does."""
    import numpy as np

    values = np.array(times, dtype=np.float64)
    if not (values.max() < _EXACT and values.min() > -_EXACT):
        return array("q", [nanoseconds(time) for time in times])
    return array("q", np.rint(values * 1000).astype(np.int64).tobytes())


def all_usable(starts: list[int | float | None], durations: list[int | float | None]) -> bool:
    """Return whether :func:`usable` would accept all times unchanged; this fast check runs on every event."""
    if None in durations or None in starts:
        return False
    lasting: list[float] = durations  # type: ignore[assignment]
    begun: list[float] = starts  # type: ignore[assignment]
    return (
        min(lasting) >= 0
        and max(lasting) < DAY_MICROSECONDS
        and min(begun) >= -MAX_MICROSECONDS
        and max(begun) <= MAX_MICROSECONDS
    )


def usable(
    name: str, start: float | None, duration: float | None, log: IssueLog, *, on_gpu: bool = False
) -> tuple[int | float, int | float] | None:
    """Return start and duration in microseconds of an event, or ``None`` for an unusable event, which counts as lost.

    A missing or negative duration is replaced by 0. For a GPU activity, this makes sums of durations unknown.
    """
    place = name[:80]
    if start is None or abs(start) > MAX_MICROSECONDS:
        log.add("absurd-time", "an event without a usable time was left out", place=place, lost=1)
        return None
    if duration is None or duration < 0:
        what = "no-duration" if duration is None else "negative-duration"
        unknown = (KERNEL_TIMES, BUSY, STEPS, GAPS) if on_gpu else ()
        log.add(what, "a missing or negative duration was counted as 0", place=place, unknown=unknown)
        return start, 0
    if duration >= DAY_MICROSECONDS:
        log.add("absurd-time", "an event that lasts a day or more was left out", place=place, lost=1)
        return None
    return start, duration
