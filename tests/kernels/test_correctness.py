"""Every check of every bundled kernel gives the reference's result in Triton's interpreter."""

from collections.abc import Callable
from typing import Any

import pytest

from kprof.targets.library import catalogue

CHECKS = [pytest.param(e.name, check, id=f"{e.name}-{check}") for e in catalogue() for check in e.checks]


@pytest.mark.triton
@pytest.mark.parametrize(("kernel", "check"), CHECKS)
def test_result_is_within_tolerance(kernel: str, check: str, interpret: Callable[[str, str], dict[str, Any]]) -> None:
    """Each output element differs from the reference by no more than the kernel's stated tolerance."""
    answer = interpret(kernel, check)

    assert "error" not in answer, answer["error"]
    for name, output in answer["outputs"].items():
        assert output["ratio"] is not None, f"{name}: {output['why']}"
        assert output["ratio"] <= 1, f"{name}: {output['ratio']:.2f} x the tolerance, {output['why']}"
