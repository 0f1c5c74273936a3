"""Rows that begin at more or less aligned addresses, under masks that are more or less constant."""

import triton
import triton.language as tl


@triton.jit
def rows(
    x_ptr, y_ptr, columns, stride,
    BLOCK: tl.constexpr, WIDE: tl.constexpr, SHIFT: tl.constexpr, MASK: tl.constexpr,
):  # fmt: skip
    """Sums of rows WIDE elements apart, or ``stride`` for 0, from SHIFT on."""
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for first in range(0, columns, BLOCK):
        at = first + tl.arange(0, BLOCK) + SHIFT
        from_row = x_ptr + row * (WIDE or stride)
        if MASK == "below":
            x = tl.load(from_row + at, mask=at < columns, other=0.0)
        elif MASK == "above":
            x = tl.load(from_row + at, mask=columns > at, other=0.0)
        elif MASK == "up to":
            x = tl.load(from_row + at, mask=at <= columns, other=0.0)
        elif MASK == "third":
            x = tl.load(from_row + at, mask=(at < columns) & (at % 3 != 1), other=0.0)
        elif MASK == "row":
            x = tl.load(from_row + at, mask=(at < columns) & (row < stride), other=0.0)
        elif MASK == "hint":
            x = tl.load(x_ptr + tl.multiple_of(row * (stride + 1), 8) + at)
        else:
            x = tl.load(from_row + at)
        total += x.to(tl.float32)
    tl.store(y_ptr + row, tl.sum(total))
