"""Sizes as people read them."""


def decimal_bytes(size: int) -> str:
    """``1.2 GB``, ``27 MB``, ``53.1 kB``, ``424 B``: powers of ten, as bandwidths are given in them."""
    for unit, scale, digits in (("GB", 1e9, 1), ("MB", 1e6, 0), ("kB", 1e3, 1)):
        if size >= scale:
            return f"{size / scale:.{digits}f} {unit}"
    return f"{size} B"
