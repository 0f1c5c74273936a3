"""A product as if it had been measured, and kernels with given counters."""

import pytest

from kprof.hardware import machine as hardware
from kprof_analyzers.profiles.counters.kernels import KernelCounters
from kprof_analyzers.profiles.counters.machine import MeasuredGpu, _constants


@pytest.fixture
def gpu():
    """``gpu("MI300X")``."""

    def make(name: str = "MI300X") -> MeasuredGpu:
        product = hardware.find_product(name)
        arch = hardware.load(product.arch)
        constants = _constants(arch, product, product.compute_units, product.xcds, product.clock_mhz)
        return MeasuredGpu(arch, product, product.compute_units, product.xcds, constants, "test")

    return make


@pytest.fixture
def kernel():
    """``kernel({"SQ_WAVES": 1})``, one dict a pass."""

    def make(*passes: dict[str, float], nanoseconds: float | None = 1000.0) -> KernelCounters:
        return KernelCounters("k", 1, nanoseconds, passes)

    return make
