"""Compute the work of attention: two products of the scores' size forward, five backward; half if it is causal."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from kprof_analyzers.profiles.timeline.operators.arguments import Argument, Formula, Work, matrix_unit

_Extents = tuple[int, int, int, int]


def _heads_first(dims: Sequence[int]) -> _Extents:
    """Return batch, heads, sequence and head size for the order batch, heads, sequence, head size."""
    return dims[0], dims[1], dims[2], dims[3]


def _sequence_first(dims: Sequence[int]) -> _Extents:
    """Return batch, heads, sequence and head size for the order batch, sequence, heads, head size."""
    return dims[0], dims[2], dims[1], dims[3]


def _visible(queries: int, keys: int, *, causal: bool) -> float:
    """Return the number of scores of a head that are computed. If causal, query i sees keys up to i, as in torch."""
    if not causal:
        return queries * keys
    seen = min(queries, keys)
    return seen * (seen + 1) / 2 + (queries - seen) * keys


def _attention(
    given: Sequence[Argument],
    *,
    first: int,
    causal: int,
    extents: Callable[[Sequence[int]], _Extents],
    backward: bool = False,
) -> Work | None:
    """Return the work of an attention call.

    ``first`` is the index of q, which k and v follow; ``causal`` is the index of the causal flag or mask type. The work
    is unknown for a call with sequences of different lengths (``cu_seqlens``, no batch extent), because these lengths
    are in tensors.
    """
    if len(given) < first + 3:
        return None
    q, k, v = given[first : first + 3]
    if not all(t.is_tensor and len(t.dims) == 4 for t in (q, k, v)):
        return None
    (batch, heads, queries, size), (_, _, keys, _), (*_, its) = extents(q.dims), extents(k.dims), extents(v.dims)
    flag = given[causal].flag() if len(given) > causal else None
    if flag is None and len(given) > causal:
        kind = given[causal].integers()
        flag = kind[0] != 0 if kind else None
    scores = batch * heads * _visible(queries, keys, causal=flag is True)
    # Backward has five products: the scores again, and one for each gradient (of the scores, q, k and v).
    flop = 2 * scores * (3 * size + 2 * its) if backward else 2 * scores * (size + its)
    result = batch * heads * queries * its * q.element_bytes
    moved = q.bytes + k.bytes + v.bytes + result
    assumed = "" if flag is not None else "not causal"
    return Work(round(flop), moved * 2 if backward else moved, matrix_unit(q), assumed)


_FORWARD = {
    "aten::_scaled_dot_product_flash_attention": (0, 4, _heads_first),
    "aten::_scaled_dot_product_efficient_attention": (0, 6, _heads_first),
    "aten::_flash_attention_forward": (0, 8, _sequence_first),
    "aten::_efficient_attention_forward": (0, 9, _sequence_first),
    "flash_attn::_flash_attn_forward": (0, 5, _sequence_first),
    # Traces recorded without a GPU contain this operator instead of the first operator above.
    "aten::_scaled_dot_product_flash_attention_for_cpu": (0, 4, _heads_first),
}
_BACKWARD = {
    "aten::_flash_attention_backward": (1, 11, _sequence_first),
    "aten::_scaled_dot_product_flash_attention_backward": (1, 11, _heads_first),
    "flash_attn::_flash_attn_backward": (1, 11, _sequence_first),
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward": (1, 7, _heads_first),
}
OPERATORS: Mapping[str, Formula] = {
    name: partial(_attention, first=first, causal=causal, extents=extents, backward=backward)
    for backward, found in ((False, _FORWARD), (True, _BACKWARD))
    for name, (first, causal, extents) in found.items()
}


def queries(name: str, shapes: Sequence[Sequence[int]]) -> tuple[int, int] | None:
    """Return the total number of heads of all sequences, and the queries per sequence; ``None`` if unknown.

    Args:
        name: name of the operator.
        shapes: shapes of its tensors, in order.
    """
    first, _, extents = {**_FORWARD, **_BACKWARD}[name]
    if len(shapes) <= first or len(shapes[first]) != 4:
        return None
    batch, heads, sequence, _ = extents(shapes[first])
    return batch * heads, sequence
