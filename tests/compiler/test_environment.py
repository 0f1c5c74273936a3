"""Environment variables that change what Triton generates."""

import pytest

from kprof.compiler import environment
from kprof.errors import CompileError


@pytest.mark.triton
def test_a_variable_of_guides_that_triton_does_without_is_explained() -> None:
    """Not only refused: newer Triton does by itself what it asked for."""
    pytest.importorskip("triton")
    with pytest.raises(CompileError) as refused:
        environment.check({"OPTIMIZE_EPILOGUE": "1"})
    assert "without using LDS" in (refused.value.hint or "")
    with pytest.raises(CompileError) as refused:
        environment.check({"AMDGCN_USE_BUFFER_OP": "1"})
    assert "AMDGCN_USE_BUFFER_OPS" in (refused.value.hint or "")
    environment.check({"AMDGCN_USE_BUFFER_OPS": "1"})
