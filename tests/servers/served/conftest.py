"""Small checkouts that look tuned files up in the ways that servers do."""

import json

import pytest

BUCKET = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1, "num_warps": 4}
PLATFORM = """
from vllm.nowhere import heavy

heavy.start()
_ROCM_DEVICE_ID_NAME_MAP: dict[str, str] = {"0x74a1": "AMD_Instinct_MI300X"}
"""
MOE = """
import functools
import json
import os

import torch
from vllm.platforms import current_platform
from vllm.naming import file_name as named

raise RuntimeError("importing this needs a GPU")


@torch.compile
@functools.lru_cache
def get_moe_configs(E: int, N: int, dtype: torch.dtype, block_n=None, block_k=None) -> dict[int, torch.Tensor]:
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "configs", named(E, N, dtype, block_n, block_k))
    if os.path.exists(path):
        with open(path) as file:
            return {int(key): value for key, value in json.load(file).items()}
    return None


def try_get_optimal_moe_config(w1_shape, w2_shape, top_k, dtype, M, block_shape=None):
    E, _, N = w2_shape
    block_n, block_k = block_shape or (0, 0)
    configs = get_moe_configs(E, N, dtype, block_n, block_k)
    if configs:
        return configs[min(configs, key=lambda rows: abs(rows - M))]
    return {"BLOCK_SIZE_M": 64 if current_platform.is_rocm() else 1}
"""
NAMING = """
def file_name(E, N, dtype, block_n, block_k):
    from vllm.platforms import current_platform

    device = current_platform.get_device_name().replace(" ", "_")
    kind = f",dtype={dtype}" if dtype else ""
    block = f",block_shape=[{block_n},{block_k}]" if block_n else ""
    return f"E={E},N={N},device_name={device}{kind}{block}.json"
"""
PRODUCTS = """
import json
import os
from .device import *

logger = init_logger(__name__)


def get_w8a8_block_fp8_configs(N, K, block_n, block_k):
    name = f"N={N},K={K},device_name={device()},dtype=fp8_w8a8,block_shape=[{block_n},{block_k}].json"
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), "configs", name)
    logger.info("looking for %s", path)
    if os.path.exists(path):
        with open(path) as file:
            return {int(key): value for key, value in json.load(file).items()}
"""
DEVICE = """
import regex as re
from vllm.platforms import current_platform


def device():
    return re.sub(r"\\s+", "_", current_platform.get_device_name())
"""


PRODUCT_KERNEL = """
from vllm.nowhere import heavy
from vllm.triton_utils import tl, triton
from vllm.rounding import DEPTH, halved as rounded


@triton.jit
def add_scaled(total, a, b, left, right):
    return total + tl.dot(a, b) * left[:, None] * right[None, :]


@triton.jit
def _w8a8_triton_block_scaled_mm(
    A, B, C, As, Bs, M, N, K, group_n, group_k, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    stride_As_m, stride_As_k, stride_Bs_k, stride_Bs_n,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
):
    tile = tl.program_id(0)
    across = tl.cdiv(N, BLOCK_SIZE_N)
    m = (tile // across) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    n = (tile % across) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    k = tl.arange(0, BLOCK_SIZE_K)
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        here = step * BLOCK_SIZE_K + k
        a = tl.load(A + m[:, None] * stride_am + here[None, :], mask=(m[:, None] < M), other=0.0)
        b = tl.load(B + n[None, :] * stride_bn + here[:, None], mask=(n[None, :] < N), other=0.0)
        place = step * BLOCK_SIZE_K // group_k
        left = tl.load(As + m * stride_As_m + place, mask=m < M, other=0.0)
        right = tl.load(Bs + n // group_n * stride_Bs_n + place, mask=n < N, other=0.0)
        total = add_scaled(total, a, b, left, right)
    total = rounded(total) * DEPTH
    tl.store(C + m[:, None] * stride_cm + n[None, :], total.to(tl.bfloat16), mask=(m[:, None] < M) & (n[None, :] < N))


def w8a8_triton_block_scaled_mm(A, B, As, Bs, block_size):
    configs = get_w8a8_block_fp8_configs(1, 1, block_size[0], block_size[1])
    if not configs:
        config = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": block_size[0], "BLOCK_SIZE_K": block_size[1], "GROUP_SIZE_M": 32,
                  "num_warps": 4, "num_stages": 2}
    heavy.launch(_w8a8_triton_block_scaled_mm, config)
"""
ROUNDING = """
import torch
from vllm.triton_utils import tl, triton

DEPTH = tl.constexpr(2)
UNUSED = torch.compile


@triton.jit
def halved(value):
    return value * 0.5
"""
TRITON_UTILS = """
import heavy
"""
TUNED = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 1, "num_warps": 4}


