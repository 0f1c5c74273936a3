"""Infer the part of a model that a GEMM in a replayed graph belongs to, from the order of kernels.

Kernels of a replayed graph have no operators and modules. In a decoder block, a norm is followed by the GEMM for
queries, keys and values, rotation and attention, and the output's GEMM. The next norm is followed by the GEMM for gate
and up, the activation, and the down GEMM; before experts it is followed by the router's GEMM. A GEMM between two of
these parts belongs to the nearer one. Other GEMMs keep no role, for example the last one before sampling.
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
"""Number of kernels inspected before and after a GEMM, more than half a block contains."""
_BETWEEN = {"communication", "memory", "elementwise", "reduction", "other", "quantization"}


def categories_of(trace: LinkedTrace, categories: Categories) -> list[str]:
    """Return the category of each activity in order; GEMMs in graphs get their category from the kernel order."""
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

    The role follows from the kernels before the GEMM in its half of the block if possible, as for the output's and the
    down GEMM. Otherwise it follows from the kernels after it. Norms of queries and keys lie between their GEMM and the
    attention, so norms are skipped unless another GEMM follows them.
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
