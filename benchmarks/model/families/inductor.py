"""Inductor's autotuning tables of an MI210 (gfx90a): mm, addmm, bmm and convolution, bf16."""

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.model.compiling import Point
from benchmarks.model.data import Row
from benchmarks.model.problem import Candidate, Family, Problem, gemm_bytes, renamed

PRODUCT = "MI210"
# Convolutions of ResNet-50 and later that halve the image; the tables name shapes only.
_STRIDE_2 = {
    "1x3x224x224,64x3x7x7", "1x128x56x56,128x128x3x3", "1x256x28x28,256x256x3x3", "1x512x14x14,512x512x3x3",
    "1x256x56x56,512x256x1x1", "1x512x28x28,1024x512x1x1", "1x1024x14x14,2048x1024x1x1",
}  # fmt: skip
_OLD = {"AMDGCN_USE_BUFFER_OPS": "0"}


def _sizes(text: str) -> list[list[int]]:
    return [[int(n) for n in part.split("x")] for part in text.replace(" ", "").split(",")]


Read = tuple[str, dict[str, Any], tuple[int, int, int, int, int], float]


def _matrix(row: Row) -> Read:
    """Kernel, our shape, matrix product and bytes of mm, addmm and bmm rows."""
    sizes = _sizes(row.shape["shapes"])
    first, second = sizes[-2:]
    batch = first[0] if len(first) == 3 else 1
    m, k, n = first[-2], first[-1], second[-1]
    shape = {"M": m, "N": n, "K": k, "batch": batch, "bias": row.shape["op"] == "addmm"}
    return "inductor_mm", shape, (m, n, k, batch, 2), batch * gemm_bytes(m, n, k, 2)


def _convolution(row: Row) -> Read:
    """Kernel, our shape, implicit matrix product and bytes of a convolution row."""
    text = row.shape["shapes"].replace(" ", "")
    (batch, in_c, in_h, in_w), (out_c, _, kernel, _) = _sizes(text)
    stride, padding = 2 if text in _STRIDE_2 else 1, kernel // 2
    names = ("BATCH", "IN_C", "IN_H", "IN_W", "OUT_C", "KERNEL", "STRIDE", "PADDING")
    shape = dict(zip(names, (batch, in_c, in_h, in_w, out_c, kernel, stride, padding), strict=True))
    pixels = batch * ((in_h + 2 * padding - kernel) // stride + 1) * ((in_w + 2 * padding - kernel) // stride + 1)
    depth = in_c * kernel * kernel
    moved = 2.0 * (batch * in_c * in_h * in_w + depth * out_c + pixels * out_c)
    return "inductor_conv", shape, (pixels, out_c, depth, 1, 2), moved


def _problems(kernels: set[str], read: Callable[[Row], Read], rows: Sequence[Row], quick: bool) -> list[Problem]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row.kernel in kernels and row.kind == "sweep" and row.time_us is not None:
            groups.setdefault(row.problem, []).append(row)
    found = []
    for name, group in list(groups.items())[: 3 if quick else None]:
        kernel, shape, side, moved = read(group[0])
        flops = 2.0 * side[0] * side[1] * side[2] * side[3]
        candidates = []
        for row in group:
            # Old Triton's 0 stages ("0|1" where the table cannot tell) means the software pipeline of two today.
            stages = {"0|1": 2, "0": 2, 0: 2}.get(row.config["num_stages"], row.config["num_stages"])
            published = {k: v for k, v in row.config.items() if kernel != "inductor_conv" or k != "GROUP_M"}
            config = renamed(published, {}, num_stages=stages)
            point = Point(kernel, shape, config, PRODUCT, tuple(_OLD.items()))
            candidates.append(Candidate((point,), row.config, row.time_us, row.suspect))
        short = name.removeprefix("inductor-MI210-")
        found.append(Problem(short, tuple(candidates), flops, moved, "bf16", PRODUCT, (side,)))
    return found


def matrices(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """The three mm and addmm tables."""
    return _problems({"inductor mm template", "inductor addmm template"}, _matrix, rows, quick)


def batched(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """The one bmm table."""
    return _problems({"inductor bmm template"}, _matrix, rows, quick)


def convolutions(rows: Sequence[Row], quick: bool) -> list[Problem]:
    """The twelve convolution tables."""
    return _problems({"inductor convolution template"}, _convolution, rows, quick)


_NOTE = (
    "Tables of the ten best only, of a Triton of about 3.0, rounded to 0.1 us: registers of Triton 3.6 are not those "
    "of the measured code. Times are from `do_bench` (caches flushed before each run, events around the launch), which "
    "shows as a floor of some 20 us."
)
FAMILIES = (
    Family("mm", "Inductor mm and addmm, MI210", "order", "one kernel for both; bias of one row", matrices, _NOTE),
    Family("bmm", "Inductor bmm, MI210", "order", "strides of interleaved heads assumed", batched, _NOTE),
    Family(
        "conv",
        "Inductor convolution, MI210",
        "order",
        "strides and padding are ResNet's (the tables name shapes only), images in NCHW",
        convolutions,
        _NOTE,
    ),
)