@pytest.fixture
def checkout_with_kernel(checkout):
    """The server with its kernel of products, and tuned files for two other shapes."""
    utils = checkout / "vllm" / "model_executor" / "layers" / "quantization" / "utils"
    with (utils / "fp8_utils.py").open("a") as file:
        file.write(PRODUCT_KERNEL)
    (checkout / "vllm" / "rounding.py").write_text(ROUNDING)
    (checkout / "vllm" / "triton_utils.py").write_text(TRITON_UTILS)
    (utils / "configs").mkdir()
    for n, tile in ((4096, 32), (1024, 64)):
        name = f"N={n},K=7168,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json"
        text = json.dumps({"8": {**TUNED, "BLOCK_SIZE_N": tile}, "64": {**TUNED, "BLOCK_SIZE_M": 32}})
        (utils / "configs" / name).write_text(text)
    return checkout


@pytest.fixture
def checkout(tmp_path):
    """A server of which nothing can be imported, with one file of experts under the name and one under another."""
    layers = tmp_path / "vllm" / "model_executor" / "layers"
    texts = {
        "vllm/platforms/rocm.py": PLATFORM,
        "vllm/naming.py": NAMING,
        "vllm/model_executor/layers/fused_moe/fused_moe.py": MOE,
        "vllm/model_executor/layers/quantization/utils/fp8_utils.py": PRODUCTS,
        "vllm/model_executor/layers/quantization/utils/device.py": DEVICE,
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    configs = layers / "fused_moe" / "configs"
    configs.mkdir()
    (configs / "E=8,N=1792,device_name=AMD_Instinct_MI300X.json").write_text(json.dumps({"8": BUCKET, "64": BUCKET}))
    (configs / "E=8,N=1792,device_name=AMD_Instinct_MI355_OAM.json").write_text(json.dumps({"8": BUCKET}))
    (tmp_path / "vllm-9.9.9.dist-info").mkdir()
    return tmp_path


AITER_LOOKUP = """
import json
import os
from aiter.ops.triton.utils._triton import arch_info

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "configs")
STANDARD_M_BOUNDS = (1, 4, 8, 16, 32, 64, 128)


def get_gemm_config(config_name, M, N=None, K=None):
    stem = f"{HERE}/gemm/{arch_info.get_arch()}-{config_name}"
    place, own = f"{stem}.json", f"{stem}-N={N}-K={K}.json"
    if not os.path.exists(place):
        raise AssertionError(f"Required config file doesn't exist: {place}")
    tuned = os.path.exists(own)
    with open(own if tuned else place) as file:
        found = json.load(file)
    for bound in STANDARD_M_BOUNDS:
        if M <= bound and f"M_LEQ_{bound}" in found:
            return found[f"M_LEQ_{bound}"], tuned
    return found["any"], tuned
"""
AITER_KERNEL = """
import heavy
import triton
import triton.language as tl
from aiter.ops.triton.utils._triton.kernel_repr import make_kernel_repr

_repr = make_kernel_repr("_gemm_a16_w16_kernel", ["EVEN_K"])


@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["SPLITK_BLOCK_SIZE"] == 0})
@triton.jit(repr=_repr, do_not_specialize=["M", "N"])
def _gemm_a16_w16_kernel(
    a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_ck, stride_cm, stride_cn,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
    NUM_KSPLIT: tl.constexpr, SPLITK_BLOCK_SIZE: tl.constexpr, EVEN_K: tl.constexpr, cache_modifier: tl.constexpr,
):
    part = tl.program_id(0) % NUM_KSPLIT
    tile = tl.program_id(0) // NUM_KSPLIT
    across = tl.cdiv(N, BLOCK_SIZE_N)
    m = ((tile // across) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    n = ((tile % across) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
    k = part * SPLITK_BLOCK_SIZE + tl.arange(0, BLOCK_SIZE_K)
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(SPLITK_BLOCK_SIZE, BLOCK_SIZE_K)):
        here = k + step * BLOCK_SIZE_K
        if EVEN_K:
            a = tl.load(a_ptr + m[:, None] * stride_am + here[None, :])
            b = tl.load(b_ptr + n[None, :] * stride_bn + here[:, None], cache_modifier=cache_modifier)
        else:
            a = tl.load(a_ptr + m[:, None] * stride_am + here[None, :], mask=here[None, :] < K, other=0.0)
            b = tl.load(b_ptr + n[None, :] * stride_bn + here[:, None], mask=here[:, None] < K, other=0.0)
        total = tl.dot(a, b, acc=total)
    place = c_ptr + part * stride_ck + m[:, None] * stride_cm + n[None, :]
    tl.store(place, total.to(c_ptr.type.element_ty))
"""
AITER_SUM = """
import triton
import triton.language as tl


@triton.jit
def _gemm_splitk_reduce_kernel(
    c_in_ptr, c_out_ptr, bias_ptr, M, N, stride_c_in_k, stride_c_in_m, stride_c_in_n, stride_c_out_m, stride_c_out_n,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, ACTUAL_KSPLIT: tl.constexpr, MAX_KSPLIT: tl.constexpr,
    ADD_BIAS: tl.constexpr, activation: tl.constexpr, use_activation: tl.constexpr,
    KERNEL_NAME: tl.constexpr = "_gemm_splitk_reduce_kernel",
):
    m = tl.program_id(0) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    n = tl.program_id(1) * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    here = (m[:, None] < M) & (n[None, :] < N)
    total = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for part in range(ACTUAL_KSPLIT):
        place = c_in_ptr + part * stride_c_in_k + m[:, None] * stride_c_in_m + n[None, :]
        total += tl.load(place, mask=here, other=0.0)
    tl.store(c_out_ptr + m[:, None] * stride_c_out_m + n[None, :], total.to(tl.bfloat16), mask=here)
"""
AITER_REPR = """
def make_kernel_repr(base_name, config_keys):
    def _repr(specialization):
        return base_name
    return _repr
"""
AITER_BUCKET = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 1, "num_warps": 4,
                "num_stages": 2, "waves_per_eu": 0, "matrix_instr_nonkdim": 16, "cache_modifier": None,
                "NUM_KSPLIT": 1, "kpack": 1}  # fmt: skip


