"""Classify torch's operators into kinds, whose operators use similar algorithms and reach similar shares of peaks."""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from kprof_analyzers.profiles.timeline.operators import attention, convolutions, elementwise, products

_GATHERS = (
    "index", "index_select", "embedding", "gather", "take", "take_along_dim", "nll_loss_forward", "masked_select",
    "_unsafe_masked_index", "_embedding_bag", "_embedding_bag_forward_only", "trace", "nll_loss2d_forward",
    "masked_scatter_backward",
)  # fmt: skip
_SCATTERS = (
    "index_put", "_index_put_impl", "index_add", "index_copy", "scatter", "scatter_add", "scatter_reduce", "index_fill",
    "index_reduce", "masked_scatter", "put", "max_unpool2d", "max_unpool3d", "_embedding_bag_backward",
)  # fmt: skip
_COPIES = (
    "_to_copy", "clone", "cat", "stack", "constant_pad_nd", "roll", "flip", "repeat", "contiguous", "slice_scatter",
    "select_scatter", "slice_backward", "select_backward", "_reshape_copy", "triu", "tril", "as_strided_scatter",
    "diagonal_scatter", "view_copy", "permute_copy", "as_strided_copy", "t_copy", "transpose_copy", "squeeze_copy",
    "unsqueeze_copy", "detach_copy", "expand_copy", "slice_copy", "select_copy", "lift_fresh_copy",
    "_nested_get_values_copy", "pixel_shuffle", "pixel_unshuffle", "im2col", "col2im", "rot90", "_chunk_cat",
    "alias_copy", "block_diag", "channel_shuffle", "diag_embed", "diagonal_copy", "narrow_copy",
    "split_with_sizes_copy", "unbind_copy", "unfold_copy", "unfold_backward", "diagonal_backward", "triu_", "tril_",
)  # fmt: skip
_PADS = tuple(
    f"{how}_pad{n}d{end}" for how in ("reflection", "replication") for n in (1, 2, 3) for end in ("", "_backward")
)
_FILLS = (
    "zeros", "ones", "full", "arange", "zeros_like", "ones_like", "full_like", "eye", "scalar_tensor", "randn", "rand",
    "randint", "randn_like", "rand_like", "normal_", "uniform_", "bernoulli_", "random_", "exponential_",
    "nll_loss_backward", "new_zeros", "new_ones", "new_full", "linspace", "logspace", "randint_like", "normal",
    "log_normal_", "cauchy_", "geometric_", "nll_loss2d_backward",
)  # fmt: skip
_SOFTMAX = ("_softmax", "_log_softmax", "_safe_softmax", "_softmax_backward_data", "_log_softmax_backward_data")
_NORMS = (
    "native_layer_norm", "native_group_norm", "_fused_rms_norm", "native_layer_norm_backward",
    "native_group_norm_backward", "_fused_rms_norm_backward",
)  # fmt: skip
_BATCH_NORMS = (
    "native_batch_norm", "native_batch_norm_backward", "miopen_batch_norm", "miopen_batch_norm_backward",
    "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "_native_batch_norm_legit_functional",
    "_batch_norm_with_update", "_batch_norm_with_update_functional", "_batch_norm_no_update", "batch_norm_backward",
)  # fmt: skip
_MAPS = (
    "eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_not", "logical_and", "logical_or",
    "logical_not", "masked_fill", "maximum", "minimum", "lerp", "floor", "ceil", "round", "sign", "erf", "exp2", "log2",
    "log1p", "expm1", "remainder", "softplus", "hardtanh", "elu", "mish", "isnan", "isinf", "square", "atan2",
    "native_dropout_backward", "relu_backward", "softplus_backward", "mse_loss", "mse_loss_backward", "floor_divide",
    "rsub", "fill", "nan_to_num", "clamp_max", "log_sigmoid_forward", "log_sigmoid_backward", "_amp_update_scale",
    "complex", "polar", "angle", "conj_physical", "erfinv", "digamma", "lgamma", "fmod", "hypot", "trunc", "frac",
    "logaddexp", "copysign", "heaviside", "sgn", "logit", "sinc", "xlogy", "hardswish", "hardswish_backward",
    "hardsigmoid", "hardsigmoid_backward", "glu", "glu_backward", "celu", "elu_backward", "leaky_relu_backward",
    "hardtanh_backward", "smooth_l1_loss", "smooth_l1_loss_backward", "huber_loss", "huber_loss_backward",
    "binary_cross_entropy", "binary_cross_entropy_backward", "bernoulli", "cross", "linalg_cross", "acos", "acosh",
    "asin", "asinh", "atan", "atanh", "tan", "sinh", "cosh", "erfc", "log10", "logaddexp2", "deg2rad", "rad2deg",
    "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift", "__xor__", "__ixor__", "__lshift__", "__rshift__",
    "__ilshift__", "__irshift__", "logical_xor", "signbit", "isposinf", "isneginf", "fmax", "fmin", "frexp", "ldexp",
    "nextafter", "gcd", "lcm", "threshold", "relu6", "selu", "hardshrink", "hardshrink_backward", "softshrink",
    "softshrink_backward", "rrelu_with_noise", "rrelu_with_noise_backward", "_prelu_kernel", "_prelu_kernel_backward",
    "logit_backward", "binary_cross_entropy_with_logits", "soft_margin_loss", "soft_margin_loss_backward",
    "_conj_physical", "float_power", "true_divide", "positive", "isfinite", "addr", "i0", "special_entr",
    "special_erfcx", "special_i0e", "special_i1", "special_i1e", "special_log_ndtr", "special_ndtri", "special_xlog1py",
    "renorm", "mish_backward", "multi_margin_loss_backward",
)  # fmt: skip
_REDUCTIONS = (
    "any",
    "all",
    "prod",
    "var",
    "std",
    "var_mean",
    "argmin",
    "logsumexp",
    "linalg_vector_norm",
    "aminmax",
    "std_mean",
    "dot",
    "vdot",
    "nansum",
    "count_nonzero",
    "dist",
    "equal",
    "multi_margin_loss",
)
_POOLS = (
    *(f"{how}_pool{n}d{end}" for how in ("avg", "_adaptive_avg") for n in (2, 3) for end in ("", "_backward")),
    *(f"max_pool{n}d_with_indices{end}" for n in (2, 3) for end in ("", "_backward")),
    *(f"adaptive_max_pool{n}d{end}" for n in (2, 3) for end in ("", "_backward")),
    *(f"fractional_max_pool{n}d{end}" for n in (2, 3) for end in ("", "_backward")),
)
_RESAMPLED = (
    "nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d", "bicubic2d", "trilinear3d",
)  # fmt: skip
_RESAMPLINGS = (
    *(f"upsample_{how}{end}" for how in _RESAMPLED for end in ("", "_backward")),
    *(f"_upsample_nearest_exact{n}d{end}" for n in (1, 2, 3) for end in ("", "_backward")),
    *(f"_upsample_{how}2d_aa{end}" for how in ("bilinear", "bicubic") for end in ("", "_backward")),
    *(f"grid_sampler_{n}d{end}" for n in (2, 3) for end in ("", "_backward")),
)

