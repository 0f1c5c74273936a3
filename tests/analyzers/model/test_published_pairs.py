"""Published times of GEMMs that differ in one thing: the model's ratio against the measured one, on an MI300X."""

from functools import cache

import pytest

from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.pipeline import analyze

pytestmark = pytest.mark.triton

TILE = {"BLOCK_M": 256, "BLOCK_N": 256, "BLOCK_K": 64, "SPLIT_K": 1, "num_warps": 8}

# ROCm/gfx950-gluon-tutorials at 81a011da1cc0, kernels/gemm/gfx942/README.md: fp16, M N K 4096 4864 4160, 8 warps.
BY_GROUP_M = {1: 267.8, 2: 269.1, 4: 264.8, 8: 265.2}
# ROCm/triton, branch main_perf, perf-kernels, streamk_fallback_tuned_configs.yaml: fp16, TN, 256 x 256 x 64; (M, N, K).
BY_ROW = {
    (4864, 4096, 4096): 279.65,
    (4864, 4096, 4160): 280.97,
    (4864, 4096, 4224): 285.08,
    (4864, 8192, 4096): 551.58,
    (4864, 8192, 4160): 557.09,
    (4864, 8192, 8192): 1052.7,
    (4864, 8192, 8256): 1092.9,
}


@cache
def predicted(m, n, k, group):
    """Microseconds of the bundled kernel."""
    shape = {"M": m, "N": n, "K": k}
    (kernel,) = load("gemm", CompileOptions(arch=("MI300X",), shape=shape, config={**TILE, "GROUP_M": group}))
    return analyze(kernel, model=True).model.time_us


def test_the_order_of_workgroups_changes_the_time_as_it_was_measured():
    """Groups of four and eight rows of tiles are the faster ones, by 1 to 2 % measured: nothing to be large."""
    own = {group: predicted(4096, 4864, 4160, group) for group in (1, 8)}

    assert own[8] < own[1]
    assert BY_GROUP_M[8] < BY_GROUP_M[1]
    assert own[1] / own[8] == pytest.approx(BY_GROUP_M[1] / BY_GROUP_M[8], rel=0.02)


@pytest.mark.parametrize(
    ("aligned", "padded"),
    [
        ((4864, 4096, 4096), (4864, 4096, 4160)),
        ((4864, 4096, 4096), (4864, 4096, 4224)),
        ((4864, 8192, 4096), (4864, 8192, 4160)),
        ((4864, 8192, 8192), (4864, 8192, 8256)),
    ],
)
def test_rows_at_multiples_of_512_bytes_cost_no_more_than_was_measured(aligned, padded):
    """A padded row was 1 % faster by operation at most, and 3 % slower once: the model charges the operations only."""
    assert 2 * aligned[2] % 512 == 0
    assert 2 * padded[2] % 512 != 0
    measured = BY_ROW[padded] / BY_ROW[aligned]

    assert predicted(*padded, 8) / predicted(*aligned, 8) == pytest.approx(measured, rel=0.035)
