"""torch: flex_attention: causal, window, ALiBi, documents, grouped heads, one token, training, three lengths."""

import sys
from collections.abc import Callable

import torch
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

BATCH, HEADS, LENGTH, SIZE = 2, 16, 4096, 128
DOCUMENT = torch.arange(LENGTH, device="cuda") // 512


def half(*shape: int, learned: bool = False) -> torch.Tensor:
    """Random numbers on the device."""
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, requires_grad=learned)


def inputs(length: int = LENGTH, *, learned: bool = False) -> tuple[torch.Tensor, ...]:
    """Queries, keys and values."""
    return tuple(half(BATCH, HEADS, length, SIZE, learned=learned) for _ in range(3))


def mask(allowed: Callable[..., torch.Tensor], length: int = LENGTH) -> BlockMask:
    """Which blocks of keys a block of queries sees."""
    return create_block_mask(allowed, None, None, length, length, device="cuda")


def causal(_b: torch.Tensor, _h: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """Keys up to the query."""
    return i >= j


def window(_b: torch.Tensor, _h: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """The last 1,024 keys up to the query."""
    return (i >= j) & (i - j < 1024)


def alibi(score: torch.Tensor, _b: torch.Tensor, h: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """A bias that falls with the distance."""
    return score + (j - i) * torch.exp2(-(h + 1) * 8.0 / HEADS)


def same_document(_b: torch.Tensor, _h: torch.Tensor, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
    """Causal within documents of 512 tokens."""
    return (DOCUMENT[i] == DOCUMENT[j]) & (i >= j)


MASKS = {"causal": causal, "window": window, "documents": same_document}


def run(name: str) -> None:
    """Run one variant."""
    torch.compiler.reset()
    flex = torch.compile(flex_attention, dynamic=name == "lengths")
    if name == "training":
        flex(*inputs(learned=True), block_mask=mask(causal)).sum().backward()
        return
    with torch.no_grad():
        if name in MASKS:
            flex(*inputs(), block_mask=mask(MASKS[name]))
        elif name == "alibi":
            flex(*inputs(), score_mod=alibi)
        elif name == "groups":
            keys = (half(BATCH, 4, LENGTH, SIZE) for _ in range(2))
            flex(half(BATCH, HEADS, LENGTH, SIZE), *keys, block_mask=mask(causal), enable_gqa=True)
        elif name == "token":
            cache = (half(8, 4, 8192, SIZE) for _ in range(2))
            flex(half(8, HEADS, 1, SIZE), *cache, enable_gqa=True)
        else:
            for length in (2048, 3072, 4096):
                flex(*inputs(length), block_mask=mask(causal, length))


VARIANTS = (*MASKS, "alibi", "groups", "token", "training", "lengths")
for variant in sys.argv[1:] or VARIANTS:
    run(variant)
    print(f"ran {variant}", flush=True)
