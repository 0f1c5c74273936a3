"""Input tensors for a server's kernels, and reference results computed by torch. Only imported if torch exists."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kprof.kernel_spec import ELEMENT_TYPES, Tensor
from kprof_servers.served.aiter_launches import AiterProduct
from kprof_servers.served.launches import ServedExperts, ServedProduct

if TYPE_CHECKING:
    import torch

_SMALLEST, _LARGEST = 0.5, 1.5
"""Range of the random scales."""
_INTEGERS = 8


def filled(name: str, tensor: Tensor, depth: int, generator: "torch.Generator") -> "torch.Tensor":
    """Return random values for a parameter, scaled so that results are around 1.

    Args:
        name: name of the parameter.
        tensor: type and shape of the parameter.
        depth: number of elements that each dot product sums.
        generator: random number generator on the device.
    """
    import torch

    kind = getattr(torch, ELEMENT_TYPES[tensor.dtype].torch)
    device = generator.device
    if "scale" in name or name in {"As", "Bs"} or "weights" in name:
        found = torch.empty(tensor.shape, dtype=torch.float32, device=device)
        found.uniform_(_SMALLEST, _LARGEST, generator=generator)
        side = name.startswith(("b", "B"))
        return (found / math.sqrt(depth) if side else found).to(kind)
    result = torch.empty(tensor.shape, dtype=kind, device=device)
    # Fill one expert's matrix at a time, because the weights of all experts in FP32 would not fit into memory.
    for part in result.view(-1, *tensor.shape[1:]) if result.dim() > 2 else [result]:
        if kind is torch.uint8:
            part.random_(0, 256, generator=generator)
        elif kind is torch.int8:
            part.random_(-_INTEGERS, _INTEGERS, generator=generator)
        else:
            numbers = torch.empty(part.shape, dtype=torch.float32, device=device).normal_(generator=generator)
            part.copy_(numbers / math.sqrt(depth) if kind is torch.bfloat16 and name.startswith("b") else numbers)
    return result


def routed(chosen: "torch.Tensor", count: int, height: int) -> dict[str, Any]:
    """Return rows in the order of their experts, padded to whole blocks, as ``moe_align_block_size`` does.

    Args:
        chosen: experts of each token, on all GPUs.
        count: experts on this GPU.
        height: rows per block.
    """
    import torch

    flat = chosen.flatten().long().cpu()
    rows, owners = [], []
    for expert in range(count):
        mine = (flat == expert).nonzero().flatten()
        blocks = -(-mine.numel() // height)
        padded = torch.full((blocks * height,), flat.numel())
        padded[: mine.numel()] = mine
        rows.append(padded)
        owners += [expert] * blocks
    order = torch.cat(rows)
    made = {
        "sorted_token_ids_ptr": order,
        "expert_ids_ptr": torch.tensor(owners),
        "num_tokens_post_padded_ptr": torch.tensor([order.numel()]),
    }
    return {**{name: t.to(torch.int32).to(chosen.device) for name, t in made.items()}, "EM": order.numel()}


def expected_product(inputs: Mapping[str, Any], launch: "ServedProduct | AiterProduct") -> "torch.Tensor":
    """Return ``A`` times the transposed ``B``, each multiplied by its scales."""
    named = {name.rpartition(".")[2].removesuffix("_ptr").lower(): value for name, value in inputs.items()}
    a, b = named["a"].float(), named["b"].float()
    a_scale, b_scale = named.get("as", named.get("a_scale")), named.get("bs", named.get("b_scale"))
    if a_scale is not None and b_scale is not None:
        if launch.block_k:
            a = a * _wide(a_scale, (1, launch.block_k), a.shape)
            b = b * _wide(b_scale, (launch.block_n, launch.block_k), b.shape)
        else:
            a, b = a * a_scale, b * b_scale.T
    result: torch.Tensor = a @ b.T
    return result


def expected_experts(
    inputs: Mapping[str, Any], label: str, args: Mapping[str, Any], launch: ServedExperts
) -> "torch.Tensor":
    """Return each token's row multiplied by the weights of each of its experts; zeros for experts on other GPUs."""
    import torch

    given = {name.partition(".")[2]: value for name, value in inputs.items() if name.partition(".")[0] == label}
    chosen = inputs["chosen"].flatten().long()
    width, each = int(args["N"]), int(args["top_k"])
    found = torch.zeros(chosen.numel(), width, device=chosen.device)
    a = given["a_ptr"].float()
    if launch.block is not None:
        a = a * _wide(given["a_scale_ptr"], (1, launch.block[1]), a.shape)
    elif launch.weights == "fp8":
        a = a * given["a_scale_ptr"]
    for expert in chosen.unique().tolist():
        if expert < launch.count:
            rows = (chosen == expert).nonzero().flatten()
            found[rows] = a[rows // each] @ _weights(given, expert, launch).T
    if args["MUL_ROUTED_WEIGHT"]:
        found *= given["topk_weights_ptr"].flatten()[:, None]
    return found.view(*inputs["chosen"].shape, width)


def _weights(given: Mapping[str, Any], expert: int, launch: ServedExperts) -> "torch.Tensor":
    import torch

    packed = given["b_ptr"][expert]
    if launch.weights == "w4a16":
        # A byte contains two 4-bit values, the first in its lower half. Both are stored with an offset of 8.
        pairs: torch.Tensor = torch.stack((packed & 15, packed >> 4), dim=-1).flatten(-2).float() - _INTEGERS
        return pairs * _wide(given["b_scale_ptr"][expert].float(), (1, launch.group or 1), pairs.shape)
    weights: torch.Tensor = packed.float()
    if launch.block is not None:
        weights *= _wide(given["b_scale_ptr"][expert], launch.block, weights.shape)
    elif launch.weights == "fp8":
        weights *= given["b_scale_ptr"][expert]
    return weights


def _wide(scales: "torch.Tensor", block: tuple[int, int], shape: Any) -> "torch.Tensor":
    """Repeat the scales of blocks so that each element has its own scale.

    Args:
        scales: one scale per block.
        block: rows and columns of a block.
        shape: shape of the elements' matrix.
    """
    wide = scales.repeat_interleave(block[0], 0) if block[0] > 1 else scales
    return wide.repeat_interleave(block[1], 1)[: shape[0], : shape[1]]
