"""bitsandbytes: its Triton backend: 4-bit and block-wise quantisation, products with 4-bit weights, 8-bit Adam."""

import torch
from bitsandbytes.backends.triton import ops
from bitsandbytes.functional import create_dynamic_map

x = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
code = create_dynamic_map().to("cuda")


def four_bits() -> None:
    packed, scale = ops.quantize_4bit(x, 64, "nf4", torch.uint8)
    ops.dequantize_4bit(packed, scale, 64, "nf4", x.shape, x.dtype)
    ops.gemv_4bit(x[:1], packed, x.shape, scale, code, 64)


def blocks() -> None:
    out, scale = ops.quantize_blockwise(x, code, 256)
    ops.dequantize_blockwise(out, scale, code, 256, x.dtype)


def adam() -> None:
    p, g = (torch.randn(4096, device="cuda") for _ in range(2))
    m, v = (torch.zeros(4096, device="cuda", dtype=torch.uint8) for _ in range(2))
    scales = [torch.ones(16, device="cuda") for _ in range(2)]
    ops.optimizer_update_8bit_blockwise(
        "adam", g, p, m, v, 0.9, 0.999, 0.0, 0.0, 1e-8, 1, 1e-3, code, code, *scales, 0.0, 1.0, False
    )


for call in (four_bits, blocks, adam):
    try:
        call()
    except Exception as error:  # noqa: BLE001  # one operator's failure is a line of the page
        print(f"failed {call.__name__}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
