"""Tiles that lie in memory with and without gaps."""

import triton
import triton.language as tl


@triton.jit
def reads(x_ptr, y_ptr, rows, s0, s1, ROWS: tl.constexpr, COLUMNS: tl.constexpr, FORM: tl.constexpr):
    """Sums of tiles; FORM: the order of strides."""
    r = tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, COLUMNS)[None, :]
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, rows, ROWS):
        if FORM == "unknown":
            at = (first + r) * s0 + c * s1
        elif FORM == "complex":
            at = (first + r) * s0 + c * 2
        elif FORM == "channels":
            at = (first + r) * s0 + c * 3
        elif FORM == "band":
            at = (first + r) * (s0 + 1) + c * 4
        elif FORM == "columns":
            at = first + r + c * s1
        else:
            at = (first + r) * s0 + c
        total += tl.load(x_ptr + at).to(tl.float32)  # load
    tl.store(y_ptr + r * COLUMNS + c, total)
