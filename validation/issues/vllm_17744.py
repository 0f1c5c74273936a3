"""vllm-project/vllm#17744: an 8-bit mixture of experts with three stages exceeds the LDS (gfx942)."""

import absent

absent.without("llguidance", "vllm._C")

import torch  # noqa: E402
import triton.language as tl  # noqa: E402
import vllm.model_executor.layers.fused_moe.fused_moe as module  # noqa: E402

ARCH, KERNEL, CAUSES, KNOBS = "MI300X", "fused_moe_kernel", ("KP401", "KP014"), ("num_stages",)
# None: the configuration cannot be launched. The issue gives no times.
CONFIGS = {"num_stages=3": None, "num_stages=2": 1.0}
TILE = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 32, "SPLIT_K": 1, "num_warps": 4}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations: 1,024 rows, 8 of 256 experts, scales for squares of 128."""
    rows, chosen, experts, n, k = 1024, 8, 256, 512, 7168
    eight = torch.float8_e4m3fnuz
    blocks = rows * chosen // 64
    order = torch.arange(rows * chosen, dtype=torch.int32, device="cuda")
    module.invoke_fused_moe_triton_kernel(
        torch.empty(rows, k, device="cuda", dtype=eight),
        torch.empty(experts, n, k, device="cuda", dtype=eight),
        torch.empty(rows, chosen, n, device="cuda", dtype=torch.bfloat16),
        torch.empty(rows, k // 128, device="cuda"),
        torch.empty(experts, n // 128, k // 128, device="cuda"),
        None,
        order,
        torch.arange(blocks, dtype=torch.int32, device="cuda") % experts,
        torch.tensor([rows * chosen], dtype=torch.int32, device="cuda"),
        False,
        chosen,
        {**TILE, "num_stages": int(name.partition("=")[2])},
        compute_type=tl.bfloat16,
        use_fp8_w8a8=True,
        use_int8_w8a8=False,
        use_int8_w8a16=False,
        use_int4_w4a16=False,
        per_channel_quant=False,
        block_shape=[128, 128],
    )
