"""Infer the part of a model that a GEMM in a replayed graph belongs to, from the order of kernels.

In a trace, kernels of a replayed graph have no operators and modules. A decoder block consists of these kernels: a
norm; the GEMM for queries, keys and values; rotation and attention; the output's GEMM; another norm; the GEMM for gate
and up; the activation; and the down GEMM. With experts, the second norm is followed by the router's GEMM. A GEMM
between two of these parts belongs to the nearer one. Other GEMMs have no role, such as the last one before sampling.
"""

from collections import defaultdict
from collections.abc import Sequence

from kprof.inputs.torch_profiler.model import LinkedTrace
from kprof_analyzers.profiles.timeline.categories import Categories

PRODUCT = "GEMM"
_PARTS = {"attention": "attention GEMM", "RoPE": "attention GEMM", "cache": "attention GEMM", "activation": "MLP GEMM",
          "MoE": "MoE"}  # fmt: skip
_Lane = tuple[int, int | None, int | None]
_NEAR = 32
"""Number of kernels that are inspected before and after a GEMM. Half a decoder block has fewer kernels."""
_BETWEEN = {"communication", "memory", "elementwise", "reduction", "other", "quantization"}


def categories_of(trace: LinkedTrace, categories: Categories) -> list[str]:
    """Return the category of each activity. For GEMMs in replayed graphs, it follows from the order of kernels."""
    found = categories.of_all(trace)
    flags = trace.activities.words("graph")
    in_graph = flags.code(True)
    if in_graph not in flags.distinct():
        return found
    lanes: defaultdict[_Lane, list[tuple[int, int]]] = defaultdict(list)
    open_products: defaultdict[_Lane, set[int]] = defaultdict(set)
    columns = (trace.activities.numbers(field).data for field in ("rank", "device", "stream", "start_ns"))
    for at, (flag, *lane_parts, start) in enumerate(zip(flags.data, *columns, strict=True)):
        rank, device, stream = lane_parts
        lane = rank, device, stream
        lanes[lane].append((start, at))
        if flag == in_graph and found[at] == PRODUCT:
            open_products[lane].add(at)
    for lane, products in open_products.items():
        order = [at for _, at in sorted(lanes[lane])]
        known = [found[at] for at in order]
        for place, at in enumerate(order):
            if at in products:
                found[at] = role(known, place)
    return found


def role(known: Sequence[str], place: int) -> str:
    """Return the role of the GEMM at a position in a sequence of categories.

    The role follows from the kernels before the GEMM in its half of the decoder block if possible, as for the output's
    and the down GEMM. Otherwise it follows from the kernels after it. Norms of queries and keys may lie between their
    GEMM and the attention, so a norm is skipped unless another GEMM follows it.
    """
    for category in reversed(known[max(0, place - _NEAR) : place]):
        if category in _PARTS:
            return _PARTS[category]
        if category not in _BETWEEN and category != PRODUCT:
            break
    normed = False
    for category in known[place + 1 : place + 1 + _NEAR]:
        if category in _PARTS:
            return _PARTS[category]
        if category == "normalization":
            normed = True
        elif (category == PRODUCT and normed) or (category not in _BETWEEN and category != PRODUCT):
            break
    return PRODUCT
