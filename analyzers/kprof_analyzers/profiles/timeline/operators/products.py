"""Compute the work of matrix products: M x K times K x N needs 2 M N K operations."""

from collections.abc import Mapping, Sequence

from kprof_analyzers.profiles.timeline.operators.arguments import Argument, Formula, Work, matrix_unit


def _product(a: Argument, b: Argument, result_bytes: int, extra: int = 0) -> Work | None:
    """Return the work of a product of (batch,) M x K and (batch,) K x N."""
    if not (a.is_tensor and b.is_tensor) or len(a.dims) != len(b.dims) or len(a.dims) not in {2, 3}:
        return None
    *batch, m, k = a.dims
    *other, its, n = b.dims
    if its != k or batch != other:
        return None
    count = batch[0] if batch else 1
    return Work(2 * count * m * n * k, a.bytes + b.bytes + count * m * n * result_bytes + extra, matrix_unit(a))


def _matrix_product(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``mm(a, b)`` and ``bmm(a, b)``."""
    return _product(given[0], given[1], given[0].element_bytes) if len(given) >= 2 else None


def _added(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``addmm(bias, a, b)`` and ``baddbmm(bias, a, b)``; the addend is read once."""
    if len(given) < 3:
        return None
    return _product(given[1], given[2], given[1].element_bytes, given[0].bytes if given[0].is_tensor else 0)


def _matrix_vector(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``mv(a, x)``, a matrix of M x K times a vector of K elements."""
    if len(given) < 2 or not (given[0].is_tensor and given[1].is_tensor):
        return None
    a, x = given[:2]
    if len(a.dims) != 2 or tuple(x.dims) != (a.dims[1],):
        return None
    return Work(2 * a.elements, a.bytes + x.bytes + a.dims[0] * a.element_bytes, matrix_unit(a))


def _added_vector(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``addmv(addend, a, x)``; the addend is read once."""
    found = _matrix_vector(given[1:])
    if found is None or not given[0].is_tensor:
        return found
    return Work(found.flop, (found.bytes or 0) + given[0].bytes, found.unit)


def _linear(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``linear(x, weight, bias)``: all rows of x multiplied by weights of shape N x K."""
    if len(given) < 2 or not (given[0].is_tensor and given[1].is_tensor):
        return None
    x, weight = given[:2]
    if not x.dims or len(weight.dims) != 2 or x.dims[-1] != weight.dims[1] or not weight.dims[1]:
        return None
    rows = x.elements // x.dims[-1]
    bias = given[2].bytes if len(given) > 2 and given[2].is_tensor else 0
    written = rows * weight.dims[0] * x.element_bytes
    return Work(2 * rows * weight.elements, x.bytes + weight.bytes + bias + written, matrix_unit(x))


def _scaled(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``_scaled_mm(a, b, ...)`` of 8-bit types; results are assumed to have 2 bytes per element."""
    if len(given) < 2:
        return None
    found = _product(given[0], given[1], 2)
    return found and Work(found.flop, found.bytes, found.unit, "results of 2 bytes")


def _skinny(given: Sequence[Argument]) -> Work | None:
    """Return the work of vLLM's operators for few rows: arguments ``(weight, x, ...)`` with shapes N x K and M x K."""
    if len(given) < 2 or not (given[0].is_tensor and given[1].is_tensor):
        return None
    return _linear((given[1], given[0]))


OPERATORS: Mapping[str, Formula] = {
    "aten::mm": _matrix_product,
    "aten::bmm": _matrix_product,
    "aten::addmm": _added,
    "aten::addmm_": _added,
    "aten::baddbmm": _added,
    "aten::mv": _matrix_vector,
    "aten::addmv": _added_vector,
    "aten::addmv_": _added_vector,
    "aten::_addmm_activation": _added,
    "aten::linear": _linear,
    "aten::_scaled_mm": _scaled,
    "vllm::rocm_unquantized_gemm": _linear,
    "_rocm_C::wvSplitK": _skinny,
    "_rocm_C::LLMM1": _skinny,
}
