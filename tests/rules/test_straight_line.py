"""Rules on kernels without a loop, compiled: each fires on one, not on its twin."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.pipeline import facts_of
from kprof_analyzers.rules import rules

pytestmark = pytest.mark.triton

FILE = Path(__file__).parent / "ab_kernels" / "elementwise.py"
SWIGLU = CompileOptions(
    arch=("gfx942",),
    signature="*fp16:16,*fp16:16,8192",
    constexpr={"BLOCK": 1024, "FORM": "halves"},
    config={"num_warps": 4},
    grid=(4096, 8, 1),
)
SCALED = CompileOptions(
    arch=("gfx942",),
    signature="*fp16:16,*fp16:16,fp32,32",
    constexpr={"BLOCK": 32},
    config={"num_warps": 4},
    grid=(262144, 1, 1),
)


@cache
def _facts(target, key):
    (kernel,) = load(target, _OPTIONS[key])
    return facts_of(kernel)[0]


_OPTIONS = {}


def findings(target, options):
    """Findings of one compile by rule; the same one is made once."""
    _OPTIONS[repr(options)] = options
    known = _facts(target, repr(options))
    found = {}
    for rule in rules():
        for finding in rule.analyze(known).findings:
            found.setdefault(finding.rule, []).append(finding)
    return found


def swiglu(form):
    """The gated unit in one of its forms."""
    return findings(f"{FILE}::swiglu", replace(SWIGLU, constexpr={**SWIGLU.constexpr, "FORM": form}))


def line_of(mark):
    """The line of the kernel file that ends in a comment."""
    return next(n for n, text in enumerate(FILE.read_text().splitlines(), 1) if text.endswith(f"# {mark}"))


def test_gate_and_up_that_alternate_in_memory():
    """One finding for both loads; none where each has a half of the row."""
    (found,) = swiglu("interleaved")["KP103"]
    assert found.location.line == line_of("gate")
    assert [place.line for place in found.related] == [line_of("up")]
    assert found.evidence["steps"] == {"0": "2"}
    assert "KP103" not in swiglu("halves")
    assert "KP101" not in swiglu("interleaved")


def test_natural_exponentials_and_full_divisions():
    """Both on the line that has them, neither with a power of two and a fast division."""
    found = swiglu("halves")
    assert {f.location.line for rule in ("KP506", "KP509") for f in found[rule]} == {line_of("silu")}
    assert found["KP509"][0].evidence["divisions"] == 4
    assert not {"KP506", "KP509"} & set(swiglu("fast"))


def test_lanes_that_all_do_the_same():
    """Eight copies with four wavefronts, none with a tile as large as the workgroup."""
    (found,) = findings(f"{FILE}::scaled", SCALED)["KP408"]
    assert found.evidence["copies"] == 8
    larger = replace(SCALED, constexpr={"BLOCK": 256}, signature="*fp16:16,*fp16:16,fp32,256")
    assert "KP408" not in findings(f"{FILE}::scaled", larger)


def test_lanes_that_a_mask_turns_off():
    """Half of a tile for rows of 520, none of it for 1,024."""
    options = CompileOptions(
        arch=("gfx942",),
        signature="*fp16:16,*fp16:16,520,528",
        constexpr={"BLOCK": 1024},
        config={"num_warps": 4},
        grid=(4096, 1, 1),
    )
    (found,) = findings(f"{FILE}::normed", options)["KP410"]
    assert found.location.line == line_of("masked")
    assert found.evidence == {"live": 0.508, "size": "n", "value": 520, "tile": 1024}
    whole = replace(options, signature="*fp16:16,*fp16:16,1024,1024")
    assert "KP410" not in findings(f"{FILE}::normed", whole)


def test_rows_whose_length_is_no_multiple_of_16():
    """All loads and stores of a layer norm are narrow for one reason: one finding; wide with four columns more."""
    options = CompileOptions(arch=("gfx942",), shape={"M": 2048, "N": 16380})
    (found,) = findings("layernorm", options)["KP101"]
    assert found.evidence["widths"] == {2: 128}
    assert (
        found.evidence["why"] == "stride is not known to be a multiple of 16, and its mask may change inside 16 bytes"
    )
    assert "96 loads and 32 stores" in found.message
    # No promise that the launch's own value breaks.
    assert found.fix.startswith("pad the rows to a multiple of 16 elements (stride 16,380 → 16,384) and type stride = ")
    # Once, of the loads and the store together. Older Tritons do not name the offsets that N is compared with.
    assert found.fix.count("tl.multiple_of(N_PADDED, 8)") == found.fix.count("load and store under") == 1
    assert "in place of the mask of layernorm.py:27, with a new argument (N_PADDED = 16384) to which" in found.fix
    assert found.evidence["divisible"] == ["stride", "N"]
    assert not {"KP101", "KP105"} & set(findings("layernorm", replace(options, shape={"M": 2048, "N": 16384})))
