"""Evidence names the compiler pass that did something, or that ran and left it; from real compiles."""

import re
from dataclasses import replace
from functools import cache

import pytest

from kprof.compiler.versions import installed
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.compiler_passes import NOT_RECORDED
from kprof_analyzers.pipeline import facts_of
from kprof_analyzers.rules import rules

pytestmark = pytest.mark.triton

OPTIONS = {
    "no buffers": ("gemm", CompileOptions(arch=("gfx942",), env={"AMDGCN_USE_BUFFER_OPS": "0"})),
    "no copies": ("gemm", CompileOptions(arch=("gfx950",), env={"TRITON_HIP_USE_ASYNC_COPY": "0"})),
    "bias": (
        "attention_varlen",
        CompileOptions(arch=("gfx942",), shape={"bias": True, "lengths": "ragged", "D": 64}, config={"num_stages": 2}),
    ),
}


@cache
def facts(name):
    """One compile with its passes."""
    target, options = OPTIONS[name]
    (kernel,) = load(target, replace(options, passes=True))
    return facts_of(kernel)[0]


def evidence(rule, known):
    """What a rule's findings say of the pass."""
    (found,) = (r for r in rules() if r.id == rule)
    return [finding.evidence["pass"] for finding in found.analyze(known).findings]


def test_buffer_operations_that_are_off():
    """One finding for the kernel; the pass did not run."""
    assert evidence("KP102", facts("no buffers")) == ["tritonamdgpu-convert-buffer-ops did not run"]


def test_copies_that_the_pipeliner_did_not_make():
    """On both operands' lines; newer versions print the pass's options."""
    found = evidence("KP605", facts("no copies"))
    assert len(found) == 2
    assert all(re.match(r"tritonamdgpu-(stream-)?pipeline .*\(pass \d+\) ran and made none on line", s) for s in found)
    if installed().numbers >= (3, 9):
        assert all("use_async_copy=false" in s for s in found)


def test_a_load_that_the_pipeliner_left():
    """The bias of an attention, which is no operand of its own."""
    found = evidence("KP604", facts("bias"))
    # Triton 3.4 pipelines it.
    assert len(found) == (installed().numbers >= (3, 6))
    assert all(re.search(r"pipeline .*\(pass \d+\) ran and made none on line \d+", s) for s in found)


def test_a_conversion_has_a_maker_and_passes_that_left_it():
    """Conversions of the scores, for the bias and for the mask."""
    found = evidence("KP601", facts("bias"))
    assert found
    assert all(
        re.fullmatch(r"[\w-]+ \(pass \d+\), left by tritongpu-remove-layout-conv\S+ \(pass.*\)", s) for s in found
    )


def test_without_passes_it_says_how_to_get_them():
    """Never silently nothing."""
    assert set(evidence("KP601", replace(facts("bias"), history=None))) == {NOT_RECORDED}


def test_counts_follow_a_line():
    """The pipeliner makes two LDS buffers of a GEMM; both lines got one."""
    history = facts("no copies").history
    made = [(run.name, before, after) for run, before, after in history.counts("ttg.local_alloc")]
    assert made[0][1:] == (0, 2)
    assert made[0][0].endswith("pipeline")
    lines = {op.user_frame.line for op in facts("no copies").ttgir.named("ttg.local_alloc")}
    assert all(history.counts("ttg.local_alloc", line)[0][2] == 1 for line in lines)
