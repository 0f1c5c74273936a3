"""Kernels that make several launches: every one of them is compared, by the gate and by a comparison."""

import datetime as dt

import msgspec
import pytest

from kprof.diffing.comparing import Input, diff
from kprof.diffing.limits import DiffLimits
from kprof.document import KernelReport, Occupancy, Prediction, Resources
from kprof.gate.baseline import Baseline, updated
from kprof.gate.config import Config, KernelEntry
from kprof.gate.judge import Gate
from kprof.gate.subject import CheckSubject
from kprof.targets.library import catalogue
from kprof_analyzers.verdict import jobs_of

LAUNCHES = {one.name: (one.name, *(f"{one.name}::{part}" for part in one.parts)) for one in catalogue() if one.parts}
EACH = [(kernel, launch) for kernel, launches in LAUNCHES.items() for launch in launches]


def report(job, name, time_us=100.0, spills=0):
    """One launch of a call."""
    return KernelReport(
        name=name,
        arch="gfx942",
        product="MI300X",
        triton="3.9.0",
        job=job,
        resources=Resources(
            vgpr_spills=spills, sgpr_spills=0, scratch_bytes=4 * spills, lds_bytes=0, vgpr_allocated=64, sgpr=32
        ),
        occupancy=Occupancy(8, 8, 2, "vgpr", {}),
        model=Prediction(time_us, time_us / 2, time_us * 2, 1000.0, "vector", {"vector": 1.0}),
        instructions={"v_add_f32": 100},
    )


def call(kernel, changed="", **changes):
    """All launches of a kernel, one of them changed."""
    return [report(kernel, name, **(changes if name == changed else {})) for name in LAUNCHES[kernel]]


def check(tmp_path, before, after):
    """The gate's verdict on a call."""
    entry = KernelEntry(target=str(before[0].job))
    baseline = updated(Baseline(), [CheckSubject(entry, one) for one in before])
    gate = Gate(Config(), baseline, dt.date(2026, 6, 15), tmp_path)
    return gate.judge([CheckSubject(entry, one) for one in after]).verdict


def test_fourteen_bundled_kernels_have_parts():
    assert len(LAUNCHES) == 14


@pytest.mark.parametrize(("kernel", "launch"), EACH)
def test_a_spill_in_any_launch_is_a_regression(tmp_path, kernel, launch):
    before, after = call(kernel), call(kernel, launch, spills=771)
    found = check(tmp_path, before, after)
    assert found.status == "regression"
    assert f"{launch} on gfx942: 771 VGPRs spilled" in found.summary
    compared = diff([Input("old", before), Input("new", after)], DiffLimits())
    assert compared.verdict.status == "regression"
    assert [kernel.name for kernel in compared.kernels if kernel.status == "worse"] == [launch]


@pytest.mark.parametrize(("kernel", "launch"), EACH)
def test_a_launch_that_the_baseline_lacks_cannot_be_told(tmp_path, kernel, launch):
    before = [one for one in call(kernel) if one.name != launch]
    entry = KernelEntry(target=kernel)
    baseline = updated(Baseline(), [CheckSubject(entry, one) for one in before])
    document = Gate(Config(), baseline, dt.date(2026, 6, 15), tmp_path).judge(
        [CheckSubject(entry, one) for one in call(kernel)]
    )
    assert document.verdict.status == "cannot_tell"
    assert launch in document.verdict.summary


def test_a_slower_launch_is_a_regression_for_both(tmp_path):
    before = call("attention_forward_backward")
    after = call("attention_forward_backward", "attention_forward_backward::backward_keys", time_us=3800.0)
    assert check(tmp_path, before, after).status == "regression"
    assert diff([Input("old", before), Input("new", after)], DiffLimits()).verdict.status == "regression"


def test_times_that_the_model_cannot_tell_apart_are_no_regression(tmp_path):
    before = call("attention_forward_backward")
    after = call("attention_forward_backward", "attention_forward_backward::backward_keys", time_us=101.0)
    assert check(tmp_path, before, after).status == "ok"
    assert diff([Input("old", before), Input("new", after)], DiffLimits()).verdict.status == "ok"


def test_work_may_move_from_one_launch_to_another(tmp_path):
    entry, queries, keys, *others = LAUNCHES["attention_forward_backward"]
    before = call("attention_forward_backward")
    after = [report(entry, entry), report(entry, queries, 180.0), report(entry, keys, 20.0)]
    after += [report(entry, other) for other in others]
    assert check(tmp_path, before, after).status == "ok"


def test_times_of_two_products_are_not_compared():
    before, after = report("k", "k"), msgspec.structs.replace(report("k", "k", 3800.0), product="MI325X")
    found = diff([Input("old", [before]), Input("new", [after])], DiffLimits())
    assert "model_us" not in {change.metric for change in found.kernels[0].steps[0].changes}


def test_a_baseline_of_another_gpu_says_so(tmp_path):
    """The work of a wavefront is compared instead of the time, and the verdict gives the reason."""
    before, after = [report("k", "k")], [msgspec.structs.replace(report("k", "k", 3800.0), product="MI325X")]
    found = check(tmp_path, before, after)
    assert found.status == "ok"
    words = "matrix instructions compared in all checks (the baseline's times are for another GPU)"
    assert found.summary.endswith(f"; executed instructions, bytes moved and {words}")
    assert check(tmp_path, before, before).summary.endswith("predicted time compared in all checks")


def test_two_calls_of_one_kernel_are_two_jobs():
    """Two cases of an entry: the launches of one must not be added to those of the other."""
    first, second = jobs_of([*call("gemm"), *call("gemm", "gemm", time_us=300.0)])
    number = len(LAUNCHES["gemm"])
    assert first.launches == list(range(number))
    assert second.launches == list(range(number, 2 * number))
    assert second.time_us == first.time_us + 200.0
