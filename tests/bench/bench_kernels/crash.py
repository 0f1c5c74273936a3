"""A kernel that writes far outside its buffer when a shape asks for it, which takes the GPU's context down."""

import triton
import triton.language as tl

from kprof.kernel_spec import Kernel, Launch, Tensor, execute, size_of, torch_dtype


@triton.jit
def shifted(source, target, N, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    far = tl.full([BLOCK], SHIFT, tl.int64)
    tl.store(target + far + at, tl.load(source + at, mask=at < N), mask=at < N)


def launch(shape, config):
    buffer = Tensor(shape["dtype"], (shape["N"],))
    args = {"source": buffer, "target": buffer, "N": shape["N"], "SHIFT": shape["shift"], "BLOCK": config["BLOCK"]}
    return Launch(args, (triton.cdiv(shape["N"], config["BLOCK"]),))


def inputs(shape, device, seed):
    import torch

    return {"source": torch.randn(shape["N"], device=device).to(torch_dtype(shape["dtype"]))}


def run(inputs, shape, config):
    import torch

    target = torch.empty_like(inputs["source"])
    execute(shifted, launch(shape, config), {"source": inputs["source"], "target": target}, config)
    return {"target": target}


KERNEL = Kernel(
    name="crash",
    entry=shifted,
    summary="A copy, or a write into memory that is not there",
    launch=launch,
    shapes={
        "before": {"N": 65536, "shift": 0, "dtype": "fp32"},
        "outside": {"N": 65536, "shift": 1 << 45, "dtype": "fp32"},
        "after": {"N": 131072, "shift": 0, "dtype": "fp32"},
    },
    config={"BLOCK": 1024, "num_warps": 4},
    run=run,
    inputs=inputs,
    reference=lambda inputs, _shape: {"target": inputs["source"]},
    tolerance=lambda _shape: (0.0, 0.0),
    flops=lambda _shape: 0,
    bytes=lambda shape: 2 * shape["N"] * size_of(shape["dtype"]),
)
