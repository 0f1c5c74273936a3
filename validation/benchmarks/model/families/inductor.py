"""Inductor's autotuning tables: mm, addmm, bmm and convolution, bf16, of the GPU that the rows name."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from validation.benchmarks.model.compiling import Point
from validation.benchmarks.model.data import Row, UnusableError, each, grouped
from validation.benchmarks.model.problem import Candidate, Family, Problem, Timing, gemm_bytes, renamed

# Convolutions of ResNet-50 and later that halve the image; the tables only contain shapes.
_STRIDE_2 = {
    "1x3x224x224,64x3x7x7", "1x128x56x56,128x128x3x3", "1x256x28x28,256x256x3x3", "1x512x14x14,512x512x3x3",
    "1x256x56x56,512x256x1x1", "1x512x28x28,1024x512x1x1", "1x1024x14x14,2048x1024x1x1",
}  # fmt: skip
_STRIDE_1 = {
    "1x64x56x56,64x64x1x1", "1x64x56x56,64x64x3x3", "1x64x56x56,256x64x1x1", "1x256x56x56,64x256x1x1",
    "1x256x56x56,128x256x1x1", "1x128x28x28,128x128x3x3", "1x128x28x28,512x128x1x1", "1x512x28x28,128x512x1x1",
    "1x512x28x28,256x512x1x1", "1x256x14x14,256x256x3x3", "1x256x14x14,1024x256x1x1", "1x1024x14x14,256x1024x1x1",
    "1x1024x14x14,512x1024x1x1", "1x512x7x7,512x512x3x3", "1x512x7x7,2048x512x1x1", "1x2048x7x7,512x2048x1x1",
}  # fmt: skip
_OLD = {"AMDGCN_USE_BUFFER_OPS": "0"}


def _sizes(text: str) -> list[list[int]]:
    return [[int(n) for n in part.split("x")] for part in text.replace(" ", "").split(",")]


Read = tuple[str, dict[str, Any], tuple[int, int, int, int, int], float]
_TYPES = {"bf16", "bfloat16"}


def _matrix(row: Row) -> Read:
    """Return kernel, our shape, matrix product and bytes of mm, addmm and bmm rows."""
    sizes = _sizes(row.shape["shapes"])
    first, second = sizes[-2:]
    if len(first) != len(second) or len(first) not in {2, 3} or first[-1] != second[-2]:
        raise UnusableError("sizes are not those of a product")
    batch = first[0] if len(first) == 3 else 1
    m, k, n = first[-2], first[-1], second[-1]
    shape = {"M": m, "N": n, "K": k, "batch": batch, "bias": _operation(row) in {"addmm", "baddbmm"}}
    return "inductor_mm", shape, (m, n, k, batch, 2), batch * gemm_bytes(m, n, k, 2)


def _operation(row: Row) -> str:
    return str(row.shape.get("op") or row.kernel.split()[1])


def _convolution(row: Row) -> Read:
    """Return kernel, our shape, implicit matrix product and bytes of a convolution row."""
    text = row.shape["shapes"].replace(" ", "")
    image, weights = _sizes(text)[:2]
    if len(image) != 4 or len(weights) != 4:
        raise UnusableError("a convolution of other than two dimensions")
    (batch, in_c, in_h, in_w), (out_c, per_group, kernel, other) = image, weights
    if per_group != in_c or kernel != other:
        raise UnusableError("a convolution with groups or an oblong window")
    stride = _single(row.shape.get("stride"), 2 if text in _STRIDE_2 else 1)
    padding = _single(row.shape.get("padding"), kernel // 2)
    names = ("BATCH", "IN_C", "IN_H", "IN_W", "OUT_C", "KERNEL", "STRIDE", "PADDING")
    shape = dict(zip(names, (batch, in_c, in_h, in_w, out_c, kernel, stride, padding), strict=True))
    pixels = batch * ((in_h + 2 * padding - kernel) // stride + 1) * ((in_w + 2 * padding - kernel) // stride + 1)
    if pixels < 1:
        raise UnusableError("a convolution without a pixel")
    depth = in_c * kernel * kernel
    moved = 2.0 * (batch * in_c * in_h * in_w + depth * out_c + pixels * out_c)
    return "inductor_conv", shape, (pixels, out_c, depth, 1, 2), moved


def _guessed(row: Row) -> str:
    """Return the assumed properties of a convolution as a suffix of its name; empty if all are known."""
    text = row.shape["shapes"].replace(" ", "")
    if row.shape.get("stride") is not None or text in _STRIDE_1 | _STRIDE_2:
        return ""
    return " (stride not told: 1 assumed)"


def _single(value: Any, default: int) -> int:
    """Return a stride or padding given as a number, a pair, or text of either; both directions must be equal."""
    numbers = [int(n) for n in re.findall(r"\d+", str(value))] if value is not None else [default]
    if len(set(numbers)) != 1:
        raise UnusableError("a convolution with different strides or padding")
    return numbers[0]


# Old Triton's 0 stages means the software pipeline of two today. Where a table cannot tell 0 from 1 ("0|1") it is 1, no
# pipeline: these were measured with a nightly PyTorch 2.4.0a0 beside torchvision 0.17.2 (ROCm's blog on torch.compile),
# which is of before May 2024, when Inductor's products on ROCm went from 1 to 0 (PyTorch's pull request 125858).
_STAGES = {"0": 2, "None": 2, "0|1": 1}
_KNOBS = {"BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages", "waves_per_eu", "kpack"}
_KNOBS |= {"matrix_instr_nonkdim"}
_IGNORED = {"ALLOW_TF32", "ACC_TYPE", "EVEN_K", "USE_FAST_ACCUM", "B_PROLOGUE_CAST_TYPE", "UNROLL", "PADDING_H"}
_IGNORED |= {"PADDING_W", "STRIDE_H", "STRIDE_W", "KERNEL_H", "KERNEL_W", "GROUPS"}


def _launch(row: Row, read: Callable[[Row], Read]) -> tuple[Point, tuple[int, int, int, int, int], float]:
    rate = (row.dtype or "bf16").split()[0].lower()
    if rate not in _TYPES:
        raise UnusableError(f"type {row.dtype} is not ours")
    kernel, shape, side, moved = read(row)
    published = row.knobs({}, _KNOBS, _IGNORED)
    missing = {"BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps"} - set(published)
    if missing:
        raise UnusableError(f"no {', '.join(sorted(missing))}")
    if kernel == "inductor_conv":
        published.pop("GROUP_M", None)
    stages = _STAGES.get(str(published.get("num_stages"))) or int(published["num_stages"])
    config = renamed(published, {}, num_stages=stages)
    return Point(kernel, shape, config, row.product, tuple(_OLD.items())), side, moved


def _problems(pattern: str, read: Callable[[Row], Read], rows: Sequence[Row], quick: bool) -> list[Problem]:
    chosen = (r for r in rows if re.fullmatch(pattern, r.kernel) and r.kind == "sweep" and r.time_us is not None)
    groups = grouped(each(rows, chosen, lambda row: _launch(row, read)))
    found = []
    for name, group in list(groups.items())[: 3 if quick else None]:
        point, side, moved = group[0][1]
        flops = 2.0 * side[0] * side[1] * side[2] * side[3]
        candidates = tuple(
            Candidate((p,), row.config, row.time_us, row.suspect, triton=row.triton) for row, (p, _, _) in group
        )
        short = name.removeprefix("inductor-").removeprefix("MI210-")
        if read is _convolution:
            short += _guessed(group[0][0])
        found.append(Problem(short, candidates, flops, moved, "bf16", point.product, (side,)))
    return found


def matrices(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return the mm and addmm tables."""
    return _problems(r"inductor (mm|addmm) template", _matrix, rows, quick)


