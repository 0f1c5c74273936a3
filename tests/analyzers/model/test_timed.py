"""A report gets the time of its kernel's launch, or stays as it is."""

from dataclasses import replace

import msgspec
import pytest
from msgspec import UNSET

from kprof.document import AutotunedChoice, KernelReport
from kprof.targets.loaded import LoadedKernel
from kprof_analyzers.model import timed
from kprof_analyzers.model.kernel import predict
from kprof_analyzers.model.timed import with_time
from kprof_analyzers.pipeline import facts_of

ADD = ["v_add_u32_e32 v0, v1, v2"]
REPORT = KernelReport(name="k", arch="gfx942")


@pytest.fixture
def loaded(kernel):
    """A kernel of one addition, as a target gives it."""
    facts = kernel(ADD)
    return LoadedKernel(
        facts.name, facts.arch, facts.program, facts.product, grid=(3040,), shared_bytes=0, num_warps=4
    )  # fmt: skip


def test_the_time_is_the_models_and_all_else_stays(loaded):
    found = with_time(REPORT, loaded)
    assert found.model == predict(facts_of(loaded)[0])
    assert found.model.time_us is not None
    assert msgspec.structs.replace(found, model=UNSET) == REPORT


def test_a_gpu_that_is_named_is_the_one_of_the_time(loaded):
    """Without a name it is the architecture's first one; the two have different clocks here."""
    slow = replace(loaded.product, clock_mhz=1000)
    assert with_time(REPORT, replace(loaded, product=slow)).model.clock_mhz == 1000
    first = next(iter(loaded.arch.products.values()))
    unnamed = with_time(REPORT, replace(loaded, product=None)).model
    assert unnamed == with_time(REPORT, replace(loaded, product=first)).model
    # It was chosen, not assumed by the model.
    assert unnamed.assumptions == []
    # An architecture without products leaves the time unknown, which is no crash.
    nowhere = replace(loaded, product=None, arch=replace(loaded.arch, products={}))
    assert with_time(REPORT, nowhere).model.time_us is None


def test_a_kernel_that_cannot_be_launched_has_no_time(loaded):
    """More wavefronts than a workgroup of 1024 work-items has: 17 of 64."""
    assert with_time(REPORT, replace(loaded, num_warps=16)).model is not UNSET
    assert with_time(REPORT, replace(loaded, num_warps=17)) is REPORT


def test_a_crash_of_the_model_leaves_the_report(loaded, monkeypatch):
    def crash(_):
        raise ZeroDivisionError

    monkeypatch.setattr(timed, "predict", crash)
    assert with_time(REPORT, loaded) is REPORT


def test_a_guess_at_the_iterations_is_no_time(loaded, kernel):
    loop = ["s_mov_b32 s0, 0", ".LBB0_1:", *ADD, "s_cmp_lt_i32 s0, 64", "s_cbranch_scc1 .LBB0_1"]
    found = with_time(REPORT, replace(loaded, program=kernel(loop).program)).model
    assert found.time_us is None
    assert found.loops[0].cycles_per_iteration > 0


def test_an_autotuners_choice_widens_the_range(loaded):
    """To the lowest time of the configurations that the model cannot tell apart."""
    choice = AutotunedChoice("BLOCK: 64", listed=4, timed=3, spread=2.0, tied=2, low_us=0.5)
    found = with_time(REPORT, replace(loaded, choice=choice))
    assert found.autotuned == choice
    assert found.model.low_us == 0.5
