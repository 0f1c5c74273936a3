"""Find attention that runs as separate operators (product, softmax, product) with the scores in memory."""

from collections.abc import Sequence
from math import prod

from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline

_SOFTMAX = ("aten::_softmax", "aten::softmax")
_PRODUCTS = ("aten::bmm", "aten::baddbmm", "aten::matmul")
# Maximum head size of torch's fused attention on AMD GPUs, and minimum number of keys; with fewer keys, the scores fit
# into a cache.
_LARGEST_HEAD = 256
_FEWEST_KEYS = 128

Shape = tuple[int, ...]


def unfused_attention(rows: Sequence[OperatorRoofline]) -> list[OperatorRoofline]:
    """Return the operators that a fused attention could replace, in order; empty unless both products are found.

    Args:
        rows: operators of a trace, with the shapes of their tensors.
    """
    found: list[OperatorRoofline] = []
    for scores in {shapes[0] for row in rows if row.name in _SOFTMAX and (shapes := _shapes(row))}:
        if len(scores) < 3 or scores[-1] < _FEWEST_KEYS:
            continue
        flat = (prod(scores[:-2]), *scores[-2:])
        products = [(row, shapes) for row in rows if row.name in _PRODUCTS and len(shapes := _shapes(row)[-2:]) == 2]
        first = [row for row, (a, b) in products if a[-1] <= _LARGEST_HEAD and _flat(a)[:2] + b[-1:] == flat]
        second = [row for row, (a, b) in products if b[-1] <= _LARGEST_HEAD and _flat(a) == flat]
        if first and second:
            between = [row for row in rows if row.name not in _PRODUCTS and scores in _shapes(row)]
            mine = {id(row) for row in (*first, *second, *between)}
            found += [row for row in rows if id(row) in mine and row not in found]
    return found


def _flat(shape: Shape) -> Shape:
    return (prod(shape[:-2]), *shape[-2:])


def _shapes(row: OperatorRoofline) -> list[Shape]:
    """Return the shapes of the tensors, without scalars and arguments that have no shape."""
    texts = [text.split("x") for text in row.shapes.split()]
    return [tuple(map(int, text)) for text in texts if all(part.isdecimal() for part in text)]
