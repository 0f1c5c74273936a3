"""Sizes as people read them."""

_UNITS = ("kB", "MB", "GB", "TB")
_BINARY = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def decimal_bytes(size: int) -> str:
    """``1.23 GB``, ``27 MB``, ``424 B``: up to three digits, in powers of ten as bandwidths are given in them.

    >>> decimal_bytes(999), decimal_bytes(53_100), decimal_bytes(999_700), decimal_bytes(5 * 10**15)
    ('999 B', '53.1 kB', '1 MB', '5000 TB')
    """
    if size < 1000:
        return f"{size} B"
    unit = 0
    value = size / 1e3
    # What rounds to a thousand is one of the next unit.
    while value >= 999.5 and unit < len(_UNITS) - 1:
        unit, value = unit + 1, value / 1e3
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    text = f"{value:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if digits else text} {_UNITS[unit]}"


def binary_bytes(size: float) -> str:
    """``64 KiB``, ``1.5 GiB``, ``424 B``: in powers of two as memories are sized, to a tenth.

    >>> binary_bytes(1023), binary_bytes(3 * 2**19), binary_bytes(192 * 2**30)
    ('1,023 B', '1.5 MiB', '192 GiB')
    """
    for unit, scale in _BINARY:
        if size >= scale:
            return f"{size / scale:,.1f}".removesuffix(".0") + f" {unit}"
    return f"{size:,.0f} B"
