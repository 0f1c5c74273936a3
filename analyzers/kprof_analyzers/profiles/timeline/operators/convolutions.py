"""Compute the work of convolutions: every output element is a dot product with the weights of its channel."""

import math
from collections.abc import Mapping, Sequence

from kprof_analyzers.profiles.timeline.operators.arguments import Argument, Formula, Work, matrix_unit


def output_dims(
    x: Sequence[int], weight: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> tuple[int, ...] | None:
    """Return the extents of a convolution's result (batch, channels, space); ``None`` if the arguments do not match."""
    space = len(x) - 2
    if space < 1 or len(weight) != len(x):
        return None
    steps = [tuple(v) * space if len(v) == 1 else tuple(v) for v in (stride, padding, dilation)]
    if any(len(v) != space for v in steps):
        return None
    found = [x[0], weight[0]]
    for extent, taps, step, pad, gap in zip(x[2:], weight[2:], *steps, strict=True):
        if step < 1:
            return None
        found.append((extent + 2 * pad - gap * (taps - 1) - 1) // step + 1)
    return tuple(found) if min(found) > 0 else None


def transposed_output_dims(
    x: Sequence[int],
    weight: Sequence[int],
    steps: Sequence[Sequence[int]],
    groups: int,
) -> tuple[int, ...] | None:
    """Return the extents of a transposed convolution's result; ``None`` if the arguments do not match.

    Args:
        x: extents of the input (batch, channels, space).
        weight: extents of the weights (input channels, output channels of a group, space).
        steps: stride, padding, dilation and output padding, each with one value or one value per dimension of space.
        groups: number of groups of channels.
    """
    space = len(x) - 2
    if space < 1 or len(weight) != len(x):
        return None
    each = [tuple(v) * space if len(v) == 1 else tuple(v) for v in steps]
    if any(len(v) != space for v in each):
        return None
    found = [x[0], weight[1] * groups]
    for extent, taps, step, pad, gap, more in zip(x[2:], weight[2:], *each, strict=True):
        found.append((extent - 1) * step - 2 * pad + gap * (taps - 1) + more + 1)
    return tuple(found) if min(found) > 0 else None


def _forward(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``convolution(x, weight, bias, stride, padding, dilation, transposed, ..., groups)``."""
    if len(given) < 9 or not (given[0].is_tensor and given[1].is_tensor):
        return None
    x, weight = given[:2]
    transposed = given[6].flag()
    steps = [found for argument in given[3:6] if (found := argument.integers()) is not None]
    if transposed is None or len(steps) < 3:
        return None
    if transposed:
        more, groups = given[7].integers(), given[8].integers()
        if more is None or groups is None:
            return None
        result = transposed_output_dims(x.dims, weight.dims, [*steps, more], groups[0])
    else:
        result = output_dims(x.dims, weight.dims, *steps)
    if result is None:
        return None
    # The second extent of the weights is the number of input channels divided by the number of groups. A transposed
    # convolution multiplies each element of its input, not of its result, with the weights of its channel.
    flop = 2 * (x.elements if transposed else math.prod(result)) * math.prod(weight.dims[1:])
    bias = given[2].bytes if given[2].is_tensor else 0
    return Work(flop, x.bytes + weight.bytes + bias + math.prod(result) * x.element_bytes, matrix_unit(x))


def _backward(given: Sequence[Argument]) -> Work | None:
    """Return the work of ``convolution_backward(gradient, x, weight, ..., output_mask)``.

    It has the size of up to two convolutions: for the gradients of x and of the weights, if they are requested.
    """
    if len(given) < 11 or not all(argument.is_tensor for argument in given[:3]):
        return None
    gradient, x, weight = given[:3]
    transposed = given[7].flag()
    if transposed is None:
        return None
    one = 2 * (x if transposed else gradient).elements * math.prod(weight.dims[1:])
    wanted = [word == "True" for word in given[10].value.strip("[]").replace(" ", "").split(",")][:2]
    if not any(wanted):
        return None
    written = (x.bytes if wanted[0] else 0) + (weight.bytes if wanted[-1] else 0)
    read = gradient.bytes * sum(wanted) + (weight.bytes if wanted[0] else 0) + (x.bytes if wanted[-1] else 0)
    return Work(one * sum(wanted), read + written, matrix_unit(x))


OPERATORS: Mapping[str, Formula] = {
    "aten::convolution": _forward,
    "aten::_convolution": _forward,
    "aten::convolution_backward": _backward,
}
