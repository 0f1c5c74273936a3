"""Which part of a model a matrix product belongs to, where nothing around its launch says so.

Kernels of a replayed graph have no operators and modules. Their order still tells: in a decoder's block a norm is
followed by the product for queries, keys and values, by rotation and attention, by the output's product; the next norm
by the product for gate and up, the activation, and the product down; before experts it is the router's. A product
between two of these belongs to the nearer one. What the order does not tell stays a product without a role: the last
one before sampling, say.
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
"""Kernels that are looked at before and behind a product: more lie in no block's half."""
_BETWEEN = {"communication", "memory", "elementwise", "reduction", "other", "quantization"}


def categories_of(trace: LinkedTrace, categories: Categories) -> list[str]:
    """The category of each activity, in their order: by name and surroundings, and of products in graphs by order."""
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
    """The role of the product at a place in a sequence of categories.

    What it follows in its half of the block decides, as the output's and the down product do; else what comes next.
    Norms of queries and keys stand between their product and the attention: norms are passed over as long as no other
    product follows them.
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
