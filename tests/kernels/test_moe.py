"""The mixture of experts agrees with one network after the other, token by token; its sort is what the launch says."""

from collections.abc import Callable
from typing import Any

import pytest

from kprof.document import KernelReport
from kprof.kernel_spec import Kernel

KernelOf = Callable[[str], Kernel]
ROUTINGS = ["even", "skewed"]


def small(**change: Any) -> dict[str, Any]:
    """A problem of a few tokens."""
    return {"T": 13, "K": 12, "F": 10, "E": 5, "TOP_K": 2, "routing": "skewed", "dtype": "fp32", **change}


@pytest.mark.triton
@pytest.mark.parametrize("routing", ROUTINGS)
def test_reference_is_each_tokens_networks(routing: str, kernel_of: KernelOf) -> None:
    """A token at a time, an expert at a time, with torch's own layers."""
    torch = pytest.importorskip("torch")
    kernel = kernel_of("moe_fused")
    shape = small(routing=routing)
    inputs = kernel.inputs(shape, "cpu", 1)

    got = kernel.reference(inputs, shape)["out"]

    linear, silu = torch.nn.functional.linear, torch.nn.functional.silu
    for token in range(shape["T"]):
        want = torch.zeros(shape["K"], dtype=torch.float64)
        for choice in range(shape["TOP_K"]):
            expert = inputs["experts"][token, choice]
            both = linear(inputs["x"][token].double(), inputs["gate_up"][expert].double())
            hidden = silu(both[: shape["F"]]) * both[shape["F"] :]
            want += inputs["weights"][token, choice].double() * linear(hidden, inputs["down"][expert].double())
        torch.testing.assert_close(got[token], want, rtol=1e-10, atol=1e-12)


@pytest.mark.triton
@pytest.mark.parametrize("routing", ROUTINGS)
@pytest.mark.parametrize("block_m", [1, 4, 16])
def test_sort_on_the_device_is_what_the_launch_says(routing: str, block_m: int, kernel_of: KernelOf) -> None:
    """Slots in the order of their experts, padded to blocks of one expert; the launch knows them in advance."""
    pytest.importorskip("torch")
    kernel = kernel_of("moe_fused")
    shape = small(routing=routing)
    module = kernel.reference.__globals__
    blocks = module["most_blocks"](shape, block_m)

    slots, experts = module["sort"](kernel.inputs(shape, "cpu", 1)["experts"], shape["E"], block_m, blocks)

    launch = kernel.launch(shape, kernel.configure("gfx942", {"BLOCK_M": block_m}, shape))
    assert tuple(slots.tolist()) == launch.args["slots_ptr"].values
    assert tuple(experts.tolist()) == launch.args["experts_ptr"].values
    assert launch.grid[1] == blocks
    padding = shape["T"] * shape["TOP_K"]
    assert sorted(slots[slots < padding].tolist()) == list(range(padding))
    chosen = module["chosen"](shape["T"], shape["E"], shape["TOP_K"], routing)
    for block, expert in enumerate(experts.tolist()):
        mine = slots[block * block_m : (block + 1) * block_m]
        assert {chosen[slot] for slot in mine[mine < padding].tolist()} <= {expert}


@pytest.mark.triton
def test_grid_has_room_for_any_routing(kernel_of: KernelOf) -> None:
    """Every token to the same experts, and every expert with one slot more than a block."""
    torch = pytest.importorskip("torch")
    module = kernel_of("moe_fused").reference.__globals__
    shape = small(T=20)
    for experts in (torch.tensor([[0, 1]] * 20), torch.arange(40).view(20, 2) % 5, torch.tensor([[4, 3]] * 20)):
        blocks = module["most_blocks"](shape, 4)
        slots, _ = module["sort"](experts, shape["E"], 4, blocks)
        assert int((slots < 40).sum()) == 40


@pytest.mark.triton("3.9.")
@pytest.mark.parametrize("arch", ["gfx942", "gfx950"])
@pytest.mark.parametrize("case", ["qwen3_30b_t4096", "qwen3_30b_t64"])
@pytest.mark.parametrize("part", ["", "::down", "::sum"])
def test_nothing_spills(part: str, case: str, arch: str, analyse: Callable[..., KernelReport]) -> None:
    """With many and with few tokens an expert."""
    assert analyse(f"moe_fused{part}", arch, None, case).resources.vgpr_spills == 0


@pytest.mark.triton
def test_weights_of_all_experts_come_from_memory() -> None:
    """With four slots an expert all weights are read, which the Infinity Cache does not hold."""
    import kprof

    kernels = kprof.analyze("moe_fused", arch="MI300X", case="qwen3_30b_t64", try_cures=False).kernels
    weights = 128 * 768 * 2048 * 2
    assert kernels[0].model.traffic["hbm"] == pytest.approx(2 * weights, rel=0.1)
    assert kernels[1].model.traffic["hbm"] == pytest.approx(weights, rel=0.1)
