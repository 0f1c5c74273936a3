"""The rough cost that orders a search: by the GPU's own figures."""

import pytest

from kprof.hardware.machine import architectures, load
from kprof.tuning.estimate import Estimate

TILE = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64, "num_warps": 8}
SHAPE = {"M": 256, "N": 256, "K": 4096}


def cost(arch: str, element_bytes: int) -> float:
    """Of one tile that fills one workgroup."""
    return Estimate(load(arch), None, SHAPE, element_bytes).cost(TILE)


@pytest.mark.parametrize(("slow", "fast"), [("gfx90a", "gfx942"), ("gfx942", "gfx950")])
def test_faster_matrix_units_cost_less(slow: str, fast: str) -> None:
    """AMD publishes twice the fp16 operations per cycle and CU from each CDNA generation to the next."""
    assert load(fast).rates["matrix_fp16"] == 2 * load(slow).rates["matrix_fp16"]
    assert cost(fast, 2) < cost(slow, 2)


def test_types_without_matrix_instructions_cost_more() -> None:
    """RDNA 3 has no fp8 matrix instructions: such a product is no cheaper than one of fp16."""
    assert load("gfx1100").rates["matrix_fp8"] == 0
    assert cost("gfx1100", 1) > cost("gfx1100", 2)


@pytest.mark.parametrize("arch", architectures())
def test_every_architecture_says_how_many_cus_a_product_has(arch: str) -> None:
    """Rounds are counted with the GPU's own CUs: one workgroup more than it has takes another round."""
    first = next(product.compute_units for product in load(arch).products.values() if product.compute_units)
    costs = [Estimate(load(arch), None, {**SHAPE, "M": 256 * n}, 2).cost(TILE) for n in (first, first + 1)]
    assert costs[1] == pytest.approx(2 * costs[0])
