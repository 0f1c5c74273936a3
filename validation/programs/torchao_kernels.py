"""torchao: block-wise FP8 quantisation and product, integer products with scales, products of block-sparse weights."""

import torch
from torchao.kernel.blockwise_quantization import (
    blockwise_fp8_gemm,
    fp8_blockwise_act_quant,
    fp8_blockwise_weight_quant,
)
from torchao.kernel.bsr_triton_ops import bsr_dense_addmm
from torchao.kernel.intmm_triton import int_matmul_kernel, int_scaled_matmul_kernel

x = torch.randn(512, 2048, device="cuda", dtype=torch.bfloat16)
w = torch.randn(1024, 2048, device="cuda", dtype=torch.bfloat16)


def blockwise() -> None:
    kind = torch.float8_e4m3fn
    a, a_scale = fp8_blockwise_act_quant(x, dtype=kind)
    b, b_scale = fp8_blockwise_weight_quant(w, dtype=kind)
    blockwise_fp8_gemm(a, a_scale, b, b_scale)


def integers() -> None:
    import triton

    a = torch.ones(512, 2048, device="cuda", dtype=torch.int8)
    b = torch.ones(2048, 1024, device="cuda", dtype=torch.int8)
    c, scale = torch.empty(512, 1024, device="cuda", dtype=torch.int32), torch.ones(512, 1, device="cuda")
    config = triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "GROUP_M": 8}, num_stages=2, num_warps=4)
    int_matmul_kernel(a, b, c, config)
    int_scaled_matmul_kernel(a, b, scale, torch.empty(512, 1024, device="cuda"), config)


def block_sparse() -> None:
    dense = torch.zeros(1024, 2048, device="cuda", dtype=torch.bfloat16)
    dense[:64, :64] = 1
    bsr_dense_addmm(torch.zeros(1024, 512, device="cuda", dtype=torch.bfloat16), dense.to_sparse_bsr(64), x.t())


for call in (blockwise, integers, block_sparse):
    try:
        call()
    except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
        print(f"failed {call.__name__}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
