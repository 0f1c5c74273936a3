"""The two lookups that vLLM and SGLang share: one file per shape and GPU, with buckets by number of rows."""

from collections.abc import Iterable, Sequence

from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.interface import LookupCall, NeededLookup
from kprof_servers.served.launches import ServedExperts, ServedProduct
from kprof_servers.served.shapes import ExpertShape, ProductShape, by_shape


def fused_moe(
    experts: ExpertShape,
    weights: WeightFormat,
    dtype: str | None,
    files: tuple[str, ...],
    folder: str,
    *,
    batches: Sequence[int],
    comma: str = ",",
    packed: bool = False,
) -> NeededLookup:
    """Return the lookup of the file of a mixture of experts.

    Args:
        experts: sizes of the experts.
        weights: format of the weights.
        dtype: the server's name of the format in file names; ``None`` if the names contain none.
        files: files that may define the server's ``try_get_optimal_moe_config``.
        folder: folder of the tuned files in kprof's table.
        batches: rows of a step.
        comma: separator between the two sizes of a block in the server's file names.
        packed: whether the file's name counts 4-bit weights in bytes.
    """
    # Two 4-bit weights share a byte. The server passes the shape of the tensor of bytes to its lookup function.
    columns = experts.inner // 2 if weights.name == "w4a16" else experts.inner
    block = list(weights.block) if weights.block is not None else [0, weights.group] if weights.group else None
    options = {
        "w1_shape": [experts.count, 2 * experts.inner, experts.hidden],
        "w2_shape": [experts.count, experts.hidden, columns],
        "top_k": experts.chosen,
        "dtype": dtype,
        "block_shape": block,
    }
    kind = f",dtype={dtype}" if dtype else ""
    shape = f",block_shape=[{weights.block[0]}{comma}{weights.block[1]}]" if weights.block is not None else ""
    return NeededLookup(
        kernel="fused MoE",
        layer="experts",
        layers=experts.layers,
        shape={"E": experts.count, "N": experts.inner},
        name=f"E={experts.count},N={columns if packed else experts.inner},device_name={{device}}{kind}{shape}.json",
        folder=folder,
        calls={rows: LookupCall(files, "try_get_optimal_moe_config", {**options, "M": rows}) for rows in batches},
        launch=launched_experts(experts, weights),
    )


def launched_experts(experts: ExpertShape, weights: WeightFormat) -> ServedExperts | None:
    """Return how the two products of a mixture of experts are launched, or ``None`` if kprof does not know that."""
    if weights.name not in {"bf16", "fp8", "fp8-block", "w4a16"} or (weights.name == "w4a16" and not weights.group):
        return None
    return ServedExperts(
        experts.count, experts.everywhere, experts.inner, experts.hidden, experts.chosen, weights.name, weights.block,
        weights.group,
    )  # fmt: skip


def block_fp8(
    products: Iterable[ProductShape], block: tuple[int, int], files: tuple[str, ...], folder: str, comma: str = ","
) -> list[NeededLookup]:
    """Return one lookup per distinct shape of products with block-wise FP8 weights; arguments as :func:`fused_moe`."""
    rows, columns = block
    return [
        NeededLookup(
            kernel="block FP8",
            layer=each.layer,
            layers=each.layers,
            shape={"N": each.n, "K": each.k},
            name=f"N={each.n},K={each.k},device_name={{device}},dtype=fp8_w8a8,block_shape=[{rows}{comma}{columns}].json",
            folder=folder,
            calls={
                0: LookupCall(
                    files,
                    "get_w8a8_block_fp8_configs",
                    {"N": each.n, "K": each.k, "block_n": rows, "block_k": columns},
                )
            },
            launch=ServedProduct(each.n, each.k, rows, columns),
        )
        for each in by_shape(products)
    ]
