"""Problems of one kernel as problems of another."""

from typing import Any

import pytest

pytest.importorskip("triton", reason="kernels are loaded")

from kprof.targets.library import load
from kprof.tuning.choice.predicting import forms

pytestmark = pytest.mark.triton
PAIRS = [(name, other) for name in ("gemm", "gemm_streamk", "gemm_multiply_reduce", "flash_attention",
                                    "attention_persistent") for other in forms(name)]  # fmt: skip


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_every_case_becomes_a_whole_problem_or_a_reason(name: str, other: str) -> None:
    """A translated problem has all the parameters of the other kernel, and the same work."""
    kernel, target = load(name), load(other)
    for case in kernel.shapes:
        shape = kernel.problem("gfx942", case)
        found = forms(name)[other](shape)
        if isinstance(found, str):
            assert found
            continue
        assert found == target.problem("gfx942", None, found)
        assert kernel.flops is not None
        assert target.flops is not None
        assert target.flops(found) == pytest.approx(kernel.flops(shape), rel=0.02)


@pytest.mark.parametrize(
    ("change", "other", "why"),
    [
        ({"trans_a": True}, "gemm_streamk", "trans_a"),
        ({"pad": 128}, "gemm_streamk", "pad"),
        ({}, "gemm_skinny_fp8", "8-bit"),
        ({"dtype": "fp8e4b8", "M": 64}, "gemm_skinny_fp8", "32 rows"),
        ({"dtype": "fp8e4b8", "M": 16, "bias": True}, "gemm_skinny_fp8", "bias"),
        ({"M": 16}, "gemm_multiply_reduce", "8 rows"),
        ({"M": 1, "trans_b": False}, "gemm_multiply_reduce", "trans_b"),
    ],
)
def test_what_another_product_cannot_do(change: dict[str, Any], other: str, why: str) -> None:
    """The reason names what is in the way."""
    shape = {**load("gemm").problem("gfx942"), **change}

    found = forms("gemm")[other](shape)

    assert isinstance(found, str)
    assert why in found
