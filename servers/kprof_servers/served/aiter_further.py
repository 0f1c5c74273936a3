"""AITER's lookups for GEMM families other than the main ones: alternative, per-head and fused products.

An alternative family computes the same product with the same weights as a main family. Taken from AITER e4048607a5.
The source file of each family has its own ``_get_config``; a version of AITER without this file does not have the
family.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.aiter_families import (
    BATCHED,
    BATCHED_QUANTISED,
    FP4,
    FP4_SHUFFLED,
    SHUFFLED,
    BatchedProduct,
    Fp4Product,
    ShuffledProduct,
)
from kprof_servers.served.interface import LookupCall, NeededLookup
from kprof_servers.served.launches import LaunchedKernel
from kprof_servers.served.shapes import LayerShapes, ProductShape, by_shape

_GEMM = "aiter/ops/triton/_triton_kernels/gemm"
_BLOCKS = f"{_GEMM}/basic/gemm_a8w8_blockscale.py"
_FP4 = f"{_GEMM}/basic/gemm_afp4wfp4.py"
_BATCHED = f"{_GEMM}/batched"
_PREQUANT = "batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant"
_FUSED_BLOCKS, _FUSED_ADD = "FUSED-GEMM-A8W8_BLOCKSCALE-A16W16", "FUSED-GEMM-A8W8_BLOCKSCALE-MUL_ADD"
_SHARED = "shared_experts."

KERNELS: Mapping[str, tuple[tuple[str, str], ...]] = {
    SHUFFLED: ((_BLOCKS, "_gemm_a8w8_blockscale_preshuffle_kernel"),),
    FP4: ((_FP4, "_gemm_afp4wfp4_kernel"),),
    FP4_SHUFFLED: ((_FP4, "_gemm_afp4wfp4_preshuffle_kernel"),),
    BATCHED: ((f"{_BATCHED}/batched_gemm_bf16.py", "_batched_gemm_bf16_kernel"),),
    BATCHED_QUANTISED: ((f"{_BATCHED}/{_PREQUANT}.py", f"_{_PREQUANT}_kernel"),),
}
"""For each family, the file and function of its kernel."""


def further(shapes: LayerShapes, weights: WeightFormat, batches: Sequence[int]) -> list[NeededLookup]:
    """Return the lookups of the families in this module, for the products of one GPU.

    Args:
        shapes: shapes of the layers.
        weights: format of the weights.
        batches: rows of a step.
    """
    found = [need for each in by_shape(shapes.products) for need in _products(each, weights, batches)]
    return [*found, *_heads(shapes, weights, batches), *_fused(shapes, weights, batches)]


def _products(product: ProductShape, weights: WeightFormat, batches: Sequence[int]) -> Iterator[NeededLookup]:
    n, k = product.n, product.k
    sizes = {"N": n, "K": k}
    if weights.name == "fp8-block" and weights.block is not None:
        launch = ShuffledProduct(SHUFFLED, n, k, "fp8_e4m3", *weights.block)
        yield _need(
            SHUFFLED, product, sizes, _BLOCKS, {**sizes, "shuffle": True}, batches=batches, launch=launch, other=True
        )
    if weights.name == "fp8":
        family = "GEMM-A8W8_PER_TOKEN_SCALE"
        yield _need(
            family, product, sizes, f"{_GEMM}/basic/gemm_a8w8_per_token_scale.py", sizes, batches=batches, other=True
        )
    if weights.name == "mxfp4" and weights.everywhere:
        in_bytes = {"N": n, "K": k // 2}
        plain, shuffled = Fp4Product(FP4, n, k, "u8"), Fp4Product(FP4_SHUFFLED, n, k, "u8", shuffled=True)
        yield _need(FP4, product, sizes, _FP4, in_bytes, batches=batches, launch=plain)
        options = {**in_bytes, "shuffle": True}
        yield _need(FP4_SHUFFLED, product, sizes, _FP4, options, batches=batches, launch=shuffled, other=True)
    if weights.name == "bf16" and "gate_up_proj" in product.layer.split(", "):
        family = "GEMM-A16W16-gated"
        yield _need(family, product, sizes, f"{_GEMM}/basic/gemm_a16w16_gated.py", sizes, batches=batches, other=True)


def _heads(shapes: LayerShapes, weights: WeightFormat, batches: Sequence[int]) -> Iterator[NeededLookup]:
    """Yield the lookups of the per-head products around latent attention (MLA).

    Queries are multiplied by the keys' weights before attention. The result of attention is multiplied by the values'
    weights.
    """
    shape = shapes.attention
    if shape is None or not shape.latent:
        return
    quantised = weights.name in {"fp8", "fp8-block"}
    for layer, n, k in (
        ("kv_b_proj, keys of each head", shape.rank, shape.head - shape.rope),
        ("kv_b_proj, values of each head", shape.value, shape.rank),
    ):
        sizes = {"B": shape.heads, "N": n, "K": k}
        product = ProductShape(layer, n, k, shape.layers)
        if weights.name == "mxfp4" and weights.everywhere:
            options = {"N": n, "K": k // 2}
            family, file = "BATCHED_GEMM-A16WFP4", f"{_BATCHED}/batched_gemm_a16wfp4.py"
            yield _need(family, product, sizes, file, options, batches=batches)
            continue
        launch = BatchedProduct(shape.heads, n, k, quantised=quantised)
        if quantised:
            options, file = {"N": n, "K": k}, f"{_BATCHED}/{_PREQUANT}.py"
            yield _need(BATCHED_QUANTISED, product, sizes, file, options, batches=batches, launch=launch)
        else:
            file = f"{_BATCHED}/batched_gemm_bf16.py"
            yield _need(BATCHED, product, sizes, file, sizes, batches=batches, launch=launch)


def _fused(shapes: LayerShapes, weights: WeightFormat, batches: Sequence[int]) -> Iterator[NeededLookup]:
    """Yield the lookups of fused products of the shared expert: gate and up with the router, and down with the sum."""
    if weights.name != "fp8-block" or shapes.experts is None:
        return
    for each in shapes.products:
        if each.layer == f"{_SHARED}gate_up_proj":
            named = {"N_fp8": each.n, "N_bf16": shapes.experts.everywhere, "K": each.k}
            sizes = {"N8": each.n, "N16": shapes.experts.everywhere, "K": each.k}
            layer = ProductShape(f"{each.layer} with the router", each.n, each.k, each.layers)
            file = f"{_GEMM}/fused/fused_gemm_a8w8_blockscale_a16w16.py"
            yield _need(_FUSED_BLOCKS, layer, sizes, file, named, batches=batches, other=True)
        if each.layer == f"{_SHARED}down_proj":
            sizes = {"N": each.n, "K": each.k}
            layer = ProductShape(f"{each.layer} and the sum", each.n, each.k, each.layers)
            file = f"{_GEMM}/fused/fused_gemm_a8w8_blockscale_mul_add.py"
            yield _need(_FUSED_ADD, layer, sizes, file, sizes, batches=batches, other=True)


def _need(
    family: str,
    product: ProductShape,
    sizes: Mapping[str, int],
    file: str,
    options: Mapping[str, Any],
    *,
    batches: Sequence[int],
    launch: LaunchedKernel | None = None,
    other: bool = False,
) -> NeededLookup:
    return NeededLookup(
        kernel=family,
        layer=product.layer,
        layers=product.layers,
        shape=dict(sizes),
        name=f"{{arch}}-{family}-{'-'.join(f'{name}={size}' for name, size in sizes.items())}.json",
        folder="aiter/ops/triton/configs/gemm",
        calls={rows: LookupCall((file,), "_get_config", {"M": rows, **options}) for rows in batches},
        launch=launch,
        optional=True,
        alternative=other,
    )
