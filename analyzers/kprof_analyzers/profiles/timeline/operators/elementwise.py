"""Compute the work of memory-bound operators: the bytes that they read and write, each element once."""

from collections.abc import Mapping, Sequence

from kprof_analyzers.profiles.timeline.operators.arguments import Argument, Formula, Work

_MAPS = (
    "add", "sub", "mul", "div", "silu", "gelu", "relu", "sigmoid", "tanh", "exp", "log", "neg", "sqrt", "rsqrt",
    "reciprocal", "pow", "abs", "clamp", "clamp_min", "where", "sin", "cos", "leaky_relu", "addcmul", "addcdiv",
    "native_dropout", "silu_backward", "gelu_backward", "sigmoid_backward", "tanh_backward", "threshold_backward",
)  # fmt: skip
ROWS = (
    "_softmax", "_log_softmax", "native_layer_norm", "native_group_norm", "_fused_rms_norm", "native_batch_norm",
    "miopen_batch_norm", "cumsum", "_softmax_backward_data", "_log_softmax_backward_data", "native_layer_norm_backward",
    "native_group_norm_backward", "_fused_rms_norm_backward", "native_batch_norm_backward",
    "miopen_batch_norm_backward",
)  # fmt: skip
"""Softmax, norms and other operators that work on rows."""

REDUCTIONS = ("sum", "mean", "amax", "amin", "argmax", "max", "min", "norm")


def _tensors(given: Sequence[Argument]) -> list[Argument]:
    return [argument for argument in given if argument.is_tensor]


def _broadcast(tensors: Sequence[Argument]) -> int | None:
    """Return the number of elements of the shape that the tensors broadcast to; ``None`` if they do not match."""
    rank = max(len(t.dims) for t in tensors)
    result = 1
    for axis in range(1, rank + 1):
        extents = {t.dims[-axis] for t in tensors if len(t.dims) >= axis} - {1}
        if len(extents) > 1:
            return None
        result *= extents.pop() if extents else 1
    return result


def _map(given: Sequence[Argument]) -> Work | None:
    """Return the work of reading all tensors and writing a broadcast result with the type of the first tensor."""
    tensors = _tensors(given)
    if not tensors:
        return None
    elements = _broadcast(tensors)
    if elements is None:
        return None
    return Work(None, sum(t.bytes for t in tensors) + elements * tensors[0].element_bytes)


def _in_place(given: Sequence[Argument]) -> Work | None:
    """Return the work of reading all tensors and overwriting the first one."""
    tensors = _tensors(given)
    return Work(None, sum(t.bytes for t in tensors) + tensors[0].bytes) if tensors else None


def _rows(given: Sequence[Argument]) -> Work | None:
    """Return the work of reading all tensors and writing a result of the same size as the first tensor."""
    return _in_place(given)


def _copy(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``copy_(to, from)``: one tensor is written, one is read."""
    tensors = _tensors(given)
    return Work(None, tensors[0].bytes + tensors[1].bytes) if len(tensors) == 2 else None


def _fill(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``aten::fill_`` and ``aten::zero_``: the bytes of the first tensor are written."""
    tensors = _tensors(given)
    return Work(None, tensors[0].bytes) if tensors else None


def _reduce(given: Sequence[Argument]) -> Work | None:
    """Return the work of reading the first tensor; the result is assumed to be small."""
    tensors = _tensors(given)
    return Work(None, tensors[0].bytes) if tensors else None


OPERATORS: Mapping[str, Formula] = {
    **{f"aten::{name}": _map for name in _MAPS},
    **{f"aten::{name}_": _in_place for name in _MAPS},
    **{f"aten::{name}": _rows for name in ROWS},
    **{f"aten::{name}": _reduce for name in REDUCTIONS},
    "aten::copy_": _copy,
    "aten::fill_": _fill,
    "aten::zero_": _fill,
}
