"""Names of knobs that the loaders of the configurations recognise."""

from collections.abc import Mapping

# Options of Triton's AMD backend (3.4 to 3.9) and arguments of triton.Config.
COMMON = frozenset({
    "num_warps", "num_stages", "num_ctas", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "maxnreg", "schedule_hint",
    "instruction_sched_variant", "enable_fp_fusion", "allow_flush_denorm", "cluster_dims",
})  # fmt: skip

FAMILIES: Mapping[str, frozenset[str]] = {
    # Keys in the files of aiter/ops/triton/configs/gemm (ROCm/aiter e4048607a5), and keys that their loaders read.
    "aiter-gemm": frozenset({
        "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "NUM_KSPLIT", "SPLITK_BLOCK_SIZE", "GROUP_K",
        "GROUP_N", "NUM_BUFFERS", "cache_modifier", "kernel_type", "persistent_iters", "BLOCK_M", "BLOCK_N", "BLOCK_K",
    }),
    "aiter-moe": frozenset({
        "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "cache_modifier", "SPLIT_K",
    }),
    # Knobs that the launches in fused_moe and quantization/utils of vLLM 0.33.0 use.
    "vllm": frozenset({
        "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "SPLIT_K", "tile_m", "tile_n", "tile_k",
        "tile_n2", "tile_k2",
    }),
}  # fmt: skip
"""Map from kernel family to the knobs that its kernels accept in addition to :data:`COMMON`."""

SPELLINGS = (
    ("BLOCK_M", "BLOCK_SIZE_M", "block_m"),
    ("BLOCK_N", "BLOCK_SIZE_N", "block_n"),
    ("BLOCK_K", "BLOCK_SIZE_K", "block_k"),
    ("GROUP_M", "GROUP_SIZE_M"),
    ("SPLIT_K", "NUM_KSPLIT"),
)
"""Each row lists names of the same knob; a kernel accepts only one of them."""