def batched(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return the bmm tables."""
    return _problems(r"inductor (bmm|baddbmm) template", _matrix, rows, quick)


def convolutions(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """Return the convolution tables."""
    return _problems(r"inductor conv(olution)? template", _convolution, rows, quick)


_NOTE = (
    "Tables of the ten best only, of a Triton of about 3.0, rounded to 0.1 us. The tables of products cannot tell "
    "`num_stages` 0 (a pipeline) from 1 (none): 1 is taken, which a nightly PyTorch 2.4.0a0 beside torchvision 0.17.2 "
    "(March 2024) had; 0 came with PyTorch's pull request 125858 of May 2024. Times are from `do_bench` (caches "
    "flushed before each run, events around the launch): 14 us are added to what is predicted, the median difference "
    "in the batched product's nine rows, which take 6 to 12 us on the GPU."
)
_DO_BENCH = Timing(usual=14.0, least=10.0, most=20.0)
"""Events around a launch and the caches' flush before it: the median of published less predicted time over the nine
rows of the batched product, whose times on the GPU are the shortest (6 to 12 us); the other tables were not fitted."""
FAMILIES = (
    Family(
        "mm", "Inductor mm and addmm", "order", "one kernel for both; bias of one row", matrices, _NOTE, _DO_BENCH,
        packages=("torch",),
    ),
    Family(
        "bmm", "Inductor bmm", "order", "strides of interleaved heads assumed", batched, _NOTE, _DO_BENCH,
        packages=("torch",),
    ),
    Family(
        "conv",
        "Inductor convolution",
        "order",
        "strides and padding are ResNet's (the tables name shapes only; others say in their name what was assumed), "
        "images in NCHW",
        convolutions,
        _NOTE,
        _DO_BENCH,
        packages=("torch",),
    ),
)  # fmt: skip
