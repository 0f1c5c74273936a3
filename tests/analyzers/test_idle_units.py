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


def test_more_parts_are_proposed_to_the_product_and_not_to_what_sums_them_up() -> None:
    """Splitting the reduction further gives the kernel behind it no workgroup more."""
    shape = {"M": 16, "N": 512, "K": 4096}
    config = {"BLOCK_M": 16, "BLOCK_N": 128, "BLOCK_K": 64, "SPLIT_K": 8, "num_warps": 2}
    found = kprof.analyze("gemm", arch="MI355X", shape=shape, config=config, try_cures=False).kernels
    knobs = {
        kernel.name: [
            advice.knob for finding in kernel.findings if finding.rule == "KP404" for advice in finding.advice
        ]
        for kernel in found
    }
    assert "SPLIT_K" in knobs["gemm"]
    assert "SPLIT_K" not in knobs["gemm::reduce"]
