"""AITER's attention: its configuration tables, and the values that its unified attention's code sets (e4048607a5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from kprof_servers.served.attention_launches import (
    CONTEXT,
    MOST_DECODED,
    STAGE_TWO,
    ExtendAttention,
    LatentDecoding,
    PromptAttention,
)
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.interface import LookupCall, NeededLookup
from kprof_servers.served.launches import LaunchedKernel
from kprof_servers.served.lookup import ServerCode, ask, has
from kprof_servers.served.shapes import AttentionShape

_PROMPTS, _DECODING, _EXTENDING = "attention, prompts", "MLA, decoding", "attention, extending"
_KERNELS = "aiter/ops/triton/_triton_kernels/attention"
_UNIFIED = ("aiter/ops/triton/attention/unified_attention.py", "aiter/ops/triton/unified_attention.py")
GLUON = "gfx1250"
"""Architecture on which AITER launches Gluon kernels instead of Triton's."""
_BLOCK = 16
"""Tokens per block of the KV cache: the default of vLLM, which calls AITER."""

TABLES: Mapping[str, tuple[tuple[str, str], ...]] = {
    _PROMPTS: ((f"{_KERNELS}/mha.py", "_attn_fwd"),),
    _DECODING: ((f"{_KERNELS}/mla_decode_rope.py", "_fwd_grouped_kernel_stage1_rope"),),
    _EXTENDING: ((f"{_KERNELS}/extend_attention.py", "_fwd_kernel"),),
}
"""For each kind of attention, the file and function of its kernel."""
PARTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    STAGE_TWO: ((f"{_KERNELS}/mla_decode_rope.py", "_fwd_kernel_stage2"),),
}


def tables(shape: AttentionShape | None) -> list[NeededLookup]:
    """Return the lookups of AITER's Triton attention tables: one for prompts, and one for the other kernel.

    The other kernel decodes if attention is latent (MLA); otherwise it extends sequences.

    Args:
        shape: attention on one GPU; the result is empty if it is None.
    """
    if shape is None:
        return []
    sizes = (shape.heads, shape.kv_heads, shape.head, shape.value)
    options: dict[str, Any] = {
        "enable_dropout": False, "dtype": "bfloat16", "has_pe": shape.latent, "head_dim_v": shape.value,
    }  # fmt: skip
    found = [_table(shape, _PROMPTS, "mha.py", "MHA-DEFAULT", options=options, launch=PromptAttention(*sizes))]
    if shape.latent:
        launch = LatentDecoding(*sizes, rank=shape.rank, rope=shape.rope)
        return [
            *found,
            _table(shape, _DECODING, "mla_decode_rope.py", "MLA_DECODE_ROPE-DEFAULT", options={}, launch=launch),
        ]
    options = {"HEAD_SIZE": shape.head, "dtype": "bfloat16"}
    return [
        *found,
        _table(
            shape,
            _EXTENDING,
            "extend_attention.py",
            "EXTEND_ATTENTION",
            options=options,
            launch=ExtendAttention(*sizes),
        ),
    ]


def _table(
    shape: AttentionShape, kernel: str, file: str, name: str, *, options: Mapping[str, Any], launch: LaunchedKernel
) -> NeededLookup:
    return NeededLookup(
        kernel=kernel,
        layer="attention",
        layers=shape.layers,
        shape={"heads": shape.heads, "head": shape.head},
        name=f"{{arch}}-{name}.json",
        folder="aiter/ops/triton/configs",
        calls={0: LookupCall((f"{_KERNELS}/{file}",), "_get_config", options, loose=True)},
        launch=launch,
        optional=True,
    )


def chosen(code: ServerCode, shape: AttentionShape | None, gpu: ServedGpu, batches: Sequence[int]) -> list[str]:
    """Describe which kernel AITER's unified attention chooses, and its knobs.

    The 2D kernel processes all keys of a sequence; the 3D kernel splits the keys into parts.

    Args:
        code: AITER's code; an empty list is returned for versions without these functions.
        shape: attention on one GPU; an empty list is returned for latent attention, which is not supported.
        gpu: the GPU, whose number of compute units determines the number of parts.
        batches: rows of a step.

    Returns:
        One sentence for each distinct choice, with its rows.
    """
    if shape is None or shape.latent or gpu.arch == GLUON:
        return []
    names = ("use_2d_kernel", *_KERNELS_OF.values())
    calls = [LookupCall(_UNIFIED, name, _unified(shape, gpu, rows), loose=True) for rows in batches for name in names]
    if not all(has(code, call) for call in calls[: len(names)]):
        return []
    answers = ask(code, calls, device="", arch=gpu.arch, triton="0")
    found: dict[str, list[int]] = {}
    for place, rows in enumerate(batches):
        decides, *both = answers[place * len(names) : (place + 1) * len(names)]
        which = 0 if decides.result else 1
        result = both[which].result
        config = result[0] if isinstance(result, list) else result
        if isinstance(decides.result, bool) and isinstance(config, dict):
            knobs = ", ".join(f"{name} {value}" for name, value in config.items())
            found.setdefault(f"{list(_KERNELS_OF)[which]} has {knobs}", []).append(rows)
    assumed = (
        f"chosen in its code, no file; up to {MOST_DECODED} rows count as sequences of {CONTEXT:,} tokens, more "
        f"for one prompt, with blocks of {_BLOCK} tokens in bfloat16"
    )
    return [f"AITER's unified attention, {_listed(rows)}: {said} ({assumed})" for said, rows in found.items()]


def _listed(rows: Sequence[int]) -> str:
    return f"{', '.join(f'{each:,}' for each in rows)} {'row' if list(rows) == [1] else 'rows'}"


def _unified(shape: AttentionShape, gpu: ServedGpu, rows: int) -> dict[str, Any]:
    """Return the arguments of the functions that choose a kernel and its knobs, as ``unified_attention`` does."""
    decodes = rows <= MOST_DECODED
    each = max(1, shape.heads // shape.kv_heads)
    height = _SMALLEST if each <= _SMALLEST else 1 << (each - 1).bit_length()
    groups = rows if decodes else rows // (height // each) + 1
    return {
        "head_size": shape.head, "block_size": _BLOCK, "sliding_window": 0, "SLIDING_WINDOW": 0,
        "all_decode": decodes, "max_seqlen_q": 1 if decodes else rows, "max_seqlen_k": CONTEXT if decodes else rows,
        "num_queries_per_kv": each, "num_2d_prgms": groups * shape.kv_heads,
        "target_num_prgms": 4 * gpu.compute_units, "q_dtype": "bfloat16", "kv_cache_dtype": "bfloat16",
        "shuffled_kv_cache": False,
    }  # fmt: skip


_KERNELS_OF = {
    "kernel_unified_attention_2d": "select_2d_config",
    "kernel_unified_attention_3d": "select_3d_config",
}
"""Map from kernel name to the function of AITER that chooses the kernel's configuration."""
_SMALLEST = 16
