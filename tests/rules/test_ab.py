"""One thing is changed in a real kernel: exactly the rule that watches it speaks up, on the line it is about."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kprof.compiler.versions import installed
from kprof.findings import Location
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.pipeline import analyze

pytestmark = pytest.mark.triton

FILE = Path(__file__).parent / "ab_kernels" / "product.py"
PRODUCT = CompileOptions(
    arch=("gfx942",),
    signature="*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,i32:16,i32:16",
    constexpr={"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "B_ROWS": False},
    config={"num_warps": 4, "num_stages": 2, "matrix_instr_nonkdim": 16, "kpack": 2},
)
SMALL = replace(PRODUCT, constexpr={**PRODUCT.constexpr, "BLOCK_M": 64})
SUMS = CompileOptions(
    arch=("gfx942",),
    signature="*fp16:16,*fp32:16,i32:16,i32:16",
    constexpr={"BLOCK": 2048, "RAGGED": False},
    config={"num_warps": 4},
)


def changed(options, **changes):
    """Options with other constexprs, knobs, or another signature."""
    signature = changes.pop("signature", options.signature)
    constexprs = {k: changes.pop(k) for k in list(changes) if k in options.constexpr}
    return replace(
        options,
        signature=signature,
        constexpr={**options.constexpr, **constexprs},
        config={**options.config, **changes},
    )


@cache
def _findings(function, key):
    (kernel,) = load(f"{FILE}::{function}", _OPTIONS[key])
    return analyze(kernel).findings


_OPTIONS = {}


def findings(function, options):
    """What kprof finds in one compile; the same one is made once."""
    key = repr(options)
    _OPTIONS[key] = options
    return _findings(function, key)


def line_of(mark):
    """The line of the kernel file that ends in a comment."""
    return next(n for n, text in enumerate(FILE.read_text().splitlines(), 1) if text.endswith(f"# {mark}"))


CASES = {
    "spill": ("product", PRODUCT, {"waves_per_eu": 4}, {"KP301", "KP306"}, None),
    "ragged mask": ("row_sums", SUMS, {"RAGGED": True}, {"KP101"}, "masked"),
    "missing divisibility": ("row_sums", SUMS, {"signature": "*fp16:16,*fp32:16,i32:16,i32"}, {"KP101"}, "plain"),
    "transposed operand": ("product", replace(PRODUCT, arch=("gfx90a",)), {"B_ROWS": True}, {"KP603"}, "transposed"),
    "oversized tile": ("product", PRODUCT, {"BLOCK_K": 256}, {"KP401"}, None),
    "num_stages dropped": ("product", SMALL, {"num_stages": 1}, {"KP207"}, "product"),
}


@pytest.mark.parametrize("name", CASES)
def test_one_change_brings_one_rule(name):
    """New findings of the changed kernel are those of the expected rule alone, on the expected line."""
    function, options, changes, expected, mark = CASES[name]
    before, after = findings(function, options), findings(function, changed(options, **changes))
    known = {finding.rule for finding in before}
    new = [finding for finding in after if finding.rule not in known]
    if name == "num_stages dropped" and (3, 5) <= installed().numbers < (3, 8):
        # LLVM of that time copies the accumulators of such a loop.
        new = [finding for finding in new if finding.rule != "KP304"]
    assert {finding.rule for finding in new} == expected
    if mark is None:
        # Where the compiler spills is its own choice, but it is in the loop.
        loop = range(line_of("loop"), line_of("product") + 1)
        assert all(f.location.line in loop for f in new if isinstance(f.location, Location))
    else:
        assert {f.location.line for f in new if isinstance(f.location, Location)} == {line_of(mark)}


def test_spills_through_buffer_instructions_are_no_narrow_loads():
    """gfx90a reaches scratch with ``buffer_load_dword``: a spill, and nothing to load wider."""
    spilled = findings("product", changed(replace(PRODUCT, arch=("gfx90a",)), waves_per_eu=6))
    assert {"KP301", "KP101"} & {finding.rule for finding in spilled} == {"KP301"}


def test_narrow_loads_say_why():
    """A mask and a missing divisibility are told apart, and the argument is named; both where both are there."""
    ragged = findings("row_sums", changed(SUMS, RAGGED=True))
    unknown = findings("row_sums", changed(SUMS, signature="*fp16:16,*fp32:16,i32:16,i32"))
    both = findings("row_sums", changed(SUMS, RAGGED=True, signature="*fp16:16,*fp32:16,i32:16,i32"))
    why = [next(f.evidence["why"] for f in found if f.rule == "KP101") for found in (ragged, unknown, both)]
    mask, stride = "its mask may change inside 16 bytes", "stride is not known to be a multiple of 16"
    assert why == [mask, stride, f"{stride}, and {mask}"]


def test_the_unchanged_kernels_have_no_warnings():
    """What the changes are measured against is clean itself."""
    for options in (PRODUCT, SMALL):
        assert [f.rule for f in findings("product", options) if f.severity.value != "note"] == []


@pytest.mark.triton("3.6.", "3.7.", "3.8.", "3.9.")
def test_no_stage_is_compiled_like_one():
    """KP207 goes from ``num_stages`` 0 to 2, because 0 and 1 give the same code. Triton 3.4 refuses 0."""
    (zero,) = load(f"{FILE}::product", changed(SMALL, num_stages=0))
    (one,) = load(f"{FILE}::product", changed(SMALL, num_stages=1))
    assert zero.stages["ttgir"] == one.stages["ttgir"]
    assert zero.stages["amdgcn"] == one.stages["amdgcn"]
    (finding,) = [finding for finding in findings("product", changed(SMALL, num_stages=0)) if finding.rule == "KP207"]
    assert [(advice.knob, advice.from_, advice.to) for advice in finding.advice] == [("num_stages", 0, 2)]
