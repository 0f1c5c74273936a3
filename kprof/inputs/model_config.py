"""Read a Hugging Face ``config.json``: the sizes that determine a model's GEMMs and attention. Weights are not read.

The keys are those of the ``transformers`` configuration classes; multimodal models have them under ``text_config``.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.weight_format import WeightFormat, is_size, quantised

MOST_BYTES = 4 << 20
"""Maximum size of a ``config.json`` in bytes.

The largest public files have a few hundred kilobytes, mostly lists of layers.
"""

_DENSE = (
    "LlamaForCausalLM", "Phi3ForCausalLM", "MistralForCausalLM", "Mistral3ForConditionalGeneration", "Qwen2ForCausalLM",
    "Qwen3ForCausalLM", "Gemma3ForCausalLM", "Gemma3ForConditionalGeneration",
)  # fmt: skip
_EXPERTS = (
    "MixtralForCausalLM", "Qwen2MoeForCausalLM", "Qwen3MoeForCausalLM", "Glm4MoeForCausalLM", "GptOssForCausalLM",
    "Llama4ForCausalLM", "Llama4ForConditionalGeneration",
)  # fmt: skip
_LATENT = ("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "KimiK2ForCausalLM")
_FEED_FORWARD_IS_EXPERT = ("MixtralForCausalLM", "GptOssForCausalLM", "Llama4ForCausalLM")
"""Architectures whose ``intermediate_size`` is the size of one expert, because they have no other key for that size."""

KNOWN = (*_DENSE, *_EXPERTS, *_LATENT)
"""Architectures whose layers kprof supports."""


@dataclass(frozen=True)
class LatentSizes:
    """Sizes of multi-head latent attention.

    Attributes:
        q_rank: rank of the compressed query; ``None`` if queries are not compressed.
        kv_rank: rank of the compressed keys and values.
        nope: elements per head without rotary embedding.
        rope: elements per head with rotary embedding.
        value: elements per head of the value.
    """

    q_rank: int | None
    kv_rank: int
    nope: int
    rope: int
    value: int


@dataclass(frozen=True)
class ExpertSizes:
    """Sizes of a mixture of experts.

    Attributes:
        count: number of routed experts of a layer.
        chosen: number of routed experts that compute each token.
        inner: intermediate size of one expert.
        shared: total intermediate size of the shared experts; 0 if there are none.
        layers: number of layers with experts; ``None`` if unknown.
    """

    count: int
    chosen: int
    inner: int
    shared: int
    layers: int | None


@dataclass(frozen=True)
class ModelConfig:
    """Sizes of a model. Sizes missing from the file are ``None``, and ``problems`` mentions them if they are required.

    Attributes:
        path: path of the file.
        architecture: first entry of ``architectures``, or ``?`` if there is none.
        hidden: size of the residual stream.
        layers: number of layers.
        heads: number of query heads.
        kv_heads: number of key and value heads.
        head: elements per head.
        inner: intermediate size of a dense feed-forward layer; ``None`` if no layer is dense.
        dense_layers: number of layers with a dense feed-forward network; ``None`` if unknown.
        experts: sizes of the experts, or ``None`` without experts.
        latent: sizes of latent attention, or ``None`` for other attention.
        weights: quantisation of the weights.
        problems: sentences about missing, wrong or unsupported values.
        vocabulary: number of tokens in the vocabulary; ``None`` if the file does not contain it.
    """

    path: str
    architecture: str
    hidden: int | None
    layers: int | None
    heads: int | None
    kv_heads: int | None
    head: int | None
    inner: int | None
    dense_layers: int | None
    experts: ExpertSizes | None
    latent: LatentSizes | None
    weights: WeightFormat
    problems: tuple[str, ...] = ()
    vocabulary: int | None = None


def read(path: str | Path) -> ModelConfig:
    """Read the sizes of a model.

    Args:
        path: path of a ``config.json`` or of the folder that contains it.

    Raises:
        InputError: if there is no such file, it is too large, or it is not a JSON object.
    """
    file = Path(path)
    if file.is_dir():
        file /= "config.json"
        if not file.is_file():
            raise InputError("there is no config.json in this folder", path=str(path))
    data = boundary.read_bytes(file, most=MOST_BYTES)
    whole = boundary.json_of(data, dict[str, Any], str(file), "a model's configuration", unique=True)
    text = whole.get("text_config")
    return _Reader(str(file), whole, text if isinstance(text, dict) else whole).read()


@dataclass
class _Reader:
    path: str
    whole: dict[str, Any]
    text: dict[str, Any]
    problems: list[str] = field(default_factory=list)

    def read(self) -> ModelConfig:
        names = self.whole.get("architectures") or self.text.get("architectures") or []
        name = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else "?"
        if name == "?":
            self.problems.append("architectures is missing, so the kind of the layers is unknown")
        elif name not in KNOWN:
            self.problems.append(f"the architecture {name!r} is not known: its GEMMs may differ from the listed ones")
        hidden, layers, heads = self.size("hidden_size"), self.size("num_hidden_layers"), self.size(_HEADS)
        latent = self.latent() if name in _LATENT or "kv_lora_rank" in self.text else None
        head = self.size("head_dim", needed=False)
        if head is None and hidden is not None and heads is not None:
            head = hidden // heads or None
            if head is None:
                self.problems.append(f"{_HEADS} is {heads:,}, more than hidden_size, {hidden:,}")
        experts = self.experts(name, layers) if name in (*_EXPERTS, *_LATENT) or self.has_experts() else None
        inner, dense = self.dense(name, layers, experts)
        return ModelConfig(
            path=self.path,
            architecture=name,
            hidden=hidden,
            layers=layers,
            heads=heads,
            kv_heads=self.size("num_key_value_heads", needed=False) or heads,
            head=head,
            inner=inner,
            dense_layers=dense,
            experts=experts,
            latent=latent,
            weights=self.weights(),
            vocabulary=self.size("vocab_size", needed=False),
            problems=tuple(self.problems),
        )

    def size(self, *names: str, needed: bool = True) -> int | None:
        """Return the value of the first of these keys in the file; report missing keys and invalid sizes."""
        for name in names:
            value = self.text.get(name)
            if value is None:
                continue
            if not is_size(value):
                self.problems.append(f"{name} is not a valid size: {repr(value)[:40]}")
                return None
            return value
        if needed:
            self.problems.append(f"{' or '.join(names)} is missing")
        return None

    def has_experts(self) -> bool:
        return any(isinstance(self.text.get(name), int) and self.text[name] > 1 for name in _COUNTS)

    def latent(self) -> LatentSizes | None:
        sizes = [self.size(name) for name in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")]
        kv_rank, nope, rope, value = sizes
        if kv_rank is None or nope is None or rope is None or value is None:
            return None
        return LatentSizes(self.size("q_lora_rank", needed=False), kv_rank, nope, rope, value)

    def experts(self, name: str, layers: int | None) -> ExpertSizes | None:
        count, chosen = self.size(*_COUNTS), self.size("num_experts_per_tok", "experts_per_token")
        alias = ("intermediate_size",) if name.startswith(_FEED_FORWARD_IS_EXPERT) or "Llama4" in name else ()
        inner = self.size("moe_intermediate_size", *alias)
        if count is None or chosen is None or inner is None:
            return None
        shared = self.size("shared_expert_intermediate_size", needed=False) or 0
        if not shared:
            shared = inner * (1 if "Llama4" in name else self.size("n_shared_experts", needed=False) or 0)
        return ExpertSizes(count, chosen, inner, shared, None if layers is None else self.with_experts(layers))

    def with_experts(self, layers: int) -> int | None:
        """Return the number of layers with experts. The first layers may be dense, or only every n-th has experts.

        The count does not loop over the layers, because a damaged file may claim millions of them.
        """
        first = self.text.get("first_k_dense_replace", 0)
        step = self.text.get("interleave_moe_layer_step", self.text.get("decoder_sparse_step", 1))
        named = self.text.get("mlp_only_layers") or []
        listed = self.text.get("moe_layers")
        if isinstance(listed, list):
            there = {layer for layer in listed if _is_number(layer) and 0 <= layer < layers}
            if len(there) == len(listed):
                return len(there)
            wrong = "moe_layers contains an invalid or repeated layer"
        elif not _is_number(first):
            wrong = "first_k_dense_replace is not a number of layers"
        elif not is_size(step):
            wrong = "the step from one layer with experts to the next is not a size"
        elif not isinstance(named, list):
            wrong = "mlp_only_layers is not a list"
        else:
            first = min(max(0, first), layers)
            inside = {layer for layer in named if _is_number(layer) and first <= layer < layers}
            return layers // step - first // step - sum((layer + 1) % step == 0 for layer in inside)
        self.problems.append(f"{wrong}: the number of layers with experts is unknown")
        return None

    def dense(self, name: str, layers: int | None, experts: ExpertSizes | None) -> tuple[int | None, int | None]:
        """Return the intermediate size of dense layers (without experts) and their number."""
        if experts is None:
            return self.size("intermediate_size"), layers
        known = None if layers is None or experts.layers is None else layers - experts.layers
        if known == 0:
            return None, 0
        return self.size("intermediate_size_mlp" if "Llama4" in name else "intermediate_size"), known

    def weights(self) -> WeightFormat:
        """Return the quantisation of the weights from ``quantization_config``."""
        found = self.whole.get("quantization_config") or self.text.get("quantization_config")
        if not isinstance(found, dict):
            return WeightFormat()
        chosen, problems = quantised(found)
        self.problems += problems
        return chosen


_HEADS = "num_attention_heads"
_COUNTS = ("num_local_experts", "n_routed_experts", "num_experts")


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
