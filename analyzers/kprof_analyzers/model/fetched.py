"""Compute the bytes that each load and store of the assembly moves to or from L2, from TTGIR layouts and masks."""

from collections import defaultdict
from collections.abc import Mapping

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes, strides, tile
from kprof_analyzers.memory.replication import requested_and_distinct_bytes
from kprof_analyzers.model.access_lines import AccessLine, accesses_of, at_instructions
from kprof_analyzers.model.masks import live_shares
from kprof_analyzers.model.wraps import wrapped_shares


def fetched_shares(facts: KernelFacts, request: float, *, wrapped: bool = True) -> dict[int, float]:
    """Return for each load or store the bytes moved to or from L2 per byte of its lanes, by instruction position.

    Lanes that request the same element get it with one access; for example, all lanes of a row may load the same scale.
    A column of single elements in different rows costs one request per element. Masked lanes move nothing, and neither
    do lanes of rows that repeat other rows of the tile, as with ``rows % M``. All accesses of one source line get the
    mean of their factors. An access that is not in the result has the factor 1.

    Args:
        facts: the kernel.
        request: minimum bytes of a CU's request to L2.
        wrapped: whether repeated rows of a tile are only fetched once.
    """
    if facts.ttgir is None:
        return {}
    sums: dict[AccessLine, list[float]] = defaultdict(lambda: [0.0, 0.0])
    live, different = live_shares(facts), wrapped_shares(facts) if wrapped else {}
    for op, line in accesses_of(facts.ttgir):
        needed, asked = _bytes(op, facts.arguments, request)
        entry = sums[line]
        # If several lanes hold the same element of a stored tile, only one of them writes it. The factor ignores this.
        entry[0] += live.get(op.index, 1.0) * (asked if line[0] else needed * different.get(op.index, 1.0))
        entry[1] += asked
    shares = {line: needed / asked for line, (needed, asked) in sums.items() if asked and needed != asked}
    return at_instructions(facts.program, shares)


def _bytes(op: Operation, arguments: Mapping[str, int | float], request: float) -> tuple[float, float]:
    """Return the bytes fetched from L2 for a tile, and the bytes that all lanes of a workgroup request."""
    moved, held, size = requested_and_distinct_bytes(op), tile(op), element_bytes(op)
    if moved is None or held is None or size is None:
        return 0.0, 0.0
    asked = float(moved[0])
    needed = float(min(moved))
    first = (strides(op) or {}).get(0)
    step = first.value(arguments) if first is not None and len(held.shape) == 1 else None
    if step is not None and abs(step) > 1:
        # Only for 1-D tiles: in a 2-D tile, the other bytes of a request belong to another row and are not wasted.
        needed *= max(1.0, min(request, abs(step) * size) / size)
    return needed, asked
