"""Compute the minimum work of recorded operator calls, including operators that no profiler's trace records."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from kprof.captures.model import CapturedOperator, TensorInfo, TensorList
from kprof_analyzers.profiles.timeline.operators import attention, convolutions, products
from kprof_analyzers.profiles.timeline.operators.arguments import Argument, Work, matrix_unit
from kprof_analyzers.whole_step.kinds import ResultTiles, kind_of, kind_of_shapes, tiles_of

_PROFILER_TYPES = {
    "float64": "double", "int64": "long int", "float32": "float", "int32": "int", "float16": "c10::half",
    "bfloat16": "c10::bfloat16", "int16": "short int", "int8": "signed char", "uint8": "unsigned char", "bool": "bool",
    "float8_e4m3fn": "c10::float8_e4m3fn", "float8_e5m2": "c10::float8_e5m2",
    "float8_e4m3fnuz": "c10::float8_e4m3fnuz", "float8_e5m2fnuz": "c10::float8_e5m2fnuz",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


class OperatorWork(msgspec.Struct, frozen=True):
    """Work of a call, and the kind of operator that does it.

    Attributes:
        kind: ``product``, ``attention``, ``elementwise``, ... (see :mod:`.kinds`). Operators of a kind reach similar
            shares of the GPU's peaks.
        work: operations and bytes.
        tiles: distribution of the result over the GPU; ``None`` for operators without products or norms.
        passes: maximum number of passes through memory if no argument determines their number, otherwise 1.
        launches: number of kernels that run one after the other, each with the fixed time of a call.
        host_reads: number of values that the operator itself reads from the GPU, for which the host waits.
        indexed: number of elements that a kernel of torch's indexing moves one at a time.
    """

    kind: str
    work: Work
    tiles: ResultTiles | None = None
    passes: int = 1
    launches: int = 1
    host_reads: int = 0
    indexed: int = 0


HOST_READS = {
    "aten::nonzero": 1, "aten::masked_select": 1, "aten::_unique2": 1, "aten::unique_dim": 1, "aten::bincount": 2,
    "aten::unique_consecutive": 1, "aten::equal": 1,
}  # fmt: skip
"""Number of values that an operator reads on the host: its result or the size of it, and for ``bincount`` also the
smallest value, because no value may be negative."""


def arguments_of(values: Sequence[Any]) -> tuple[Argument, ...]:
    """Convert recorded arguments to the format of a profiler's trace; a list of tensors becomes one tensor."""
    return tuple(_argument(value) for value in values)


_MOST = 1 << 50
"""Upper bound of a tensor's number of elements; larger numbers come from damaged recordings."""


def _possible(extents: Sequence[int]) -> bool:
    return all(0 <= extent < _MOST for extent in extents) and math.prod(extents) < _MOST


def _argument(value: Any) -> Argument:
    match value:
        case TensorInfo() if _possible(value.shape):
            return Argument(value.shape, _PROFILER_TYPES.get(value.dtype, value.dtype))
        case TensorList() if _possible((value.elements,)):
            return Argument((value.elements,), _PROFILER_TYPES.get(value.dtype, value.dtype))
        case None | TensorInfo() | TensorList():
            return Argument((), "")
        case list():
            return Argument((), "scalarlist", str(value))
        case _:
            return Argument((), "scalar", str(value))


def work_of_call(call: CapturedOperator) -> OperatorWork | None:
    """Return the work of a recorded call; ``None`` if the operator is unknown or its work depends on values."""
    kind = kind_of(call.name)
    given, made = arguments_of(call.inputs), arguments_of(call.outputs)
    if not kind or call.from_host or call.to_host:
        return None
    if call.name in _FORMULAS:
        work = _FORMULAS[call.name](given)
    else:
        work = _put(call) or _bytes_moved(call.name, kind, given, made)
    shapes = [one.dims for one in given if one.is_tensor]
    if work is None:
        return None
    passes, launches = _most_passes(call.name, kind, given, made)
    if passes > 1:
        work = Work(work.flop, work.bytes, work.unit, f"{kind}s pass over memory once to {passes} times: not measured")
    tiles, reads = tiles_of(call.name, shapes, work.flop), HOST_READS.get(call.name, 0)
    indexed = _indexed_elements(call, made)
    return OperatorWork(kind_of_shapes(call.name, shapes), work, tiles, passes, launches, reads, indexed)