@pytest.fixture
def aiter_checkout(tmp_path):
    """An AITER with one product, its sum over parts of K, a file for all shapes and two for other shapes."""
    root = tmp_path / "checkout"
    ops = "aiter/ops/triton"
    texts = {
        f"{ops}/utils/gemm_config_utils.py": AITER_LOOKUP,
        f"{ops}/utils/_triton/kernel_repr.py": AITER_REPR,
        f"{ops}/_triton_kernels/gemm/basic/gemm_a16w16.py": AITER_KERNEL,
        f"{ops}/_triton_kernels/common/splitk_reduce.py": AITER_SUM,
        f"{ops}/configs/gemm/gfx942-GEMM-A16W16.json": json.dumps({"any": AITER_BUCKET}),
        f"{ops}/configs/gemm/gfx1250-GEMM-A16W16.json": json.dumps({"any": {"BLOCK_M": 64}}),
    }
    for size, parts in ((512, 8), (2048, 4)):
        bucket = {**AITER_BUCKET, "BLOCK_SIZE_N": 16, "NUM_KSPLIT": parts}
        name = f"{ops}/configs/gemm/gfx942-GEMM-A16W16-N={size}-K=2048.json"
        texts[name] = json.dumps({"M_LEQ_16": bucket, "any": {**bucket, "NUM_KSPLIT": 1, "BLOCK_SIZE_M": 64}})
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def model_folder(tmp_path):
    """A Llama of two products."""
    folder = tmp_path / "model"
    folder.mkdir()
    sizes = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024, "num_attention_heads": 8,
        "num_key_value_heads": 8, "num_hidden_layers": 2, "intermediate_size": 1024, "vocab_size": 1000,
        "torch_dtype": "bfloat16",
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(sizes))
    return folder
