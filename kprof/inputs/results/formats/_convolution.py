"""Keys of MIOpen's text databases: a convolution as ``3-224-224-7x7-64-112-112-64-3x3-2x2-1x1-0-NCHW-FP32-F``."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kprof.inputs.results.model import RowCollector, lines_of

_DIMENSIONS = {15: 2, 17: 3}
"""Fields of a key by the dimensions of its images."""
_DIRECTIONS = {"F": "forward", "B": "backward data", "W": "backward weights"}
KEY = re.compile(rb"^[0-9]{1,9}(?:-[0-9]{1,9}){2,3}-[0-9]{1,6}x[0-9x]{1,20}-[\w-]{10,160}=[\w:]", re.MULTILINE)


def problem(key: str) -> dict[str, Any] | None:
    """The convolution of a key, or ``None`` where it is of another form.

    Backward keys name the output's channels and image first, as those are what goes in. ``flops`` is two operations for
    each element of the output, filter and channel of a group, whatever the direction.
    """
    name, _, rest = key.partition("_g")
    fields = name.split("-")
    spatial = _DIMENSIONS.get(len(fields))
    groups = int(rest) if re.fullmatch(r"[1-9][0-9]{0,8}", rest) else 1 if not rest else None
    if spatial is None or groups is None or fields[-1] not in _DIRECTIONS:
        return None
    first = _sizes(fields[: spatial + 1])
    kernel = _sizes(fields[spatial + 1].split("x"))
    second = _sizes(fields[spatial + 2 : 2 * spatial + 3])
    batch = _sizes([fields[2 * spatial + 3]])
    pad, stride, dilation = (fields[2 * spatial + at] for at in (4, 5, 6))
    if first is None or second is None or kernel is None or batch is None or len(kernel) != spatial:
        return None
    inside, outside = (first, second) if fields[-1] == "F" else (second, first)
    channels = inside[0] * outside[0] // groups
    return {
        "direction": _DIRECTIONS[fields[-1]],
        "dtype": fields[-2],
        "layout": fields[-3],
        "batch": batch[0],
        "in_channels": inside[0],
        "out_channels": outside[0],
        "image": "x".join(map(str, inside[1:])),
        "filter": fields[spatial + 1],
        "pad": pad,
        "stride": stride,
        "dilation": dilation,
        "groups": groups,
        "flops": 2 * batch[0] * channels * math.prod(kernel) * math.prod(outside[1:]),
    }


def _sizes(fields: list[str]) -> list[int] | None:
    sizes = [int(field) for field in fields if re.fullmatch(r"[1-9][0-9]{0,8}", field, re.ASCII)]
    return sizes if len(sizes) == len(fields) else None


def entries(path: Path, shown: str, found: RowCollector) -> Iterator[tuple[int, str, str | None]]:
    """The number of each line of a text database that is not empty, its key and its solvers; ``None`` without ``=``."""
    for at, line in enumerate(lines_of(path, shown, found), 1):
        if text := line.strip():
            key, equals, solvers = text.partition("=")
            yield at, key, solvers if equals else None
