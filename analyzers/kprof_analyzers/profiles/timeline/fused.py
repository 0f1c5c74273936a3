"""Find sequences of kernels that a fused kernel from kprof's collection can replace, and the possible saving."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from kprof.inputs.torch_profiler.model import LinkedTrace

_AROUND = frozenset({"elementwise", "quantization"})
_FUSED = {
    "normalization": (re.compile("rms", re.IGNORECASE), "rmsnorm_residual_fp8", 2),
    "activation": (re.compile("silu|swish|swiglu", re.IGNORECASE), "swiglu_fp8", 0),
}
"""For each category: name pattern, fused kernel, and maximum number of preceding element-wise kernels in the fusion.

Only kernels whose name matches the pattern can be replaced; this excludes, for example, a layer norm or a GELU. The
preceding kernels are a sum with the residual and its conversion. Up to two following kernels are also part of the
fusion: a multiplication or a scale, and the conversion to 8 bits.
"""
_BEHIND = 2
_BACKWARD = re.compile("backward|bwd", re.IGNORECASE)


class FusedKernel(msgspec.Struct, frozen=True):
    """A kernel of kprof's collection, and the kernels that it could replace; times are sums in ns.

    Attributes:
        kernel: name of the fused kernel.
        runs: number of sequences of at least two consecutive kernels on a stream.
        kernels: number of kernels in the sequences.
        total_ns: time of these kernels.
        saved_ns: time of all kernels except the longest of each sequence. It is an upper bound, since the fused kernel
            moves at least the data of the longest, and other kernels may need intermediate results.
    """

    kernel: str
    runs: int
    kernels: int
    total_ns: int
    saved_ns: int


def fused_kernels(trace: LinkedTrace, categories: Sequence[str]) -> list[FusedKernel]:
    """Return possible fusions, largest saving first. Norms that run as a chain of separate operators are not found.

    Args:
        trace: the trace.
        categories: category of each activity, in order.
    """
    if not _FUSED.keys() & set(categories):
        return []
    words = trace.activities.words("name")
    of_name = [_fits(name) for name in words.words]
    lanes: defaultdict[tuple[int, int | None, int | None], array[int]] = defaultdict(_rows)
    names = ("rank", "device", "stream", "start_ns", "duration_ns")
    rank, device, stream, start, duration = (trace.activities.numbers(name).readable for name in names)
    for at, lane in enumerate(zip(rank, device, stream, strict=True)):
        lanes[lane].append(at)
    sums: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for places in lanes.values():
        order = sorted(places, key=start.__getitem__)
        kinds = [categories[at] if categories[at] in of_name[words.data[at]] else "" for at in order]
        for kernel, low, high in _runs(kinds):
            times = [duration[at] for at in order[low:high]]
            sums[kernel].update(runs=1, kernels=len(times), total=sum(times), saved=sum(times) - max(times))
    found = [FusedKernel(name, s["runs"], s["kernels"], s["total"], s["saved"]) for name, s in sums.items()]
    return sorted(found, key=lambda one: -one.saved_ns)


def _rows() -> "array[int]":
    return array("q")


def _fits(name: str) -> frozenset[str]:
    """Return the categories in which a kernel of this name can be part of a fusion."""
    if _BACKWARD.search(name):
        return frozenset()
    return _AROUND.union(category for category, (pattern, _, _) in _FUSED.items() if pattern.search(name))


def _runs(order: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield fused kernel, start and end of each sequence of at least two kernels; sequences do not overlap."""
    free = 0
    for place, category in enumerate(order):
        if category not in _FUSED:
            continue
        _, kernel, ahead = _FUSED[category]
        low = place
        while low > max(free, place - ahead) and order[low - 1] in _AROUND:
            low -= 1
        high = place + 1
        while high < min(len(order), place + 1 + _BEHIND) and order[high] in _AROUND:
            high += 1
        if high - low > 1:
            yield kernel, low, high
            free = high
