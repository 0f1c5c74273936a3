"""How AITER launches the attention kernels that it has tables for: MLA decoding, prompts, and extending.

The values are those of ``ops/triton/attention`` at e4048607a5. A table is for all shapes. One configuration therefore
serves every number of rows, and the :attr:`LaunchedKernel.candidates` do not depend on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

from kprof.kernel_spec import Launch, Tensor
from kprof_servers.served.launches import arguments, knob

MOST_DECODED = 256
"""Maximum number of rows of a step that is assumed to decode one token per row; a step with more rows is a prompt."""
CONTEXT = 4096
"""Assumed number of tokens that a sequence already has before the step."""
SPLITS = 8
"""Number of parts that a sequence's keys are split into in decoding: the default of SGLang, which calls AITER."""
STAGE_TWO = "stage2"
"""Label of the second launch of decoding, which combines the results for the parts of the keys."""
_FLOAT_MAX = 3.3895313892515355e38
"""Largest bfloat16 value. It is passed as an argument that the kernel uses only with FP8."""
_LARGEST_HEAD = 192
_PROMPT_TILES = ((128, 64, 4), (128, 32, 4), (64, 64, 4), (64, 32, 4), (128, 128, 8))
"""Candidates for the prompt kernel: a tile's rows and keys, and the number of wavefronts."""
_LATENT_HEADS = {576: (512, 64), 288: (256, 32), 192: (128, 64)}
"""Map from the size of a query head to its elements without and with rotary embedding (``extend_attention_fwd``)."""


@dataclass(frozen=True)
class _Attention:
    """Common base of the three attention kernels.

    Attributes:
        heads: number of query heads on this GPU.
        kv_heads: number of key heads on this GPU.
        head: elements of a query head.
        value: elements of a value head.
    """

    heads: int
    kv_heads: int
    head: int
    value: int
    is_single_launch: ClassVar[bool] = False
    is_shape_independent: ClassVar[bool] = True
    measured: ClassVar[bool] = False
    space: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    default_knobs: ClassVar[Mapping[str, Any]] = {}

    def element_bytes(self) -> int:
        """Return 2, the size of bfloat16."""
        return 2

    def refusal(self, config: Mapping[str, Any]) -> str | None:  # noqa: ARG002 - the compiler says what does not fit
        """Return None, because AITER is not known to refuse any configuration."""
        return None

    def supports_rows(self, rows: int) -> bool:
        """Return whether a step with this number of rows is a prompt; decoding steps use another kernel."""
        return rows > MOST_DECODED


