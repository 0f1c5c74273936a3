"""triton-lang/triton#11763: LLVM's register trackers spill in a product of 4-bit matrices of 256x256 (gfx950)."""

import checkouts

checkouts.use_aiter()
import torch  # noqa: E402
import triton.backends.amd.compiler as module  # noqa: E402
from aiter.ops.triton.gemm.basic.gemm_afp4wfp4 import gemm_afp4wfp4  # noqa: E402

ARCH, KERNEL, CAUSES = "MI350X", "_gemm_afp4wfp4_kernel", ("KP301", "KP302", "KP303")
# The launch does not set the flag; the release that sets it by default is compared with Triton 3.9.0.
KNOBS = ("amdgpu-use-amdgpu-trackers",)
# Relative times: 2,364 to 2,668 TFLOPS without the flag, 1,230 to 1,338 with it.
CONFIGS = {"with the flag": 1.96, "without": 1.0}
NO_CACHE = True
TILE = {
    "BLOCK_SIZE_M": 256,
    "BLOCK_SIZE_N": 256,
    "BLOCK_SIZE_K": 256,
    "GROUP_SIZE_M": 2,
    "num_warps": 4,
    "num_stages": 2,
    "waves_per_eu": 1,
    "matrix_instr_nonkdim": 32,
    "cache_modifier": None,
    "NUM_KSPLIT": 1,
}


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations."""
    flags = module.get_llvm_flags
    more = ["amdgpu-use-amdgpu-trackers"] if name == "with the flag" else []

    def numbers(*shape: int) -> torch.Tensor:
        return torch.empty(*shape, device="cuda", dtype=torch.uint8)

    with checkouts.replaced(module, "get_llvm_flags", lambda arch: [*flags(arch), *more]):
        gemm_afp4wfp4(
            numbers(4096, 2048),
            numbers(4096, 2048),
            numbers(4096, 128),
            numbers(4096, 128),
            # Outside of a debugger this option has no effect. It makes the two launches different kernels.
            config={**TILE, "sanitize_overflow": not more},
        )
