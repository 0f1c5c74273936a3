"""The next step behind a verdict: what to type, and what it could bring."""

import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from kprof.api.trace.ops import TraceOps
from kprof.inputs.torch_profiler.model import TraceInfo
from kprof.reporters import profile_text, select_text
from kprof.tuning.choice import ConsideredImplementation, ImplementationChoice
from kprof_analyzers.model.certainty import certainty
from kprof_analyzers.profiles.timeline.operators.rooflines import OperatorRoofline, OperatorTable, RooflineLimits
from kprof_analyzers.whole_step.cures import ATTENTION, FUSE, LIBRARY_CURES
from kprof_analyzers.whole_step.document import UNSEARCHED, ProfileChange, ProfileDocument, ProfiledRow

RECORDED = Path(__file__).parent / "screens" / "recorded" / "profile.json"


def profiled(**changes):
    """The recorded profile, of a step of 595 us, with other values."""
    return replace(msgspec.json.decode(RECORDED.read_bytes(), type=ProfileDocument), **changes)


def step_of(document):
    """What stands behind ``next:``."""
    verdict = profile_text.verdict(document)
    return verdict.partition("; next: ")[2]


def row(name, kind, us):
    return ProfiledRow(name, "", kind, "", "", "", 4, us, us, us, share=0.9, bound="matrix_fp16")


def test_the_largest_change_comes_first_with_the_program_that_ran():
    change = ProfileChange(
        "PYTORCH_TUNABLEOP_ENABLED=1 python PROGRAM (times kernels)", 210.0, 0.35, 4, at_most=True, sure="if all did"
    )
    document = profiled(program=["python", "my step.py"], changes=[change], us=600.0)
    assert step_of(document) == (
        "PYTORCH_TUNABLEOP_ENABLED=1 python 'my step.py' (times kernels; gain not known, at most 0.21 of 0.6 ms by the "
        "model, if all did)"
    )


def test_a_triton_kernel_that_nobody_searched_has_the_search_as_its_step():
    """Unless another change is worth 5 % of the step."""
    note = f"{UNSEARCHED}kprof profile --advise 60 -- python step.py"
    document = profiled(rows=[row("gemm", "triton", 500.0)], changes=[], notes=[note], us=600.0)
    assert step_of(document) == (
        "kprof profile --advise 60 -- python step.py (compiles other configurations of gemm; "
        "gain not known, at most 0.5 of 0.6 ms, all that it takes)"
    )
    change = ProfileChange("fuse mul, add", 60.0, 0.1, 4, at_most=True)
    assert step_of(replace(document, changes=[change])).startswith("fuse mul, add (gain not known, at most 0.06 of")
    assert step_of(replace(document, changes=[replace(change, share=0.01)])).startswith("kprof profile --advise 60")


def test_without_a_bound_the_gain_is_not_known(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["kprof", "profile", "--", "python", "step.py"])
    document = profiled(rows=[row("aten::mm", "product", 500.0)], changes=[], notes=[])
    assert step_of(document) == (
        "kprof profile --by module,shapes -- python step.py (where mm is called, with which shapes; gain not known)"
    )
    assert "90 % of it in mm, limited by the fp16 matrix peak; " in profile_text.verdict(document)
    assert step_of(replace(document, rows=[])) == ""


def considered(name, ms, **more):
    return ConsideredImplementation(name, "predicted", ms, 0.8 * ms, 1.5 * ms, {"BLOCK": 64}, **more)


def chosen(**changes):
    choice = ImplementationChoice(
        "gemm", "gfx942", {"M": 64, "N": None}, "gemm", {"BLOCK": 64}, "predicted", "fastest of 2 predicted", ms=0.2,
        device="MI300X", basis="predicted",
        candidates=[considered("gemm", 0.2, bound="lds (gemm::sum)"), considered("gemm_streamk", 0.3)],
    )  # fmt: skip
    return replace(choice, **changes)