@dataclass(frozen=True)
class LatentDecoding(_Attention):
    """``decode_attention_fwd_grouped_rope``: one token per sequence, with compressed keys and values.

    Attributes:
        rank: elements of a compressed key or value.
        rope: elements of a key that are rotated.
    """

    rank: int = 512
    rope: int = 64
    knobs: ClassVar[tuple[str, ...]] = ("BLOCK_N", "BLOCK_H")
    parts: ClassVar[tuple[str, ...]] = (STAGE_TWO,)
    table: ClassVar[tuple[str, ...]] = ("fwd_grouped_kernel_stage1_rope",)
    assumed: ClassVar[str] = (
        f"each row is a sequence of {CONTEXT:,} tokens in {SPLITS} parts, keys rotated before; keys and "
        "values count as two buffers, though one holds both; the launch that puts the parts together has Triton's "
        "default options"
    )

    def supports_rows(self, rows: int) -> bool:
        """Return whether a step with this number of rows decodes sequences."""
        return rows <= MOST_DECODED

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """Configurations to try besides those of the server's tables."""
        return [
            {"BLOCK_N": n, "BLOCK_H": h, "num_warps": w, "num_stages": s, "waves_per_eu": 0, "matrix_instr_nonkdim": 16}
            for n, h, w, s in product((16, 32, 64), (16,), (4, 8), (1, 2))
        ]

    def tile(self, config: Mapping[str, Any]) -> int:
        """Return the number of result elements that a workgroup holds."""
        return knob(config, "BLOCK_H") * _power(self.rank)

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:  # noqa: ARG002
        """Return the launches by label: the first stage under "", the second one under "stage2".

        Args:
            rows: number of sequences.
            config: configuration of the first stage.
            names: parameters of the first stage's kernel.
            arch: not used.

        Raises:
            KprofError: the kernel has a parameter that kprof does not know, or the configuration lacks a knob.
        """
        tokens, width, parts = rows * CONTEXT, self.rank + self.rope, self.rank + 1
        middle = Tensor("fp32", (rows, self.heads, SPLITS, parts))
        strides = {
            "stride_mid_ob": self.heads * SPLITS * parts,
            "stride_mid_oh": SPLITS * parts,
            "stride_mid_os": parts,
        }
        pointers = Tensor("i32", (rows + 1,), values=tuple(range(0, tokens + 1, CONTEXT)))
        known = {
            "Q": Tensor("bf16", (rows, self.heads, width)), "K_Buffer": Tensor("bf16", (tokens, 1, width)),
            "V_buffer": Tensor("bf16", (tokens, 1, self.rank)), "cos_sin_cache": None, "positions": None,
            "sm_scale": 0.1352, "kv_indptr": pointers, "kv_indices": Tensor("i32", (tokens,)), "Att_Out": middle,
            "k_pe_t_out": None, "stride_qb": self.heads * width, "stride_qh": width, "stride_buf_kbs": width,
            "stride_buf_vbs": width, **strides, "stride_kpe_tokens_out_b": 0, "stride_cos_sin_cache_s": 0,
            "stride_positions_b": 0, "rotary_dim": self.rope, "kv_lora_rank": self.rank, "qk_rope_head_dim": self.rope,
            "kv_group_num": self.heads, "q_head_num": self.heads, "batch": rows, "BLOCK_C": _power(self.rank),
            "BLOCK_R": _power(self.rope), "NUM_KV_SPLITS": SPLITS, "logit_cap": 0.0, "USE_ROPE": False,
            "IS_NEOX_STYLE": False,
        }  # fmt: skip
        second = {
            "Mid_O": middle, "O": Tensor("bf16", (rows, self.heads, self.rank)), "kv_indptr": pointers, **strides,
            "stride_obs": self.heads * self.rank, "stride_oh": self.rank, "NUM_KV_SPLITS": SPLITS,
            "BLOCK_DV": _power(self.rank), "Lv": self.rank, "batch": rows, "head_num": self.heads,
        }  # fmt: skip
        groups = -(-self.heads // min(knob(config, "BLOCK_H"), self.heads))
        first = Launch(arguments(names, known, config), (groups * rows * SPLITS,))
        return {"": first, STAGE_TWO: Launch(second, (rows * self.heads,))}

    def work(self, rows: int) -> int:
        """Return the number of operations of both products."""
        return 2 * rows * self.heads * CONTEXT * (2 * self.rank + self.rope)

    def sizes(self, rows: int) -> dict[str, int]:
        """Return the problem sizes that determine the order of the search."""
        return {"B": rows, "H": self.heads, "C": CONTEXT}


@dataclass(frozen=True)
class PromptAttention(_Attention):
    """``flash_attn_varlen_func``: causal attention within one prompt; each row is a token."""

    knobs: ClassVar[tuple[str, ...]] = ("BLOCK_M", "BLOCK_N", "PRELOAD_V")
    parts: ClassVar[tuple[str, ...]] = ()
    assumed: ClassVar[str] = "rows are one prompt without earlier tokens"

    @property
    def table(self) -> tuple[str, ...]:
        """Keys of the configuration in the table."""
        return ("fwd", "pe" if self.head > self.value else "default")

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """Configurations to try besides those of the server's tables."""
        return [
            {"BLOCK_M": m, "BLOCK_N": n, "PRELOAD_V": v, "num_warps": w, "num_stages": 1, "waves_per_eu": 2}
            for (m, n, w), v in product(_PROMPT_TILES, (False, True))
        ]

    def tile(self, config: Mapping[str, Any]) -> int:
        """Return the number of result elements that a workgroup holds."""
        return knob(config, "BLOCK_M") * _power(self.value)

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:  # noqa: ARG002
        """Return the single launch, under ""; arguments and errors as in :meth:`LatentDecoding.launches`."""
        rotated = self.head - self.value
        ends = Tensor("i32", (2,), values=(0, rows))
        known = {
            "q_ptr": Tensor("bf16", (rows, self.heads, self.head)),
            "k_ptr": Tensor("bf16", (rows, self.kv_heads, self.head)),
            "v_ptr": Tensor("bf16", (rows, self.kv_heads, self.value)),
            "out_ptr": Tensor("bf16", (rows, self.heads, self.value)),
            "softmax_lse_ptr": Tensor("fp32", (rows, self.heads)),
            **dict.fromkeys(("descale_q_ptr", "descale_k_ptr", "descale_v_ptr", "alibi_slopes_ptr", "s_dmask_ptr",
                             "dropout_mask_ptr", "sink_ptr")),
            **_strides("q", self.heads, self.head, "m"), **_strides("k", self.kv_heads, self.head, "n"),
            **_strides("v", self.kv_heads, self.value, "n"), "stride_vk_in": 1,
            **_strides("o", self.heads, self.value, "m"), "stride_on_in": 1,
            **dict.fromkeys(("stride_descale_q_z_in", "stride_descale_k_z_in", "stride_descale_v_z_in",
                             "stride_alibi_z_in", "stride_alibi_h_in", "stride_sd_z_in", "stride_sd_h_in",
                             "stride_sd_m_in", "stride_sd_n_in", "stride_lse_z_in"), 0),
            "stride_lse_h_in": 1, "stride_lse_m_in": self.heads,
            "sm_scale": 0.1352, "cu_seqlens_q": ends, "cu_seqlens_k": ends, "dropout_p": 0.0, "philox_seed": 0,
            "philox_offset_base_in": 0, "SEQLEN_Q": rows, "SEQLEN_K": rows, "IS_CAUSAL": True,
            "NUM_Q_HEADS": self.heads, "NUM_K_HEADS": self.kv_heads, "BLOCK_DMODEL": self.value,
            "BLOCK_DMODEL_POW2": max(16, _power(self.value)), "BLOCK_DMODEL_PE": rotated, "RETURN_SCORES": False,
            "ENABLE_DROPOUT": False, "IS_FP8": False, "FP8_MAX": _FLOAT_MAX, "VARLEN": True, "BATCH": 1, "NUM_XCD": 8,
            "SWIZZLE": "default", "USE_INT64_STRIDES": True, "ENABLE_SINK": False, "SLIDING_WINDOW": 0,
            "HEAD_STRIDE_ALIGNED_8": self.head % 8 == 0 and self.value % 8 == 0,
        }  # fmt: skip
        grid = self.heads * -(-rows // knob(config, "BLOCK_M"))
        return {"": Launch(arguments(names, known, config), (grid,))}

    def work(self, rows: int) -> int:
        """Return the number of operations of both products in the half that the causal mask does not exclude."""
        return rows * rows * self.heads * (self.head + self.value)

    def sizes(self, rows: int) -> dict[str, int]:
        """Return the problem sizes that determine the order of the search."""
        return {"S": rows, "H": self.heads}


@dataclass(frozen=True)
class ExtendAttention(_Attention):
    """``extend_attention_fwd``: attention of new tokens of a sequence that already has ``CONTEXT`` tokens."""

    knobs: ClassVar[tuple[str, ...]] = ("BLOCK_M", "BLOCK_N")
    parts: ClassVar[tuple[str, ...]] = ()
    assumed: ClassVar[str] = f"rows are the new tokens of one sequence that has {CONTEXT:,}"

    @property
    def table(self) -> tuple[str, ...]:
        """Keys of the configuration in the table."""
        return ("large_head_or_fp32",) if self.head > _LARGEST_HEAD else ("default",)

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """Configurations to try besides those of the server's tables."""
        return [
            {"BLOCK_M": m, "BLOCK_N": n, "num_warps": w, "num_stages": s, "waves_per_eu": 2, "matrix_instr_nonkdim": 16}
            for (m, n, w), s in product(((128, 64, 4), (64, 64, 4), (64, 32, 4), (32, 32, 4), (128, 64, 8)), (1, 2))
        ]

    def tile(self, config: Mapping[str, Any]) -> int:
        """Return the number of result elements that a workgroup holds."""
        return knob(config, "BLOCK_M") * _power(self.value)

    def launches(self, rows: int, config: Mapping[str, Any], names: Sequence[str], arch: str) -> dict[str, Launch]:  # noqa: ARG002
        """Return the single launch, under ""; arguments and errors as in :meth:`LatentDecoding.launches`."""
        plain, rotated = _LATENT_HEADS.get(self.head, (_power(self.head), 0))
        known: dict[str, Any] = {
            "Q_Extend": Tensor("bf16", (rows, self.heads, self.head)),
            "K_Extend": Tensor("bf16", (rows, self.kv_heads, self.head)),
            "V_Extend": Tensor("bf16", (rows, self.kv_heads, self.value)),
            "O_Extend": Tensor("bf16", (rows, self.heads, self.value)),
            "K_Buffer": Tensor("bf16", (CONTEXT, self.kv_heads, self.head)),
            "V_Buffer": Tensor("bf16", (CONTEXT, self.kv_heads, self.value)),
            "qo_indptr": Tensor("i32", (2,), values=(0, rows)),
            "kv_indptr": Tensor("i32", (2,), values=(0, CONTEXT)),
            "kv_indices": Tensor("i32", (CONTEXT,)), "mask_ptr": None, "mask_indptr": None, "sm_scale": 0.1352,
            "kv_group_num": self.heads // self.kv_heads,
            "logit_cap": 0.0, "Lq": self.head, "Lv": self.value, "BLOCK_DMODEL": plain, "BLOCK_DPE": rotated,
            "BLOCK_DV": _power(self.value), "USE_CUSTOM_MASK": False, "IS_CAUSAL": True,
            "SKIP_PREFIX_CUSTOM_MASK": True, "STORE_TRANSPOSE": True, "NUM_Q_HEADS": self.heads,
            "NUM_BLOCKS": -(-rows // knob(config, "BLOCK_M")), "NUM_XCDS": 8,
        }  # fmt: skip
        theirs = self.kv_heads
        sizes = {
            "q": (self.heads, self.head), "k": (theirs, self.head), "v": (theirs, self.value),
            "o": (self.heads, self.value), "buf_k": (theirs, self.head), "buf_v": (theirs, self.value),
        }  # fmt: skip
        for name, (heads, each) in sizes.items():
            known |= {f"stride_{name}bs": heads * each, f"stride_{name}h": each}
        return {"": Launch(arguments(names, known, config), (self.heads * known["NUM_BLOCKS"],))}

    def work(self, rows: int) -> int:
        """Return the number of operations of both products."""
        return rows * self.heads * (2 * CONTEXT + rows) * (self.head + self.value)

    def sizes(self, rows: int) -> dict[str, int]:
        """Return the problem sizes that determine the order of the search."""
        return {"S": rows, "H": self.heads, "C": CONTEXT}


def _strides(name: str, heads: int, each: int, row: str) -> dict[str, int]:
    """Return the strides of a tensor with the axes row, head and element, by the names of the kernel's parameters."""
    return {f"stride_{name}z_in": 0, f"stride_{name}h_in": each, f"stride_{name}{row}_in": heads * each,
            f"stride_{name}k_in": 1}  # fmt: skip


def _power(value: int) -> int:
    return 1 << max(value - 1, 0).bit_length()
