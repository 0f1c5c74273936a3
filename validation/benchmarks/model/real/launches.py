"""Convert a stand-in's shape and configuration to the launch that the real kernel's package makes."""

from collections.abc import Mapping, Sequence
from typing import Any

from kprof.kernel_spec import Config, Launch, Shape, Tensor
from kprof_servers.served.aiter_launches import REDUCED, AiterProduct
from kprof_servers.served.launches import ServedExperts, ServedProduct, arguments

SCALED = 128
"""Rows, columns and depth of a block with a common scale, in all block-scaled products of the data."""
_NAMES = {f"BLOCK_{side}": f"BLOCK_SIZE_{side}" for side in "MNK"}
_NAMES |= {"GROUP_M": "GROUP_SIZE_M", "SPLIT_K": "NUM_KSPLIT"}
_FAMILIES = {"none": "GEMM-A16W16", "rows": "GEMM-A8W8", "blocks": "GEMM-A8W8_BLOCKSCALE"}
_MX_REDUCED = (16, 64)
"""Rows and columns of MXFP4's parts of K that a workgroup adds."""
_MX_SCALED = 32
_MX_SMALLEST = 128
_MX_LEAST = 16
_LARGEST = {"fp16": 65504.0, "bf16": 3.3895313892515355e38}
"""Largest value of each type, as in torch."""


def served(config: Config) -> dict[str, Any]:
    """Return a configuration with the servers' names of the knobs."""
    found = {_NAMES.get(name, name): value for name, value in config.items() if name != "MODIFIER"}
    if "MODIFIER" in config:
        found["cache_modifier"] = config["MODIFIER"] or None
    return found


