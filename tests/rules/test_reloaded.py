"""Rules on reloaded tiles and slow functions, compiled: each fires on one kernel, not on its twin."""

from pathlib import Path

import pytest

from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.pipeline import analyze

pytestmark = pytest.mark.triton

FILE = Path(__file__).parent / "ab_kernels" / "reloaded.py"


def findings(function: str, **options):
    """Rule to finding of a compiled kernel."""
    (kernel,) = load(f"{FILE}::{function}", CompileOptions(arch=("MI300X",), **options))
    return {finding.rule: finding for finding in analyze(kernel, model=True).findings}


@pytest.mark.parametrize("before", [False, True])
def test_weights_in_a_loop_over_rows(before):
    """The stores of the loop keep the compiler from taking them out; loaded before, they are loaded once."""
    signature, constexprs = "*fp16:16,*fp16:16,*fp16:16,4096", {"N": 4096, "BEFORE": before}
    found = findings("rows", signature=signature, constexpr=constexprs, grid=(304, 1, 1))

    assert ("KP106" in found) is not before
    if not before:
        assert found["KP106"].location.line == 15
        assert found["KP106"].evidence["loads"] == 2
        assert found["KP106"].gain is not None


@pytest.mark.parametrize("slow", [True, False])
def test_functions_of_the_transcendental_unit(slow):
    """Each of 16 elements a lane has four of them; multiplications have none."""
    signature, constexprs = "*fp16:16,*fp16:16", {"BLOCK": 4096, "SLOW": slow}
    found = findings("gates", signature=signature, constexpr=constexprs, grid=(16384, 1, 1))

    assert ("KP510" in found) is slow
    if slow:
        assert found["KP510"].evidence["instructions"] == 64
        assert found["KP510"].gain.at_most
