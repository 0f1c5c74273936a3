"""Predictions for kernels that Triton compiled: what is known of the launch is used."""

from dataclasses import replace
from math import ceil

import pytest

from kprof.condition import FLUSHED
from kprof.options.groups import CompileOptions
from kprof.targets.resolver import load
from kprof_analyzers.model import predict
from kprof_analyzers.pipeline import facts_of

pytestmark = pytest.mark.triton


def facts(kernel, shape):
    """A bundled kernel, compiled for the MI300X."""
    (loaded,) = load(kernel, CompileOptions(arch=("MI300X",), shape=shape))
    return facts_of(loaded)[0]


def test_a_product_is_bound_by_its_matrix_units_and_knows_its_iterations():
    """The loop over K, one iteration of which is peeled for the loads ahead."""
    found = replace(facts("gemm", {"M": 4096, "N": 4096, "K": 4096}), condition=FLUSHED)
    prediction = predict(found)
    steps = ceil(4096 / found.specialization.constexprs["BLOCK_K"])
    (loop,) = prediction.loops
    flops = 2 * 4096**3

    assert prediction.bound == "matrix"
    assert loop.trips_known
    assert steps - 2 <= loop.trips <= steps
    assert not any("iterations" in line for line in prediction.assumptions)
    assert flops / (prediction.time_us * 1e6) < found.product.peaks["matrix_fp16"]
    # Each tile of A and B is needed once at least, and never more often than without any sharing.
    assert 2 * 4096**2 * 2 * 1.0 <= prediction.traffic["hbm"] <= prediction.traffic["l2"]


def test_a_copy_moves_its_bytes_at_the_memory_s_bandwidth():
    """No loop, no product: bytes over bandwidth, and not below it."""
    found = facts("memory_copy", {})
    prediction = predict(found)

    assert prediction.bound == "memory bandwidth"
    assert not prediction.loops
    assert 60 < prediction.speed_of_light_percent < 100
