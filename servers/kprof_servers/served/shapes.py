"""Compute the matrix products that one GPU runs for a model's layers, when a group of GPUs shares the model."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kprof.inputs.model_config import ModelConfig
from kprof.inputs.weight_format import WeightFormat

_VOCABULARY = 64
"""vLLM and SGLang pad the vocabulary to a multiple of this size (``DEFAULT_VOCAB_PADDING_SIZE``)."""


@dataclass(frozen=True)
class Split:
    """The distribution of a model over GPUs.

    Attributes:
        tp: number of GPUs that share each layer.
        ep: number of groups of these GPUs that experts are distributed over; 1 if each expert is split instead.
    """

    tp: int = 1
    ep: int = 1


@dataclass(frozen=True)
class ProductShape:
    """A product with weights, ``M x K`` by ``K x N``, on one GPU.

    Attributes:
        layer: name of the layer, ``qkv_proj``.
        n: columns of the result.
        k: elements that are summed.
        layers: number of layers with this product; ``None`` if unknown.
    """

    layer: str
    n: int
    k: int
    layers: int | None


def by_shape(products: Iterable[ProductShape]) -> list[ProductShape]:
    """Merge products of the same shape: join their layer names with commas, and add up their numbers of layers."""
    found: dict[tuple[int, int], list[ProductShape]] = {}
    for each in products:
        found.setdefault((each.n, each.k), []).append(each)
    return [
        ProductShape(
            ", ".join(dict.fromkeys(each.layer for each in same)),
            n,
            k,
            None if any(each.layers is None for each in same) else sum(each.layers or 0 for each in same),
        )
        for (n, k), same in found.items()
    ]


@dataclass(frozen=True)
class ExpertShape:
    """The two products of a mixture of experts, on one GPU.

    Attributes:
        count: experts on this GPU.
        inner: columns of an expert's intermediate result on this GPU.
        hidden: size of the residual stream.
        chosen: experts per token.
        layers: number of layers with experts; ``None`` if unknown.
        everywhere: total number of experts on all GPUs.
    """

    count: int
    inner: int
    hidden: int
    chosen: int
    layers: int | None
    everywhere: int


@dataclass(frozen=True)
class AttentionShape:
    """The sizes of attention on one GPU.

    Attributes:
        heads: number of query heads.
        head: elements of a query head; with latent attention, this includes the elements with rotary embedding.
        latent: whether keys and values are compressed (MLA).
        layers: number of layers with this attention; ``None`` when not known.
        kv_heads: number of key and value heads.
        value: elements of a value head.
        rank: elements of a compressed key or value; 0 without compression.
        rope: elements of a head with rotary embedding, if they are separate from the others; 0 if they are not.
    """

    heads: int
    head: int
    latent: bool
    layers: int | None
    kv_heads: int = 1
    value: int = 0
    rank: int = 0
    rope: int = 0


@dataclass
class LayerShapes:
    """The products that one GPU runs.

    Attributes:
        products: products with weights, in layer order; products with the same layer name and shape are listed once.
        experts: the mixture of experts, if the model has one.
        problems: sizes that are unknown or that the given number of GPUs does not divide, one sentence each.
        attention: the attention, if its sizes are known.
        plain: products that are never quantised: the router and the output layer.
    """

    products: list[ProductShape]
    experts: ExpertShape | None
    problems: list[str]
    attention: AttentionShape | None = None
    plain: list[ProductShape] = field(default_factory=list)


def shapes_of(model: ModelConfig, split: Split, weights: WeightFormat) -> LayerShapes:
    """Return the products of a model's layers. The embedding is not included, because it is a lookup.

    Args:
        model: configuration of the model.
        split: distribution over GPUs.
        weights: format of the weights; their blocks must divide a GPU's part of a weight.
    """
    found = LayerShapes([], None, [])
    block = weights.block[0] if weights.block is not None else 1
    _attention(model, split.tp, found)
    dense = model.layers if model.experts is None else model.dense_layers
    if model.inner is not None and dense != 0:
        _feed_forward(found, "", model.inner, model.hidden, tp=split.tp, layers=dense, block=block)
    if model.experts is not None:
        if model.experts.shared:
            shared = model.experts.shared
            _feed_forward(
                found, "shared_experts.", shared, model.hidden, tp=split.tp, layers=model.experts.layers, block=block
            )
        _experts(model, split, found, block)
    _add_router_and_output(model, split.tp, found)
    return found


def _add_router_and_output(model: ModelConfig, tp: int, found: LayerShapes) -> None:
    """Add the router, which is not split, and this GPU's part of the output layer.

    The output layer's columns are the vocabulary, padded to a multiple of 64.
    """
    if model.hidden is None:
        return
    if model.experts is not None:
        found.plain.append(ProductShape("router", model.experts.count, model.hidden, model.experts.layers))
    if model.vocabulary is not None:
        padded = -(-model.vocabulary // _VOCABULARY) * _VOCABULARY
        if padded % tp == 0:
            found.plain.append(ProductShape("lm_head", padded // tp, model.hidden, 1))


def _attention(model: ModelConfig, tp: int, found: LayerShapes) -> None:
    hidden, heads = model.hidden, model.heads
    if hidden is None or heads is None:
        return
    mine = _share(found, "query heads", heads, tp)
    if mine is None:
        return
    add = found.products.append
    latent = model.latent
    if latent is not None:
        compressed = latent.kv_rank + latent.rope
        each = latent.nope + latent.rope
        found.attention = AttentionShape(
            mine,
            each,
            True,
            model.layers,
            mine,
            latent.value,
            latent.kv_rank,
            latent.rope,
        )
        if latent.q_rank is not None:
            add(ProductShape("fused_qkv_a_proj", latent.q_rank + compressed, hidden, model.layers))
            add(ProductShape("q_b_proj", mine * each, latent.q_rank, model.layers))
        else:
            add(ProductShape("kv_a_proj_with_mqa", compressed, hidden, model.layers))
            add(ProductShape("q_proj", mine * each, hidden, model.layers))
        add(ProductShape("kv_b_proj", mine * (latent.nope + latent.value), latent.kv_rank, model.layers))
        add(ProductShape("o_proj", hidden, mine * latent.value, model.layers))
    elif model.head is not None and model.kv_heads is not None:
        # If there are fewer key heads than GPUs, each GPU has a copy of one of them.
        theirs = max(1, model.kv_heads // tp)
        found.attention = AttentionShape(mine, model.head, False, model.layers, theirs, model.head)
        add(ProductShape("qkv_proj", (mine + 2 * theirs) * model.head, hidden, model.layers))
        add(ProductShape("o_proj", hidden, mine * model.head, model.layers))


def _feed_forward(
    found: LayerShapes, name: str, inner: int, hidden: int | None, *, tp: int, layers: int | None, block: int
) -> None:
    mine = _share(found, f"{name}intermediate columns", inner, tp, block)
    if mine is None or hidden is None:
        return
    found.products.append(ProductShape(f"{name}gate_up_proj", 2 * mine, hidden, layers))
    found.products.append(ProductShape(f"{name}down_proj", hidden, mine, layers))


def _experts(model: ModelConfig, split: Split, found: LayerShapes, block: int) -> None:
    experts = model.experts
    if experts is None or model.hidden is None:
        return
    count = _share(found, "experts", experts.count, split.ep)
    inner = _share(found, "an expert's intermediate columns", experts.inner, max(1, split.tp // split.ep), block)
    if count is not None and inner is not None:
        found.experts = ExpertShape(
            count, inner, model.hidden, experts.chosen, experts.layers, everywhere=experts.count
        )


def _share(found: LayerShapes, what: str, whole: int, parts: int, block: int = 1) -> int | None:
    """Return one GPU's share of a size, ``whole / parts``.

    If the share is not an integer or not a multiple of ``block``, add a problem to ``found`` and return None.
    """
    if whole % parts:
        found.problems.append(f"{whole:,} {what} cannot be split over {parts} GPUs")
        return None
    mine = whole // parts
    if mine % block:
        found.problems.append(f"{what}: {mine:,} a GPU are not divided by blocks of {block}: the server refuses this")
        return None
    return mine
