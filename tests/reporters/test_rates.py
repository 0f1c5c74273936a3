"""The rate of the memory on the first screen: of the last level that is reached, or of one far nearer to its peak."""

import pytest

from kprof.document import KernelReport, Prediction
from kprof.reporters.answer import performance
from kprof.roofline import Roofline, RooflineLevel


def _kernel(arch: str, levels: list[tuple[str, float, float | None]]) -> KernelReport:
    roofline = Roofline(flops={}, peaks_tflops={}, levels=[RooflineLevel(*level) for level in levels])
    times = {"time_us": 100.0, "low_us": 80.0, "high_us": 130.0, "cycles": 1.0}
    model = Prediction(**times, bound="memory bandwidth", shares={}, loops=[], roofline=roofline)
    return KernelReport(name="k", arch=arch, triton="3.9.0", model=model)


@pytest.mark.parametrize(
    ("arch", "levels", "said"),
    [
        ("gfx942", [("l2", 3e8, 34_406.4), ("mall", 2e8, 17_200.0), ("hbm", 1e8, 5_300.0)], "1,000 of 5,300 GB/s HBM"),
        # 134 MB that are warm in 256 MiB: nothing comes from memory.
        ("gfx942", [("l2", 3e8, 34_406.4), ("mall", 2e8, 17_200.0)], "2,000 of 17,200 GB/s Infinity Cache"),
        ("gfx90a", [("l1", 4e8, 1e4), ("l2", 3e8, None), ("hbm", 0.0, 3_200.0)], "3,000 GB/s L2"),
        ("gfx1201", [("l2", 3e8, None), ("hbm", 4.8e7, 640.0)], "480 of 640 GB/s memory"),
        ("gfx942", [("lds", 3e8, None)], ""),
        # Nearly all of it stays in L2, at 9 % of its peak; the memory behind it is at 0.2 %.
        ("gfx942", [("l2", 3e8, 34_406.4), ("hbm", 1e6, 5_300.0)], "3,000 of 34,406 GB/s L2"),
        ("gfx942", [("l2", 3e8, 34_406.4), ("mall", 1e6, None)], "10 GB/s Infinity Cache"),
    ],
)
def test_the_last_level_that_is_reached_has_its_rate(arch, levels, said):
    """Bytes by 100 µs."""
    assert performance(_kernel(arch, levels)) == said
