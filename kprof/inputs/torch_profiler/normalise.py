"""Normalise categories, times, numbers and ranks, which profiler versions write differently."""

import math
import re
from typing import Any, Literal

from kprof.inputs.torch_profiler.events import Loose

Kind = Literal["kernel", "copy", "memset", "launch", "operator", "annotation", "python", "memory", "other", "unknown"]

# Kind of the events of each category. Categories are in lower case, so that "Kernel", "Runtime" and "Operator", as
# written in 2021, match today's names.
KINDS: dict[str, Kind] = {
    "kernel": "kernel",
    "gpu_memcpy": "copy",
    "memcpy": "copy",
    "gpu_memset": "memset",
    "memset": "memset",
    "cuda_runtime": "launch",
    "cuda_driver": "launch",
    "hip_runtime": "launch",
    "runtime": "launch",
    "driver": "launch",
    "cpu_op": "operator",
    "operator": "operator",
    "user_annotation": "annotation",
    "python_function": "python",
    "python": "python",
    "cpu_instant_event": "memory",
}
_NOT_IN_TABLES = (
    "",
    "trace",
    "gpu_user_annotation",
    "overhead",
    "ac2g",
    "async",
    "async_gpu",
    "async_cpu",
    "fwdbwd",
    "fwd_bwd",
    "cuda_sync",
    "cuda_event",
    "collective_comm",
    "cuda_profiler_range",
    "external_correlation",
    "metadata",
)
for _category in _NOT_IN_TABLES:
    KINDS[_category] = "other"

GPU_KINDS = frozenset({"kernel", "copy", "memset"})

# Before Kineto, the profiler wrote no category and distinguished GPU and CPU events by their process.
PRE_KINETO = {"CUDA functions": "kernel", "CPU functions": "operator"}

# Maximum number of digits. Ids are shorter, and Python refuses to parse numbers with thousands of digits.
_MOST_DIGITS = 40
_INTEGER_LIMIT = 1 << 62
_MOST_RANKS = 1 << 31

# A merged trace adds this offset times the rank to process numbers.
RANK_OFFSET = 100_000_000
_RANK_IN_NAME = re.compile(r"(?:rank|worker|gpu|device|(?<![a-z])tp)[-_.]?([0-9]{1,9})", re.IGNORECASE)
_STREAM_NUMBER = re.compile(r"(?<!\d)(\d{1,18})\s*$")


def kind_of(category: str, pid: Loose = None) -> Kind:
    """Return the kind of events of a category; ``unknown`` for a category that no known version writes."""
    kind = KINDS.get(category)
    if kind is None:
        kind = KINDS.get(category.lower(), "unknown")
    if not category and isinstance(pid, str) and pid in PRE_KINETO:
        return "kernel" if PRE_KINETO[pid] == "kernel" else "operator"
    return kind


def integer(value: Loose) -> int | None:
    """Parse a number that may be text: ``7``, ``"7"``, ``"0x10"``, ``"stream 7"``; ``None`` if there is none."""
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and abs(value) < _INTEGER_LIMIT else None
    try:
        return int(value, 0) if len(value) <= _MOST_DIGITS else None
    except ValueError:
        # Only the end of a long text is searched.
        found = _STREAM_NUMBER.search(value[-_MOST_DIGITS:])
        return int(found[1]) if found else None


def text(value: Loose) -> str | None:
    """Return a value as text; ``None`` stays ``None``."""
    return value if value is None or isinstance(value, str) else str(value)


def rank_of_process(pid: Loose) -> int | None:
    """Return the rank that a merged trace has encoded in a process number, or ``None`` for an ordinary number.

    Linux assigns no process number above 4,194,304.
    """
    number = integer(pid)
    return number // RANK_OFFSET if number is not None and number >= RANK_OFFSET else None


def rank_of(written: Loose, pid: Loose) -> int | None:
    """Return the rank that an event or its process number contains, or ``None``."""
    rank = integer(written)
    if rank is None:
        rank = rank_of_process(pid)
    return rank if rank is not None and abs(rank) < _INTEGER_LIMIT else None


def rank_of_file(metadata: dict[str, Any], name: str) -> int | None:
    """Return the rank from the trace's ``distributedInfo`` or else from its file name, or ``None``."""
    info = metadata.get("distributedInfo")
    rank = info.get("rank") if isinstance(info, dict) else None
    if isinstance(rank, int) and 0 <= rank < _MOST_RANKS:
        return int(rank)
    found = _RANK_IN_NAME.search(name)
    return int(found[1]) if found else None