_PUTS = ("aten::index_put_", "aten::index_put", "aten::_index_put_impl_")


def _put(call: CapturedOperator) -> Work | None:
    """Return the work of ``index_put_(x, indices, values, accumulate)``, which may write one value to many elements.

    ``None`` for another operator, for masks, and for indices whose shapes were not recorded.
    """
    if call.name not in _PUTS or len(call.inputs) < 3 or not isinstance(call.inputs[0], TensorInfo):
        return None
    x, (_, indices, value, *rest) = call.inputs[0], call.inputs
    chosen = _indexed(indices, x.shape)
    if chosen is None or not _possible(x.shape):
        return None
    whole, picked = arguments_of([x, value])
    elements, index_bytes = chosen
    if not _possible((elements,)):
        return None
    touched = elements * whole.element_bytes * (2 if rest and rest[0] is True else 1)
    copied = 0 if call.name.endswith("_") else 2 * whole.bytes
    return Work(None, copied + touched + picked.bytes + index_bytes, assumed="each place is written once")


def _indexed(indices: Any, shape: Sequence[int]) -> tuple[int, int] | None:
    """Return the number of elements that a list of indices picks from a tensor, and the bytes of the indices."""
    dimensions = len(shape)
    if isinstance(indices, TensorList):
        if not indices.tensors or indices.tensors > dimensions or indices.dtype == "bool":
            return None
        # The shapes of the tensors were not recorded; in most programs they are equal.
        count = indices.elements // indices.tensors
        return count * math.prod(shape[indices.tensors :]), indices.elements * _WIDEST_INDEX
    if not isinstance(indices, list) or len(indices) > dimensions:
        return None
    listed: dict[int, dict[str, Any]] = {at: one for at, one in enumerate(indices) if isinstance(one, dict)}
    if not listed or any(one.get("dtype") == "bool" or not _is_shape(one.get("shape")) for one in listed.values()):
        return None
    shapes: dict[int, list[int]] = {at: one["shape"] for at, one in listed.items()}
    longest = max(map(len, shapes.values()))
    aligned = [(1,) * (longest - len(extents)) + tuple(extents) for extents in shapes.values()]
    count = math.prod(map(max, zip(*aligned, strict=True))) if longest else 1
    kept = math.prod(extent for at, extent in enumerate(shape) if at not in shapes)
    return count * kept, _WIDEST_INDEX * sum(math.prod(extents) for extents in shapes.values())


def _indexed_elements(call: CapturedOperator, made: Sequence[Argument]) -> int:
    """Return the elements that ``index`` reads, or ``index_put`` and ``index_add`` write, one at a time."""
    name = call.name.removesuffix("_")
    if name == "aten::index":
        return sum(one.elements for one in made)
    if name == "aten::index_add" and len(call.inputs) > 3:
        return elements_of(call.inputs[3])
    if call.name in _PUTS and len(call.inputs) > 2 and isinstance(call.inputs[0], TensorInfo):
        chosen = _indexed(call.inputs[1], call.inputs[0].shape)
        return chosen[0] if chosen is not None and _possible((chosen[0],)) else elements_of(call.inputs[2])
    return 0


_WIDEST_INDEX = 8
"""Bytes of an index: torch's indices are 64-bit integers."""


def _is_shape(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(extent, int) for extent in value) and _possible(value)


_RADIX_BITS = 8
"""Number of bits of a key that one pass of a radix sort or selection processes.

It is ``RADIX_BITS`` of torch's selection of the largest elements, and of hipCUB's sort.
"""
_COUNT_PASSES = 3
"""Number of passes of counting operators: one for the extremes or a first count, one to count, one to write."""


_TRANSFORM_PASSES = 3
"""Maximum passes of a Fourier transform over one dimension.

A transform that does not fit into LDS takes two passes, and one more for real numbers.
"""


