"""Problems of one kernel as problems of another."""

from typing import Any

import pytest

pytest.importorskip("triton", reason="kernels are loaded")

from kprof.api.kernels import kernel
from kprof.reporters.select_text import lines, verdict
from kprof.targets.library import bundled, load
from kprof.tuning.choice.choose import other_inputs, select
from kprof.tuning.choice.model import ConsideredImplementation, ImplementationChoice
from kprof.tuning.choice.predicting import OtherInputs, forms

pytestmark = pytest.mark.triton
PAIRS = [(name, other) for name in bundled() for other in forms(name)]


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_every_case_becomes_a_whole_problem_or_a_reason(name: str, other: str) -> None:
    """A translated problem has all the parameters of the other kernel, and the same work."""
    kernel, target = load(name), load(other)
    for case in kernel.shapes:
        shape = kernel.problem("gfx942", case)
        answer = forms(name)[other](shape)
        if isinstance(answer, str):
            assert answer
            continue
        found = answer.shape if isinstance(answer, OtherInputs) else answer
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


def predicted_choice(kernel: str, ms: dict[str, float], needs: dict[str, str]) -> ImplementationChoice:
    """A choice of a kernel by predicted times, beside kernels for other inputs."""
    candidates = [
        ConsideredImplementation(name, "predicted", time, low_ms=time, high_ms=time, needs=needs.get(name, ""))
        for name, time in ms.items()
    ]
    return ImplementationChoice(
        kernel, "gfx942", {}, kernel, {"num_warps": 4}, "predicted", "", ms=ms[kernel], basis="predicted",
        candidates=candidates, device="MI300X",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("plain", "said", "in_verdict"),
    [
        (0.5, "flash_attention, which needs V stored by tokens, is predicted 2.00 times as fast", True),
        (2.0, "compared with flash_attention, which needs V stored by tokens, attention_lean is predicted 2.00", False),
        (0.99, "too close to distinguish, measure both on the GPU", False),
    ],
)
def test_a_special_form_is_compared_with_the_plain_kernel(plain: float, said: str, in_verdict: bool) -> None:
    """Behind, ahead or not told apart; only a plain kernel that is surely ahead is in the verdict."""
    times = {"attention_lean": 1.0, "flash_attention": plain}
    choice = predicted_choice("attention_lean", times, {"flash_attention": "V stored by tokens"})

    (sentence,) = other_inputs(choice)

    assert said in sentence
    assert (sentence in verdict(choice)) is in_verdict
    assert "needs V stored by tokens" in lines(choice)[-1]


@pytest.mark.parametrize("name", ["attention_int8", "attention_lean"])
def test_a_kernel_for_other_inputs_is_never_chosen(name: str) -> None:
    """It is predicted for comparison, even where it is ahead."""
    shape = {"form": "kv"} if name == "attention_int8" else {}

    choice = select(name, shape, "MI300X", predict=False)

    (plain,) = (one for one in choice.candidates if one.implementation == "flash_attention")
    assert plain.needs
    assert plain.ms is not None
    assert choice.implementation != "flash_attention"
    assert any("flash_attention" in note for note in choice.notes)


def test_the_list_of_kernels_compares_each_case() -> None:
    """``kprof list kernels attention_int8`` says where the form is ahead of the plain kernel."""
    facts = kernel("attention_int8")

    compared = {(one["product"], one["case"]): one["speedup"] for one in facts["comparisons"]}

    assert {case for product, case in compared if product == "MI300X"} == set(facts["cases"])
    assert compared["MI300X", "qkv_s4096_d128"] > 1.1
    assert kernel("softmax")["comparisons"] == []
