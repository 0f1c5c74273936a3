"""Traces of the PyTorch profiler, by both readers: they agree on every sum, or refuse alike."""

from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from kprof.errors import KprofError
from kprof.inputs.torch_profiler import load
from kprof_analyzers.profiles.timeline.breakdown import device_times
from kprof_analyzers.profiles.timeline.categories import Categories, load_categories
from kprof_analyzers.profiles.timeline.streaming import summarise
from validation.fuzz.target import Target, check, put


@cache
def _categories() -> Categories:
    return load_categories()


def streamed(path: Path) -> tuple[Any, ...]:
    """Kernels by name and times of devices, in one pass."""
    summary = summarise(path, _categories())
    return {k.name: (k.count, k.total_ns, k.min_ns, k.max_ns) for k in summary.kernels}, summary.devices


def whole(path: Path) -> tuple[Any, ...]:
    """The same from linked tables."""
    trace = load(path)
    found: defaultdict[str, list[int]] = defaultdict(list)
    for row in trace.activities:
        if row.kind == "kernel":
            found[row.name].append(row.duration_ns)
    sums = {name: (len(each), sum(each), min(each), max(each)) for name, each in found.items()}
    return sums, device_times(trace, _categories())


def read(data: bytes, folder: Path) -> None:
    """Both readers."""
    path = put(folder, "t.json", data)
    try:
        one: Any = streamed(path)
    except KprofError as error:
        one = error
    try:
        other: Any = whole(path)
    except KprofError as error:
        other = error
    if isinstance(one, KprofError):
        check(same=isinstance(other, KprofError) and one.message == other.message, what=f"{one} and {other}"[:300])
        raise one
    check(same=one == other, what=f"{one} and {other}"[:300])


TARGET = Target(
    read,
    words=(
        '"traceEvents": [', '"ph": "X"', '"cat": "kernel"', '"cat": "cpu_op"', '"cat": "cuda_runtime"', '"cat": "gpu_memcpy"',
        '"ts": ', '"dur": ', '"args": {', '"correlation": ', '"External id": ', '"device": ', '"stream": ', '"pid": ', '"tid": ',
        '"name": ', '"ph": "B"', '"ph": "E"', '"distributedInfo": {', '"rank": ', "1e300", "]}",
    ), runs=200)  # fmt: skip
