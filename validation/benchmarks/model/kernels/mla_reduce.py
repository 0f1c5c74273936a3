"""Second stage of multi-head latent attention in decoding, as AITER's ``_fwd_kernel_stage2_asm`` does it.

Each workgroup has one head of one sequence: the parts of its output that the splits of the keys gave, each with the
logarithm of its sum of exponents, become one. Ours differs: one token a sequence, and as many splits for
all.
"""

import triton
import triton.language as tl

from kprof.kernel_spec import Config, Kernel, Launch, Shape, Tensor


@triton.jit
def mla_reduce(parts, sums, out, splits_of, stride_token, stride_split, DV: tl.constexpr):
    """Out [tokens, heads, DV]; parts [tokens, splits, heads, DV] and sums [tokens, splits, heads] in fp32."""
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    first = tl.load(splits_of + token)
    last = tl.load(splits_of + token + 1)
    columns = tl.arange(0, DV)
    place = token * stride_token + head
    top = -float("inf")
    total = 0.0
    acc = tl.zeros([DV], dtype=tl.float32)
    for split in range(last - first):
        part = tl.load(parts + (place + split * stride_split) * DV + columns)
        mine = tl.load(sums + place + split * stride_split)
        new_top = tl.maximum(mine, top)
        fade = tl.exp(top - new_top)
        share = tl.exp(mine - new_top)
        acc = acc * fade + share * part
        total = total * fade + share
        top = new_top
    tl.store(out + (token * tl.num_programs(1) + head) * DV + columns, (acc / total).to(out.dtype.element_ty))


def launch(shape: Shape, config: Config) -> Launch:
    """Return the launch: one workgroup per head of a sequence."""
    del config
    tokens, heads, splits, dv = shape["tokens"], shape["heads"], shape["splits"], shape["DV"]
    args = {
        "parts": Tensor("fp32", (tokens, splits, heads, dv)),
        "sums": Tensor("fp32", (tokens, splits, heads)),
        "out": Tensor("bf16", (tokens, heads, dv)),
        "splits_of": Tensor("i32", (tokens + 1,), values=tuple(splits * n for n in range(tokens + 1))),
        "stride_token": splits * heads,
        "stride_split": heads,
        "DV": dv,
    }
    return Launch(args, (tokens, heads))


KERNEL = Kernel(
    name="mla_reduce",
    entry=mla_reduce,
    summary="Parts of an attention's output become one",
    launch=launch,
    shapes={"s128": {"tokens": 128, "heads": 128, "splits": 8, "DV": 512}},
    config={"num_warps": 4, "num_stages": 2, "waves_per_eu": 4},
)
