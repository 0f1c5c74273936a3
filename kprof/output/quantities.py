"""Format times, shares, sizes and counts for people, in one style for all outputs."""

from collections.abc import Iterable

_UNITS = ("kB", "MB", "GB", "TB")
_BINARY = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_TIMES = (("µs", 1.0), ("ms", 1e3), ("s", 1e6))
_MAX_SPREAD = 1000
"""If the longest time of a column is more than this many times the shortest, all times use the smaller unit."""


def three_digits(value: float) -> str:
    """Return a number with three significant digits and thousands separators; integer digits are never cut.

    >>> [three_digits(value) for value in (0.0657, 0.657, 3.82, 38.2, 382, 3824.7)]
    ['0.0657', '0.657', '3.82', '38.2', '382', '3,825']
    """
    size = abs(value)
    if size < 0.9995:
        return f"{value:#.3g}"
    return f"{value:.2f}" if size < 9.995 else f"{value:.1f}" if size < 99.95 else f"{value:,.0f}"


def time_unit(us: float) -> tuple[str, float]:
    """Return the most readable unit for a time in microseconds, and the unit's size in microseconds."""
    # A value that would round to 1,000 uses the next unit.
    return next(((unit, size) for unit, size in _TIMES if us < 999.5 * size), _TIMES[-1])


def duration(us: float) -> str:
    """Return a time in microseconds with three digits and a unit; below 1 µs with two decimals.

    >>> duration(0.5), duration(3.82), duration(31), duration(268.2), duration(999.7), duration(6312), duration(2.5e6)
    ('0.50 µs', '3.82 µs', '31.0 µs', '268 µs', '1.00 ms', '6.31 ms', '2.50 s')
    """
    unit, size = time_unit(us)
    if us < 0.9995:
        return f"{us:.2f} {unit}"
    return f"{three_digits(us / size)} {unit}"


def interval(low_us: float, high_us: float) -> str:
    """Return the range of two times in microseconds; a common unit is written once.

    >>> interval(138.0, 391.0), interval(397.0, 1120.0)
    ('138 to 391 µs', '397 µs to 1.12 ms')
    """
    low, high = duration(low_us), duration(high_us)
    if low.split()[1] != high.split()[1]:
        return f"{low} to {high}"
    return f"{low.split()[0]} to {high}"


def column_unit(times_us: Iterable[float]) -> tuple[str, float]:
    """Return the unit for a column of times in microseconds, and its size in microseconds.

    The unit is that of the longest time, unless the shortest time would round to 0 in it.

    >>> column_unit([3820.0, 657.0]), column_unit([3820.0, 2.0]), column_unit([])
    (('ms', 1000.0), ('µs', 1.0), ('µs', 1.0))
    """
    times = [us for us in times_us if us > 0]
    if not times:
        return _TIMES[0]
    longest, shortest = max(times), min(times)
    return time_unit(longest if longest <= _MAX_SPREAD * shortest else shortest)


def milliseconds(ns: float) -> str:
    """Return nanoseconds as milliseconds, with one to three decimals depending on the size.

    >>> milliseconds(5.25e5), milliseconds(1.2345e7), milliseconds(1.23456e9)
    ('0.525', '12.35', '1,234.6')
    """
    ms = ns / 1e6
    return f"{ms:,.1f}" if ms >= 1000 else f"{ms:,.2f}" if ms >= 10 else f"{ms:,.3f}"


def signed_milliseconds(ns: float) -> str:
    """Return a change of a time in milliseconds with its sign."""
    return ("+" if ns > 0 else "-" if ns < 0 else "") + milliseconds(abs(ns))


def percent(part: float, whole: float) -> str:
    """Return ``part / whole`` in percent, or ``-`` if ``whole`` is 0."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def predicted_time(time_us: float, low_us: float | None, high_us: float | None) -> str:
    """Return a predicted time in microseconds with its likely range, if known.

    >>> predicted_time(3820, 1830, 5310), predicted_time(21.5, None, None)
    ('3.82 ms predicted (likely 1.83 to 5.31 ms)', '21.5 µs predicted')
    """
    return f"{duration(time_us)} predicted{likely(low_us, high_us)}"


def likely(low_us: float | None, high_us: float | None) -> str:
    """Return a suffix such as `` (likely 1.83 to 5.31 ms)``, or "" if either end is unknown."""
    return "" if low_us is None or high_us is None else f" (likely {interval(low_us, high_us)})"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a count with its noun in singular or plural.

    >>> plural(1, "warning"), plural(1200, "warning"), plural(2, "copy", "copies")
    ('1 warning', '1,200 warnings', '2 copies')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def kib(size: int) -> str:
    """Return bytes in KiB with at most one decimal; below 1 KiB, in bytes.

    >>> kib(900), kib(65536), kib(31949)
    ('900 B', '64 KiB', '31.2 KiB')
    """
    return f"{size:,} B" if size < 1024 else f"{size / 1024:.1f} KiB".replace(".0 KiB", " KiB")


def decimal_bytes(size: int) -> str:
    """Return bytes as ``1.23 GB``, ``27 MB`` or ``424 B``: up to three digits, in powers of ten like bandwidths.

    >>> decimal_bytes(999), decimal_bytes(53_100), decimal_bytes(999_700), decimal_bytes(5 * 10**15)
    ('999 B', '53.1 kB', '1 MB', '5000 TB')
    """
    if size < 1000:
        return f"{size} B"
    unit = 0
    value = size / 1e3
    # A value that would round to 1,000 uses the next unit.
    while value >= 999.5 and unit < len(_UNITS) - 1:
        unit, value = unit + 1, value / 1e3
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if digits else text} {_UNITS[unit]}"


def binary_bytes(size: float) -> str:
    """Return bytes as ``64 KiB``, ``1.5 GiB`` or ``424 B``: in powers of two like memory sizes, with one decimal.

    >>> binary_bytes(1023), binary_bytes(3 * 2**19), binary_bytes(192 * 2**30)
    ('1,023 B', '1.5 MiB', '192 GiB')
    """
    for unit, scale in _BINARY:
        if size >= scale:
            return f"{size / scale:,.1f}".removesuffix(".0") + f" {unit}"
    return f"{size:,.0f} B"