def test_a_choice_says_what_limits_it_what_it_beats_and_how_sure_that_is():
    sure = f"{100 * certainty(1.5, 'gfx942'):.0f} % sure"
    assert select_text.verdict(chosen()) == (
        "use gemm on MI300X: 200 µs predicted (likely 160 to 300 µs), most of it on LDS accesses (gemm::sum); 1.50 "
        f"times as fast as gemm_streamk (300 µs, {sure}); next: kprof tune gemm --arch MI300X --shape M=64 "
        "(compares other configurations; gain not known)"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rule": "exact", "basis": "measured", "reason": "at M=64"}, "200 µs (measured); at M=64; next"),
        ({"rule": "default", "basis": "unknown", "ms": None, "reason": "no time"}, "time not known; no time; next"),
        ({"rule": "published", "reason": "published as 1.1 times as fast as x (case y): z"}, "x; by the model 1.50"),
        ({"implementation": "gemm_streamk", "ms": 0.3, "reason": "not distinguished from gemm"}, "not distinguished"),
    ],
)  # fmt: skip
def test_other_choices_say_how_they_are_known(changes, words):
    assert words in select_text.verdict(chosen(**changes))


def test_another_library_has_no_configuration_to_compare():
    assert "next:" not in select_text.verdict(chosen(implementation="torch", config={}))


def operator(name, total, lost, bound="matrix_bf16"):
    return OperatorRoofline(
        name, "4x4", "bf16", 1, 1, total, bound=bound, least_ns=total - lost, lost_ns=lost, share=0.5
    )


def test_operators_with_one_cure_are_one_step():
    """A library's kernel can save the time above the limit, fusing an operator all of it."""
    rows = [
        operator("aten::mm", 4_000_000, 3_000_000),
        operator("aten::addmm", 2_000_000, 1_500_000),
        operator("aten::add", 5_000_000, 1_000_000, "HBM"),
        operator("aten::_convolution", 100_000, 50_000),
    ]
    limits = RooflineLimits("MI300X", 5.3e12, {"matrix_bf16": 1.3e15})
    found = list(TraceOps.advice(OperatorTable(TraceInfo("trace.json"), limits, rows, 20_000_000, 0, 0, False, ())))
    assert [(each.text, each.saves_ns) for each in found[:2]] == [
        (FUSE.text, 5_000_000),
        (LIBRARY_CURES["product"].text, 4_500_000),
    ]
    assert found[1].step.endswith(
        "; gain not known, at most 4.500 of 20.00 ms, if each reached its limit; most in mm 4x4)"
    )
    assert LIBRARY_CURES["convolution"].text not in [each.text for each in found]


def test_attention_in_steps_is_one_cure():
    """Gained is all but the operations of products that they limit: 1 ms lost of one, all 2 ms of the other, 5 ms."""
    limits = RooflineLimits("MI300X", 5.3e12, {"matrix_bf16": 1.3e15}, ())

    def row(name, shapes, total_ns, lost_ns, bound):
        return OperatorRoofline(name, shapes, "bf16", 1, 1, total_ns, bound=bound, lost_ns=lost_ns)

    rows = [
        row("aten::bmm", "96x1024x64 96x64x1024", 3_000_000, 1_000_000, "matrix_bf16"),
        row("aten::_softmax", "8x12x1024x1024", 5_000_000, 4_000_000, "HBM"),
        row("aten::bmm", "96x1024x1024 96x1024x64", 2_000_000, 500_000, "HBM"),
        row("aten::gelu", "8x1024x3072", 2_000_000, 1_000_000, "HBM"),
    ]
    table = OperatorTable(TraceInfo("trace.json"), limits, rows, 20_000_000, 0, 0, False, ())
    assert [(each.text, each.saves_ns) for each in TraceOps.advice(table)] == [
        (ATTENTION.text, 8_000_000),
        (FUSE.text, 2_000_000),
    ]
