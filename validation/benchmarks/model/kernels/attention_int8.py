"""Attention whose first product is in int8 with a scale for each block of rows, the second in fp16.

As in SageAttention and AITER's ``attn_qk_int8_per_block``, Q and K are int8 with one scale per block, V is fp16, and
the running maximum and sum use base 2. Attention is not causal. The knob ``stage`` of the published configurations
is left out, because the kernel does not use it.
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit
def attention_int8(
    Q, K, V, q_scales, k_scales, Out,
    q_batch, q_head, q_row, k_batch, k_head, k_row, v_batch, v_head, v_row, o_batch, o_head, o_row,
    queries, keys, HEADS: tl.constexpr, GROUPS: tl.constexpr, HEAD: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Out [batch, heads, queries, HEAD]: a block of rows of one head."""
    block = tl.program_id(0)
    batch = tl.program_id(2).to(tl.int64)
    head = tl.program_id(1).to(tl.int64)
    kv_head = head // GROUPS
    rows = block * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    depth = tl.arange(0, HEAD)
    q_scale = tl.load(q_scales + (batch * HEADS + head) * tl.cdiv(queries, BLOCK_M) + block)
    k_scale = k_scales + (batch * (HEADS // GROUPS) + kv_head) * tl.cdiv(keys, BLOCK_N)
    q_ptrs = Q + batch * q_batch + head * q_head + rows[:, None] * q_row + depth[None, :]
    k_ptrs = K + batch * k_batch + kv_head * k_head + cols[None, :] * k_row + depth[:, None]
    v_ptrs = V + batch * v_batch + kv_head * v_head + cols[:, None] * v_row + depth[None, :]
    largest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.full((BLOCK_M,), 1.0, tl.float32)
    acc = tl.zeros((BLOCK_M, HEAD), tl.float32)
    q = tl.load(q_ptrs, mask=rows[:, None] < queries)
    for start in range(0, keys, BLOCK_N):
        first = tl.multiple_of(start, BLOCK_N)
        k = tl.load(k_ptrs, mask=cols[None, :] < keys - first)
        scale = tl.load(k_scale)
        scores = tl.dot(q, k).to(tl.float32) * q_scale * scale
        now = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.math.exp2(scores - now[:, None])
        shrunk = tl.math.exp2(largest - now)
        total = total * shrunk + tl.sum(weights, 1)
        acc = acc * shrunk[:, None]
        v = tl.load(v_ptrs, mask=cols[:, None] < keys - first)
        acc += tl.dot(weights.to(tl.float16), v, out_dtype=tl.float16)
        largest = now
        k_ptrs += BLOCK_N * k_row
        v_ptrs += BLOCK_N * v_row
        k_scale += 1
    acc = acc / total[:, None]
    places = Out + batch * o_batch + head * o_head + rows[:, None] * o_row + depth[None, :]
    tl.store(places, acc.to(Out.dtype.element_ty), mask=rows[:, None] < queries)


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per block of rows of a head."""
    batch, heads, length, size = shape["B"], shape["H"], shape["S"], shape["D"]
    whole = (batch, heads, length, size)
    strides = {"batch": heads * length * size, "head": length * size, "row": size}
    args = {
        "Q": Tensor("i8", whole),
        "K": Tensor("i8", whole),
        "V": Tensor("fp16", whole),
        "q_scales": Tensor("fp32", (batch, heads, triton.cdiv(length, config["BLOCK_M"]))),
        "k_scales": Tensor("fp32", (batch, heads, triton.cdiv(length, config["BLOCK_N"]))),
        "Out": Tensor("bf16", whole),
        **{f"{name}_{stride}": step for name in "qkvo" for stride, step in strides.items()},
        "queries": length,
        "keys": length,
        "HEADS": heads,
        "GROUPS": 1,
        "HEAD": size,
        "BLOCK_M": config["BLOCK_M"],
        "BLOCK_N": config["BLOCK_N"],
    }
    return Launch(args, (triton.cdiv(length, config["BLOCK_M"]), heads, batch))


KERNEL = Kernel(
    name="attention_int8",
    entry=attention_int8,
    summary="Attention with int8 Q and K, a scale a block",
    launch=launch,
    shapes={"video": {"B": 1, "H": 2, "S": 16452, "D": 128}},
    config={"BLOCK_M": 128, "BLOCK_N": 64, "num_warps": 4, "num_stages": 2, "waves_per_eu": 0},
)
