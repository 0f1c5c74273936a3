"""The rough cost that orders a search: by the GPU's own figures."""

import pytest

from kprof.hardware.machine import load
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
