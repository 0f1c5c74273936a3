"""A kernel with a mistake: it leaves out the last element of each block."""

import triton
import triton.language as tl

from kprof.kernel_spec import Kernel, Launch, Tensor, execute, size_of, torch_dtype


@triton.jit
def double(source, target, N, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + at, 2 * tl.load(source + at, mask=at < N), mask=(at < N) & (tl.arange(0, BLOCK) < BLOCK - 1))


def launch(shape, config):
    buffer = Tensor(shape["dtype"], (shape["N"],))
    grid = (triton.cdiv(shape["N"], config["BLOCK"]),)
    return Launch({"source": buffer, "target": buffer, "N": shape["N"], "BLOCK": config["BLOCK"]}, grid)


def inputs(shape, device, seed):
    import torch

    return {"source": torch.randn(shape["N"], device=device).to(torch_dtype(shape["dtype"]))}


def run(inputs, shape, config):
    import torch

    target = torch.empty_like(inputs["source"])
    execute(double, launch(shape, config), {"source": inputs["source"], "target": target}, config)
    return {"target": target}


KERNEL = Kernel(
    name="wrong",
    entry=double,
    summary="Twice the input, but for the last element of each block",
    launch=launch,
    shapes={"small": {"N": 4096, "dtype": "fp32"}, "large": {"N": 65536, "dtype": "fp16"}},
    config={"BLOCK": 1024, "num_warps": 4},
    run=run,
    inputs=inputs,
    reference=lambda inputs, _shape: {"target": 2 * inputs["source"].double()},
    tolerance=lambda _shape: (1e-3, 1e-6),
    flops=lambda shape: shape["N"],
    bytes=lambda shape: 2 * shape["N"] * size_of(shape["dtype"]),
)