_SORTS = (
    "sort", "argsort", "topk", "msort", "kthvalue", "median", "nanmedian", "mode", "unique_dim", "_unique2", "randperm",
)  # fmt: skip
_TRANSFORMS = ("_fft_r2c", "_fft_c2r", "_fft_c2c")
_COUNTS = (
    "histc", "bincount", "nonzero", "nonzero_static", "multinomial", "searchsorted", "bucketize", "one_hot",
    "unique_consecutive",
)  # fmt: skip

_KINDS = {
    **{f"aten::{name}": "sort" for name in _SORTS},
    **{f"aten::{name}": "count" for name in _COUNTS},
    **{f"aten::{name}": "Fourier transform" for name in _TRANSFORMS},
    **{f"aten::{name}": "pooling" for name in _POOLS},
    **{f"aten::{name}": "resampling" for name in _RESAMPLINGS},
    **dict.fromkeys(
        (*products.OPERATORS, "aten::_grouped_mm", "aten::_cdist_forward", "aten::_euclidean_dist"), "product"
    ),
    **dict.fromkeys(attention.OPERATORS, "attention"),
    **dict.fromkeys(convolutions.OPERATORS, "convolution"),
    **{f"aten::{name}": "scan" for name in ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")},
    **{f"aten::{name}": "softmax" for name in _SOFTMAX},
    **{f"aten::{name}": "norm" for name in _NORMS},
    **{f"aten::{name}": "batch norm" for name in _BATCH_NORMS},
    "aten::copy_": "copy",
    "aten::fill_": "fill",
    "aten::zero_": "fill",
    **{f"aten::{name}": "gather" for name in _GATHERS},
    **{f"aten::{name}{end}": "scatter" for name in _SCATTERS for end in ("", "_")},
    **{f"aten::{name}": "copy" for name in (*_COPIES, *_PADS)},
    **{f"aten::{name}": "fill" for name in _FILLS},
    **{f"aten::{name}": "reduction" for name in (*elementwise.REDUCTIONS, *_REDUCTIONS)},
    **{f"aten::{name}{end}": "elementwise" for name in _MAPS for end in ("", "_")},
    "aten::embedding_dense_backward": "gather",
}
_OPTIMIZERS = re.compile(r"aten::_(foreach|fused|amp_foreach)_\w+")

NARROW = 16
"""Rows or columns of a product below which matrix instructions and library tiles consist mostly of padding."""
_LONG = 1024
"""Maximum elements of a row that torch's softmax keeps in registers; longer rows are read more than once."""
_FEW_CHANNELS = 4
"""Maximum number of channels of an image. So few channels do not fill the K extent of a matrix instruction."""
_TILE = 128
"""Number of rows and of columns of a typical library kernel's tile, and of queries in a typical attention block."""
_SPLIT = 32
"""Maximum of the smaller of a product's rows and columns for which libraries split its depth (K) over workgroups.

On an MI355X, the times of such products do not depend on the depth.
"""


class ResultTiles(msgspec.Struct, frozen=True):
    """Distribution of an operator's result over a GPU.

    Attributes:
        count: number of 128 x 128 tiles of a product's result, blocks of 128 queries of an attention head, channels of
            a batch norm, or rows of another norm.
        columns: columns of the result; for a convolution its channels.
        products: number of products that run one after the other.
        depth: elements that a workgroup multiplies one after the other for each element of the result; 0 if it is
            unknown, or if libraries split the depth over workgroups because the result has few rows or columns.
    """

    count: int
    columns: int
    products: int = 1
    depth: int = 0

    def filling(self, compute_units: int) -> "ResultTiles":
        """Return a copy whose count is raised to at least one tile per compute unit."""
        return msgspec.structs.replace(self, count=max(self.count, compute_units))


def kind_of(name: str) -> str:
    """Return the kind of an operator, or "" if its name is unknown."""
    known = _KINDS.get(name)
    if known is None and (name in elementwise.OPERATORS or _OPTIMIZERS.fullmatch(name)):
        return "elementwise"
    return known or ""


def kind_of_shapes(name: str, shapes: Sequence[Sequence[int]]) -> str:
    """Return the kind of an operator, refined by the shapes of its tensors.

    ``small products`` are batches of products with fewer than 16 rows or columns; ``long softmax`` has rows of more
    than 1,024 elements. Convolutions with 1 x 1 filters are ``pointwise convolution``; those with up to 4 input
    channels, such as images, are ``convolution of few channels``.
    """
    kind = kind_of(name)
    if kind == "product":
        pair = factors_of(shapes)
        if pair is not None and len(pair[0]) == 3:
            return "small products" if min(pair[0][1], pair[1][2]) < NARROW else "batched product"
    elif kind == "softmax" and shapes and shapes[0] and shapes[0][-1] > _LONG:
        return "long softmax"
    elif kind == "convolution":
        weight = _weight(name, shapes)
        if weight is not None and math.prod(weight[2:]) == 1:
            return "pointwise convolution"
        if weight is not None and weight[1] <= _FEW_CHANNELS:
            return "convolution of few channels"
    return kind


def kind_at(kind: str, bound: str) -> str:
    """Return the kind whose efficiency applies, given the bound.

    A product bound by memory, for example because it has few rows, is a ``thin product``. Attention bound by memory,
    because its sequences are short, is ``short attention``. Other kinds are returned unchanged.
    """
    if bound != "HBM":
        return kind
    return {"product": "thin product", "attention": "short attention"}.get(kind, kind)


def tiles_of(name: str, shapes: Sequence[Sequence[int]], flop: int | None) -> ResultTiles | None:
    """Return the tiles of the result of a product, a convolution, attention or a norm; ``None`` for other operators.

    Args:
        name: name of the operator.
        shapes: shapes of its tensors, in order.
        flop: operations of a call, from which a convolution's pixels follow.
    """
    match kind_of(name):
        case "product":
            pair = factors_of(shapes)
            if pair is None:
                return None
            batch, rows, columns = math.prod(pair[0][:-2]), pair[0][-2], pair[1][-1]
            depth = pair[0][-1] if min(rows, columns) > _SPLIT else 0
            return ResultTiles(batch * -(-rows // _TILE) * -(-columns // _TILE), columns, depth=depth)
        case "convolution":
            weight = _weight(name, shapes)
            if weight is None or not flop or not math.prod(weight):
                return None
            backward = name.endswith("_backward")
            pixels = math.prod(shapes[0]) // max(1, shapes[0][1]) if backward else flop // (2 * math.prod(weight))
            count = max(1, round(flop / (2 * pixels * math.prod(weight)))) if pixels else 1
            return ResultTiles(-(-pixels // _TILE) * -(-weight[0] // _TILE), weight[0], count)
        case "attention":
            spread = attention.queries(name, shapes)
            return None if spread is None else ResultTiles(spread[0] * -(-spread[1] // _TILE), 0)
        case "batch norm":
            return ResultTiles(shapes[0][1], 0) if shapes and len(shapes[0]) > 1 else None
        case "norm":
            rows = _normed_rows(name, shapes)
            return ResultTiles(rows, 0) if rows else None
        case _:
            return None


def _normed_rows(name: str, shapes: Sequence[Sequence[int]]) -> int:
    """Return the number of rows that a norm normalises, each by one workgroup; 0 if the shapes do not determine it."""
    if name.endswith("_backward"):
        # The third tensor, after the gradient and the input, has one element (mean or scale) for each row.
        return math.prod(shapes[2]) if len(shapes) > 2 else 0
    weight = math.prod(shapes[1]) if len(shapes) > 1 else 0
    return math.prod(shapes[0]) // weight if weight and "group_norm" not in name else 0


def factors_of(shapes: Sequence[Sequence[int]]) -> tuple[Sequence[int], Sequence[int]] | None:
    """Return the shapes of a product's two matrices: the first two adjacent shapes that fit; an addend may precede."""
    for a, b in pairwise(shapes):
        if len(a) == len(b) in {2, 3} and a[-1] == b[-2] and a[:-2] == b[:-2]:
            return a, b
    return None


def _weight(name: str, shapes: Sequence[Sequence[int]]) -> Sequence[int] | None:
    at = 2 if name.endswith("_backward") else 1
    return shapes[at] if len(shapes) > at and len(shapes[at]) > 2 else None