_SHORT_ROW = 4096
"""Maximum elements of a row that torch sorts in LDS (``should_use_small_sort`` in torch's Sort.h)."""
_SHORT_KERNELS = 3
"""Number of kernels of a sort in LDS: one copies the keys, one writes the indices, one sorts both."""


_KERNELS = {
    "aten::binary_cross_entropy_with_logits": 6, "aten::soft_margin_loss": 5, "aten::renorm": 3,
    "aten::_cdist_forward": 12, "aten::_euclidean_dist": 12, "aten::diag_embed": 2,
}  # fmt: skip
"""Number of kernels of operators that torch composes of others, but that a recording shows as one."""
_TRANSFERS = {"aten::binary_cross_entropy_with_logits": 13, "aten::soft_margin_loss": 10, "aten::renorm": 3}
"""How often the kernels of such an operator read or write a tensor of the input's size; a loss is averaged."""


def _most_passes(name: str, kind: str, given: Sequence[Argument], made: Sequence[Argument]) -> tuple[int, int]:
    """Return the maximum number of passes over memory, and the number of kernels of a call."""
    if name in _KERNELS:
        return 1, _KERNELS[name]
    match kind:
        case "count":
            return _COUNT_PASSES, _COUNT_PASSES
        case "Fourier transform":
            # The first list names the dimensions that are transformed one after the other.
            listed = next((one.value for one in given if one.type == "scalarlist"), "")
            dimensions = max(1, listed.count(",") + 1)
            return _TRANSFORM_PASSES * dimensions, dimensions
        case "sort":
            # A random permutation has no argument: it sorts random keys as wide as its result.
            keys = next((one for one in (*given, *made) if one.is_tensor), Argument((), ""))
            passes = 1 + keys.element_bytes * 8 // _RADIX_BITS
            if name == "aten::topk":
                # The first kernel selects the largest elements, the second one sorts them.
                return passes, 2
            # A fixed number of kernels sorts a short row in LDS. The time of the passes in LDS is unknown, so the
            # maximum number of passes is that of long rows.
            return passes, _SHORT_KERNELS if 0 < _row(keys, given) <= _SHORT_ROW else passes
        case _:
            return 1, 1


def _row(keys: Argument, given: Sequence[Argument]) -> int:
    """Return the number of elements of a row to sort: along the dimension among the arguments, or the last one."""
    numbers = [found for one in given if one.type == "scalar" and (found := one.integers()) is not None]
    at = numbers[0][0] if numbers else -1
    return keys.dims[at] if -len(keys.dims) <= at < len(keys.dims) else 0


