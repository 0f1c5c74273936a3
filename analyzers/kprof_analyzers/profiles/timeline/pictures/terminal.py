"""The same pictures in text: bars of blocks and sparklines."""

from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = " ▁▂▃▄▅▆▇█"


def bar(share: float, width: int) -> str:
    """A bar of ``share`` (0 to 1) of ``width`` cells, to an eighth of a cell."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def sparkline(shares: Sequence[float]) -> str:
    """One cell a value, 0 to 1; anything above zero shows."""
    return "".join(_LEVELS[max(1, round(min(1.0, s) * 8)) if s > 0 else 0] for s in shares)