def block_fp8(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return the launch of vLLM's and SGLang's product with block scales."""
    launch = ServedProduct(shape["N"], shape["K"], SCALED, SCALED)
    return launch.launches(shape["M"], served(config), names, shape["arch"])[""]


def fused_moe(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return the launch of one of the two products of vLLM's and SGLang's mixture of experts."""
    up = shape["side"] == "up"
    inner, hidden = (shape["N"] // 2, shape["K"]) if up else (shape["K"], shape["N"])
    weights = "fp8" if shape["dtype"].startswith("fp8") else "bf16"
    launch = ServedExperts(shape["E"], shape["E"], inner, hidden, shape["chosen"], weights)
    made = launch.launches(shape["rows"] // shape["chosen"], served(config), names, shape["arch"])
    return made["" if up else "down"]


def aiter_product(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return the launch of AITER's product, for its families without packed types."""
    return _aiter(shape).launches(shape["M"], served(config), names, shape["arch"])[""]


def aiter_sum(shape: Shape, config: Config, names: Sequence[str]) -> Launch | None:
    """Return the launch that adds AITER's parts of K; ``None`` if its launcher creates only one part."""
    del names
    made = _aiter(shape).launches(shape["M"], served(config), _PRODUCT, shape["arch"])
    return made.get(REDUCED)


def _aiter(shape: Shape) -> AiterProduct:
    scales = shape["scales"]
    block = SCALED if scales == "blocks" else 0
    kind = "fp8_e4m3" if scales != "none" else shape["dtype"]
    return AiterProduct(_FAMILIES[scales], shape["N"], shape["K"], kind, block, block)


_PRODUCT = ("M",)
"""Parameter names for the product's launch, from which only the split of K is used."""


def aiter_fp4(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return the launch of AITER's MXFP4 product: ``ops/triton/gemm/basic/gemm_afp4wfp4.py`` at e4048607a5."""
    m, n, full = shape["M"], shape["N"], _mx_split(served(config), shape["K"])
    k, parts = shape["K"] // 2, full["NUM_KSPLIT"]
    known = {
        "a_ptr": Tensor("u8", (m, k)), "b_ptr": Tensor("u8", (n, k)),
        "c_ptr": Tensor("bf16", (m, n)) if parts == 1 else Tensor("fp32", (parts, m, n)),
        "a_scales_ptr": Tensor("u8", (m, shape["K"] // _MX_SCALED)),
        "b_scales_ptr": Tensor("u8", (n, shape["K"] // _MX_SCALED)),
        "M": m, "N": n, "K": k, "stride_am": k, "stride_ak": 1, "stride_bk": 1, "stride_bn": k,
        "stride_ck": 0 if parts == 1 else m * n, "stride_cm": n, "stride_cn": 1,
        "stride_asm": shape["K"] // _MX_SCALED, "stride_ask": 1,
        "stride_bsn": shape["K"] // _MX_SCALED, "stride_bsk": 1,
        **_usual(full),
    }  # fmt: skip
    tiles = -(-m // full["BLOCK_SIZE_M"]) * -(-n // full["BLOCK_SIZE_N"])
    return Launch(arguments(names, known, full), (parts * tiles,))


def _usual(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that are also parameters of the kernel, with Triton's defaults for missing ones."""
    usual = {"num_warps": 4, "num_stages": 2, "waves_per_eu": 0, "matrix_instr_nonkdim": 0}
    return {name: value for name, value in usual.items() if name not in config}


def _mx_split(config: Mapping[str, Any], k: int) -> dict[str, Any]:
    """Return the launcher's configuration: fewer parts of K or less deep tiles, until both divide K.

    Args:
        config: configuration of AITER's file.
        k: number of summed elements.
    """
    full = {"NUM_KSPLIT": 1, "cache_modifier": None, **config}
    parts, depth = full["NUM_KSPLIT"], full["BLOCK_SIZE_K"]
    part = _part(k, parts, depth)
    while parts > 1 and depth > _MX_LEAST and (k % part or k % depth):
        parts, depth = (parts // 2, depth) if k % part else (parts, depth // 2)
        part = _part(k, parts, depth)
    if depth >= k:
        depth, parts = 1 << max(k - 1, 0).bit_length(), 1
    if parts == 1:
        part = k
    return {**full, "NUM_KSPLIT": parts, "SPLITK_BLOCK_SIZE": part, "BLOCK_SIZE_K": max(depth, _MX_SMALLEST)}


def _part(k: int, parts: int, depth: int) -> int:
    """Return the number of elements of a part, in whole tiles of K."""
    each = 2 * -(-(k // 2) // parts)
    return -(-each // depth) * depth


def aiter_fp4_sum(shape: Shape, config: Config, names: Sequence[str]) -> Launch | None:
    """Return the launch that adds the parts of K of MXFP4's product; ``None`` if its launcher creates only one part."""
    m, n, full = shape["M"], shape["N"], _mx_split(served(config), shape["K"])
    parts, (height, width) = full["NUM_KSPLIT"], _MX_REDUCED
    if parts == 1:
        return None
    known = {
        "c_in_ptr": Tensor("fp32", (parts, m, n)), "c_out_ptr": Tensor("bf16", (m, n)), "bias_ptr": None,
        "M": m, "N": n, "stride_c_in_k": m * n, "stride_c_in_m": n, "stride_c_in_n": 1, "stride_c_out_m": n,
        "stride_c_out_n": 1, "BLOCK_SIZE_M": height, "BLOCK_SIZE_N": width,
        "ACTUAL_KSPLIT": -(-shape["K"] // full["SPLITK_BLOCK_SIZE"]), "MAX_KSPLIT": 1 << (parts - 1).bit_length(),
        "ADD_BIAS": False, "activation": "", "use_activation": False, "KERNEL_NAME": "_gemm_afp4wfp4_reduce_kernel",
    }  # fmt: skip
    return Launch(arguments(names, known, {}), (-(-m // height), -(-n // width)))


def state_update(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return vLLM's state update for one token per sequence; decay and time step are tied over a head as in Mamba 2."""
    tokens, heads, rows, state = shape["tokens"], shape["heads"], shape["rows"], shape["state"]
    known = {
        "state_ptr": Tensor(shape["dtype"], (tokens, heads, rows, state)),
        "x_ptr": Tensor("bf16", (tokens, heads, rows)), "dt_ptr": Tensor("bf16", (tokens, heads)),
        "dt_bias_ptr": Tensor("fp32", (heads,)), "A_ptr": Tensor("fp32", (heads,)),
        "B_ptr": Tensor("bf16", (tokens, 1, state)), "C_ptr": Tensor("bf16", (tokens, 1, state)),
        "D_ptr": Tensor("bf16", (heads,)), "out_ptr": Tensor("bf16", (tokens, heads, rows)),
        "state_batch_indices_ptr": Tensor("i32", (tokens, 1)),
        "dst_state_batch_indices_ptr": Tensor("i32", (tokens, 1)),
        **dict.fromkeys(("rand_seed_ptr", "z_ptr", "num_accepted_tokens_ptr", "cu_seqlens_ptr")),
        "null_block_id": 0, "pad_slot_id": -1, "N": tokens, "nheads": heads, "dim": rows, "dstate": state,
        "nheads_ngroups_ratio": heads,
        "stride_state_batch": heads * rows * state, "stride_state_head": rows * state, "stride_state_dim": state,
        "stride_state_dstate": 1, "stride_x_batch": heads * rows, "stride_x_head": rows, "stride_x_dim": 1,
        "stride_dt_batch": heads, "stride_dt_head": 1, "stride_dt_dim": 0,
        "stride_dt_bias_head": 1, "stride_dt_bias_dim": 0,
        "stride_A_head": 1, "stride_A_dim": 0, "stride_A_dstate": 0, "stride_B_batch": state, "stride_B_group": state,
        "stride_B_dstate": 1, "stride_C_batch": state, "stride_C_group": state, "stride_C_dstate": 1,
        "stride_D_head": 1, "stride_D_dim": 0, "stride_z_batch": 0, "stride_z_head": 0, "stride_z_dim": 0,
        "stride_out_batch": heads * rows, "stride_out_head": rows, "stride_out_dim": 1,
        "stride_state_indices_batch": 1, "stride_state_indices_T": 1,
        "stride_dst_state_indices_batch": 1, "stride_dst_state_indices_T": 1,
        "DT_SOFTPLUS": True, "TIE_HDIM": True, "USE_RS_ROUNDING": False, "PHILOX_ROUNDS": 0,
    }  # fmt: skip
    grid = (-(-rows // config["BLOCK_M"]), tokens, heads)
    return Launch(arguments(names, known, served(config)), grid)


def aiter_attention(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return AITER's forward attention: ``ops/triton/attention/mha.py`` at e4048607a5, with the sums for training."""
    batch, heads, keys, sq, sk, d = (shape[name] for name in ("B", "H", "HK", "SQ", "SK", "D"))
    dtype = shape["dtype"]
    sides = {"q": (heads, sq), "k": (keys, sk), "v": (keys, sk), "o": (heads, sq)}
    known: dict[str, Any] = {}
    for name, (count, length) in sides.items():
        known["out_ptr" if name == "o" else f"{name}_ptr"] = Tensor(dtype, (batch, length, count, d))
        along = "mk" if name == "q" else "mn" if name == "o" else "nk"
        steps = (length * count * d, d, count * d, 1)
        known |= {f"stride_{name}{axis}_in": step for axis, step in zip(f"zh{along}", steps, strict=True)}
    absent = ("alibi_slopes_ptr", "s_dmask_ptr", "dropout_mask_ptr", "sink_ptr", "cu_seqlens_q", "cu_seqlens_k")
    known |= {f"stride_descale_{side}_z_in": 0 for side in "qkv"} | {f"descale_{side}_ptr": None for side in "qkv"}
    known |= {f"stride_alibi_{axis}_in": 0 for axis in "zh"} | {f"stride_sd_{axis}_in": 0 for axis in "zhmn"}
    known |= {
        **dict.fromkeys(absent), "softmax_lse_ptr": Tensor("fp32", (batch, heads, sq)), "stride_lse_z_in": heads * sq,
        "stride_lse_h_in": sq, "stride_lse_m_in": 1, "sm_scale": d**-0.5, "dropout_p": 0.0, "philox_seed": 0,
        "philox_offset_base_in": 0, "SEQLEN_Q": sq, "SEQLEN_K": sk, "IS_CAUSAL": shape["causal"],
        "NUM_Q_HEADS": heads, "NUM_K_HEADS": keys, "PRELOAD_V": config["PRE_LOAD_V"], "BLOCK_DMODEL": d,
        "BLOCK_DMODEL_POW2": max(16, 1 << (d - 1).bit_length()), "BLOCK_DMODEL_PE": 0, "RETURN_SCORES": False,
        "ENABLE_DROPOUT": False, "IS_FP8": False, "FP8_MAX": _LARGEST[dtype], "VARLEN": False, "BATCH": batch,
        "NUM_XCD": _xcds(shape["arch"]), "SWIZZLE": "default", "USE_INT64_STRIDES": True, "ENABLE_SINK": False,
        "SLIDING_WINDOW": 0, "HEAD_STRIDE_ALIGNED_8": d % 8 == 0,
    }  # fmt: skip
    return Launch(arguments(names, known, config), (batch * heads * -(-sq // config["BLOCK_M"]),))


def tune_gemm(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return the product of ROCm's ``tune_gemm.py``, which numbers tiles by XCD if there are several."""
    m, n, k, along = shape["M"], shape["N"], shape["K"], shape["trans_b"]
    parts = config["SPLIT_K"]
    tiles = -(-m // config["BLOCK_M"]) * -(-n // config["BLOCK_N"])
    known = {
        "a_ptr": Tensor("fp16", (m, k)), "b_ptr": Tensor("fp16", (n, k)), "c_ptr": Tensor("fp16", (m, n)),
        "bias_ptr": None, "M": m, "N": n, "K": k, "stride_am": k, "stride_ak": 1, "stride_bk": 1 if along else n,
        "stride_bn": k if along else 1, "stride_cm": n, "stride_cn": 1, "stride_bias": 0, "BIAS": False,
        "EVEN_K": k % (config["BLOCK_K"] * parts) == 0, "GRID_MN": tiles, "NUM_XCDS": _xcds(shape["arch"]),
        "SPLIT_K": parts,
    }  # fmt: skip
    return Launch(arguments(names, known, served(config)), (tiles, parts))


def streamk(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return the stream-K product of ROCm's perf-kernels, in which tiles that do not fill a round are shared."""
    m, n, k, grid = shape["M"], shape["N"], shape["K"], config["GRID"]
    along = shape["trans_b"]
    tiles = -(-m // config["BLOCK_M"]) * -(-n // config["BLOCK_N"])
    known = {
        "A": Tensor("fp16", (m, k)), "B": Tensor("fp16", (n, k) if along else (k, n)),
        "C": Tensor("fp16", (m, n)), "bias_ptr": None,
        "P": Tensor("fp32", (grid, config["BLOCK_M"] * config["BLOCK_N"])), "locks": Tensor("i32", (grid,)),
        "M": m, "N": n, "K": k, "stride_am": k, "stride_ak": 1, "stride_bk": 1 if along else n,
        "stride_bn": k if along else 1, "stride_cm": n, "stride_cn": 1, "stride_bias": 0,
        "NUM_SMS": grid, "STREAMK_TILES": tiles % grid,
        "NUM_XCDS": _xcds(shape["arch"]), "BIAS": False, "EVEN_K": k % config["BLOCK_K"] == 0,
    }  # fmt: skip
    return Launch(arguments(names, known, served(config)), (grid,))


def tritonblas(shape: Shape, config: Config, names: Sequence[str]) -> Launch:
    """Return tritonBLAS's persistent product, which draws its tiles from counters, first those of its own XCD."""
    m, n, k, grid = shape["M"], shape["N"], shape["K"], shape["GRID"]
    xcds = _xcds(shape["arch"])
    tiles = -(-m // config["BLOCK_M"]) * -(-n // config["BLOCK_N"])
    local = max(1, int(tiles * config["LOCAL_SHARE"]) // xcds)
    modifier = config["MODIFIER"] or None
    known = {
        "A": Tensor(shape["dtype"], (m, k)), "B": Tensor(shape["dtype"], (k, n)), "C": Tensor(shape["dtype"], (m, n)),
        **dict.fromkeys(("A_scale_ptr", "B_scale_ptr", "bias_ptr")), "M": m, "N": n, "K": k,
        "tile_counter": Tensor("i32", (xcds * 64,)), "global_counter": Tensor("i32", (64,)),
        "stride_am": k, "stride_ak": 1, "stride_bk": n, "stride_bn": 1, "stride_cm": n, "stride_cn": 1,
        "stride_bias": 0, "NUM_SMS": grid, "NUM_XCDS": xcds, "COUNTERS_PER_XCD": 1, "COUNTER_STRIDE": 64,
        "BIAS": False, "EVEN_K": k % config["BLOCK_K"] == 0, "CACHE_MODIFIER_A": modifier,
        "CACHE_MODIFIER_B": modifier, "QUANTIZED": False, "ALLOW_TF32": True, "GLOBAL_ATOMIC": False,
        "HIERARCHICAL": True, "LOCAL_TILES_PER_XCD": local, "GLOBAL_TILES": tiles - local * xcds, "USE_MASK": True,
        "mask_ptr": Tensor("i32", (grid,)),
    }  # fmt: skip
    return Launch(arguments(names, known, served(config)), (grid,))


def _xcds(arch: str) -> int:
    """Return the GPU's dies for tile numbering: 8 for gfx942 and gfx950, as in perf-kernels and tritonBLAS, else 1."""
    return 8 if arch in {"gfx942", "gfx950"} else 1
