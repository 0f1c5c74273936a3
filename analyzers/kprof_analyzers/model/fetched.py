"""How many bytes the accesses of the assembly move between lanes and L2, from the layouts and masks in the TTGIR."""

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
    """Position of a load or store to bytes that go to or from L2 for each byte of its lanes.

    Lanes that ask for the same element get it with one access: a scale of a row is loaded by every lane of the row. A
    column of single elements, rows apart, costs a request each. Lanes that the mask turns off move nothing, nor do
    those of rows that wrap round to others of the tile. Accesses of one line get their mean; those that are not here
    move what their lanes hold.

    Args:
        facts: the kernel.
        request: bytes that a CU asks L2 for at least.
        wrapped: rows that wrap round to others of their tile are not fetched again.
    """
    if facts.ttgir is None:
        return {}
    sums: dict[AccessLine, list[float]] = defaultdict(lambda: [0.0, 0.0])
    live, different = live_shares(facts), wrapped_shares(facts) if wrapped else {}
    for op, line in accesses_of(facts.ttgir):
        needed, asked = _bytes(op, facts.arguments, request)
        entry = sums[line]
        # What several lanes hold of a stored tile is written by one of them: not told apart here.
        entry[0] += live.get(op.index, 1.0) * (asked if line[0] else needed * different.get(op.index, 1.0))
        entry[1] += asked
    shares = {line: needed / asked for line, (needed, asked) in sums.items() if asked and needed != asked}
    return at_instructions(facts.program, shares)


def _bytes(op: Operation, arguments: Mapping[str, int | float], request: float) -> tuple[float, float]:
    """Bytes fetched from L2 for a tile, and bytes that all lanes of a workgroup ask for."""
    moved, held, size = requested_and_distinct_bytes(op), tile(op), element_bytes(op)
    if moved is None or held is None or size is None:
        return 0.0, 0.0
    asked = float(moved[0])
    needed = float(min(moved))
    first = (strides(op) or {}).get(0)
    step = first.value(arguments) if first is not None and len(held.shape) == 1 else None
    if step is not None and abs(step) > 1:
        # In tiles of two axes the rest of a request is another row's.
        needed *= max(1.0, min(request, abs(step) * size) / size)
    return needed, asked