def _grouped(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``_grouped_mm(a, b, offsets)``, which multiplies each group of rows of a by its own matrix.

    If both a and b are matrices, the groups divide the dimension that is summed. The number of groups with rows is
    the content of a tensor and not known, so the maximum possible number of matrices is assumed to be read.
    """
    if len(given) < 2 or not (given[0].is_tensor and given[1].is_tensor) or not (given[0].dims and given[1].dims):
        return None
    a, b = given[:2]
    *_, m, k = a.dims
    *_, its, n = b.dims
    if its != k:
        return None
    unit = matrix_unit(a)
    match len(a.dims), len(b.dims):
        case 2, 3:
            read = min(b.dims[0], m) * k * n * b.element_bytes
            return Work(2 * m * n * k, a.bytes + read + m * n * a.element_bytes, unit, "rows spread over all groups")
        case 2, 2 if len(given) > 2 and given[2].is_tensor:
            # Each group sums over its own part of k, so all groups together do the work of one product.
            groups = given[2].elements
            return Work(2 * m * n * k, a.bytes + b.bytes + groups * m * n * a.element_bytes, unit)
        case 3, 3 if a.dims[0] == b.dims[0]:
            return products.OPERATORS["aten::bmm"](given)
        case _:
            return None


def _distances(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``_euclidean_dist(a, b)``, the distances of two sets of points by a product.

    Torch appends the squared norms to the points, multiplies, and then clamps the result and takes its square root in
    place (``_euclidean_dist`` in torch's Distance.cpp). These kernels read or write the points about seven times, and
    the result five times.
    """
    if len(given) < 2 or not (given[0].is_tensor and given[1].is_tensor):
        return None
    a, b = given[:2]
    if len(a.dims) < 2 or a.dims[:-2] != b.dims[:-2] or a.dims[-1] != b.dims[-1]:
        return None
    pairs = math.prod(a.dims[:-1]) * b.dims[-2]
    return Work(2 * pairs * (a.dims[-1] + 2), 7 * (a.bytes + b.bytes) + 5 * pairs * a.element_bytes, matrix_unit(a))


def _directly_or_by_product(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``_cdist_forward(a, b, p, mode)`` where torch computes it by a product, else ``None``."""
    by_product = len(given) > 2 and given[2].type == "scalar" and given[2].value in {"2", "2.0"}
    found = _distances(given) if by_product else None
    return found if found and max(given[0].dims[-2], given[1].dims[-2]) > _DIRECT_POINTS else None


_DIRECT_POINTS = 25
"""Maximum number of points whose Euclidean distances torch computes directly, without a product."""


_FORMULAS = {
    **products.OPERATORS, **attention.OPERATORS, **convolutions.OPERATORS, "aten::_grouped_mm": _grouped,
    "aten::_cdist_forward": _directly_or_by_product, "aten::_euclidean_dist": _distances,
}  # fmt: skip


def _bytes_moved(name: str, kind: str, given: Sequence[Argument], made: Sequence[Argument]) -> Work | None:
    """Return the bytes moved by reading each element of the arguments and writing each element of the results once."""
    read, written = _bytes(given), _bytes(made)
    if name.startswith("aten::_fused_"):
        # A fused optimizer reads parameters, gradients and both moments, and writes all of them but the gradients.
        lists = [one for one in given if one.is_tensor and one.elements > 1]
        return Work(None, 2 * read - (lists[1].bytes if len(lists) > 1 else 0))
    if name.endswith("_") and not written:
        # In-place operators that return nothing, such as operators on lists, write their first argument.
        written = next((one.bytes for one in given if one.is_tensor), 0)
    if name in _TRANSFERS and given:
        return Work(None, _TRANSFERS[name] * given[0].bytes)
    match kind:
        case "gather" if "embedding_bag" in name and len(given) > 1:
            # All rows of a bag are read; one row is written for each bag.
            rows = given[1].elements * math.prod(given[0].dims[1:]) * given[0].element_bytes
            return Work(None, rows + written + given[1].bytes, assumed="rows that are picked are read once")
        case "gather":
            indices = sum(one.bytes for one in given[1:] if one.is_tensor and one.type in {"long int", "int"})
            return Work(None, 2 * written + indices, assumed="rows that are picked are read once")
        case "scatter":
            # Other elements keep their values. An in-place scatter does not touch them; otherwise they are copied.
            whole = 0 if name.endswith("_") else 2 * written
            put = sum(one.bytes for one in given[1:] if one.is_tensor)
            return Work(None, whole + 2 * put, assumed="each place is written once")
        case "fill":
            return Work(None, written)
        case "copy" if name == "aten::copy_":
            tensors = [one for one in given if one.is_tensor]
            return Work(None, tensors[0].bytes + tensors[1].bytes) if len(tensors) > 1 else None
        case _:
            return Work(None, read + written)


def bytes_of(values: Sequence[Any]) -> int:
    """Return the bytes of all tensors among some arguments; 0 for impossible extents."""
    return _bytes(arguments_of(values))


def _bytes(some: Sequence[Argument]) -> int:
    return sum(one.bytes for one in some if one.is_tensor)


def shapes_text(values: Sequence[Any]) -> str:
    """Return the extents of the tensors among some arguments: ``4096x2048 2048x8192``."""
    words = []
    for value in values:
        if isinstance(value, TensorInfo):
            words.append("x".join(map(str, value.shape)) or "scalar")
        elif isinstance(value, TensorList):
            words.append(f"{value.tensors} tensors of {value.elements:,} in all")
    return " ".join(words)


def elements_of(value: Any) -> int:
    """Return the elements of a tensor or of a list of tensors; 0 for other values."""
    if isinstance(value, TensorInfo):
        return math.prod(value.shape)
    return value.elements if isinstance(value, TensorList) else 0
