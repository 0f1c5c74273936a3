"""Programs that handle launches which need too much, and an autotuner with many configurations."""

import json
import os
import sys
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources


@triton.jit
def square(x, out, BLOCK: tl.constexpr):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    tile = tl.load(x + rows * BLOCK + columns)
    tl.store(out + rows * BLOCK + columns, tl.dot(tile, tile).to(tl.float16))


def launched(block):
    x = torch.zeros(block, block, dtype=torch.float16, device="cuda")
    square[(1,)](x, x, BLOCK=block)


def with_a_smaller_one():
    for block in (256, 64):
        try:
            launched(block)
        except OutOfResources as error:
            print(f"too much for {block}: {error.required} of {error.limit} bytes of {error.name}")
        else:
            print("launched", block)


@triton.autotune([triton.Config({"BLOCK": 128 << (i % 4), "PAD": i}) for i in range(12)], key=["n"])
@triton.jit
def tuned(x, n, BLOCK: tl.constexpr, PAD: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.exp(tl.load(x + at, mask=at < n)) + PAD, mask=at < n)


def autotuned():
    folder = Path(json.loads(os.environ["KPROF_CAPTURE"])["folder"])
    tuned[lambda meta: (triton.cdiv(4096, meta["BLOCK"]),)](torch.zeros(4096, device="cuda"), 4096)
    print("compiled by then:", len(list(folder.glob("kernels/*/result.json"))))


if "tune" in sys.argv:
    autotuned()
else:
    with_a_smaller_one()
    print("all fine")
