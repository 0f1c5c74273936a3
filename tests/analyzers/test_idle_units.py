"""CUs that stand still count where a launch takes longer than an empty one."""

from pathlib import Path

import pytest

import kprof

pytestmark = pytest.mark.triton

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def rows(x, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, COUNT):
        total += tl.load(x + i * BLOCK + at)
    tl.store(x + at, total)
"""


@pytest.mark.parametrize(("count", "expected"), [(1, False), (4096, True)])
def test_a_launch_that_hardly_takes_longer_than_an_empty_one(tmp_path: Path, count: int, expected: bool) -> None:
    """The same grid of four workgroups: a finding where it costs something."""
    (tmp_path / "rows.py").write_text(SOURCE, encoding="utf-8")
    (kernel,) = kprof.analyze(
        f"{tmp_path / 'rows.py'}::rows",
        arch="MI300X",
        signature="*fp32:16",
        constexpr={"COUNT": count, "BLOCK": 2048},
        grid=[4],
    ).kernels
    assert kernel.time_us is not None
    assert (kernel.time_us > 10) == expected
    assert any(finding.rule == "KP404" for finding in kernel.findings) == expected
