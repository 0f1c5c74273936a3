"""What a conversion through LDS costs, on a compiled kernel."""

import pytest

from kprof.compiler.versions import installed
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.pipeline import analyze

pytestmark = pytest.mark.triton


FORMER = {"CHUNK": 128, "BLOCK_DK": 64, "num_stages": 1, "matrix_instr_nonkdim": 0}
"""A configuration with 32 x 32 instructions and no tile on its way."""


def test_a_conversion_in_a_loop_costs_what_its_lds_accesses_take():
    """Eight wavefronts make the general mLSTM convert its decay; that is a small share of its time."""
    if installed().numbers < (3, 9):
        pytest.skip("only the layouts of Triton 3.9 convert it")
    kernel = next(iter(load("mlstm_chunkwise", CompileOptions(arch=("MI300X",), config=FORMER | {"num_warps": 8}))))
    report = analyze(kernel, model=True)

    (found,) = (finding for finding in report.findings if finding.rule == "KP601")
    assert found.gain is not None
    assert 0 < found.gain.share < 0.2
    assert not found.gain.at_most
