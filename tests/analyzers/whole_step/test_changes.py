"""What would pay: products of one input, narrow products, too few tiles, short launches; each fires and stays quiet."""

from dataclasses import replace

import pytest

from kprof.captures.model import CapturedOperator, ModelScope, TensorInfo
from kprof.hardware.machine import find_product
from kprof_analyzers.profiles.timeline.operators.rooflines import limits_of_product
from kprof_analyzers.whole_step.changes import every_change, joinable, library_kernels, short_launches, wasteful
from kprof_analyzers.whole_step.efficiency import operator_time
from kprof_analyzers.whole_step.operator_work import work_of_call
from kprof_analyzers.whole_step.timing import StepCall, TimedCall

MI300X = find_product("MI300X")
FORWARD = ModelScope("forward", "Net")


def tensor(*shape, dtype="bfloat16"):
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    return TensorInfo(dtype, shape, tuple(strides))


def product(rows, inner, columns, factor=7, batch=None, process=0, scope=FORWARD):
    """A product as `kprof profile` would have it, with its time by the fit."""
    lead = () if batch is None else (batch,)
    given = (tensor(*lead, rows, inner), tensor(*lead, inner, columns))
    name = "aten::mm" if batch is None else "aten::bmm"
    made = CapturedOperator(name, given, (tensor(*lead, rows, columns),), process, scope, factor=factor)
    work = work_of_call(made)
    time = operator_time(work.kind, work.work, limits_of_product(MI300X), work.tiles)
    timed = TimedCall(name, "", work.kind, time.us, time.low_us, time.high_us, time.bound, launch_us=4.0)
    return StepCall(timed, scope, process, 0, made)


def short(us, launch_us=4.0):
    timed = TimedCall("aten::add", "", "elementwise", us, us, us, "launch", launch_us=launch_us)
    return StepCall(timed, FORWARD, 0, 0, CapturedOperator("aten::add", (), ()))


def test_products_of_one_input_save_what_the_joined_one_takes_less():
    calls = [product(2048, 1024, 1024), product(2048, 1024, 256), product(2048, 1024, 256)]
    (change,) = joinable(calls, MI300X, 1000.0)
    joined = product(2048, 1024, 1536)
    assert change.us == pytest.approx(sum(call.timed.us for call in calls) - joined.timed.us)
    assert change.share == pytest.approx(change.us / 1000)
    assert (change.calls, change.at_most) == (3, False)
    assert "1,536 columns in place of 1,024 and 256 and 256" in change.what


def test_gate_and_up_are_joined_across_the_activation():
    (change,) = joinable([product(64, 4096, 14336), short(8.0), product(64, 4096, 14336)], MI300X, 1.0)
    assert change.calls == 2


@pytest.mark.parametrize(
    "other",
    [
        product(2048, 1024, 1024, factor=8),
        product(1024, 1024, 1024),
        product(2048, 1024, 1024, process=1),
        product(2048, 1024, 1024, scope=ModelScope("backward", "Net")),
        product(2048, 1024, 1024, factor=None),
    ],
    ids=["another input", "another shape", "another process", "another phase", "an input that is not known"],
)
def test_products_of_different_inputs_are_not_joined(other):
    assert list(joinable([product(2048, 1024, 1024), other], MI300X, 1000.0)) == []


def test_products_far_apart_are_not_joined():
    calls = [product(2048, 1024, 1024), *[short(4.0)] * 17, product(2048, 1024, 1024)]
    assert list(joinable(calls, MI300X, 1000.0)) == []


def test_narrow_batches_are_named_with_what_they_use():
    (change,) = wasteful([product(8, 64, 8, batch=40_000)] * 2, MI300X, 1000.0)
    assert "uses 25 % of a matrix instruction" in change.what
    assert (change.calls, change.at_most) == (2, True)
    one = product(8, 64, 8, batch=40_000).timed
    assert change.us == pytest.approx(2 * (one.us - 4.0) * 0.75)


def test_few_tiles_lose_what_the_fit_says():
    (change,) = wasteful([product(512, 65536, 512)], MI300X, 1000.0)
    assert "16 tiles of 128x128 for 304 compute units" in change.what
    assert 0 < change.us < product(512, 65536, 512).timed.us


def test_full_products_waste_nothing():
    """A row more than whole tiles is none that any measurement shows."""
    wide = [product(8192, 4096, 4096), product(8193, 4096, 4096), product(64, 128, 64, batch=4096)]
    assert list(wasteful(wide, MI300X, 1000.0)) == []


def test_library_kernels_could_save_what_is_above_the_limit():
    """The limit by hand: operations over MI300X's peak of bf16 (1,307.4 TFLOP/s)."""
    calls = [product(8192, 4096, 8192)] * 2 + [product(4096, 4096, 4096), short(4.0)]
    (change,) = library_kernels(calls, MI300X, 1000.0)
    least = (2 * 2 * 8192 * 4096 * 8192 + 2 * 4096**3) / 1307.4e6
    assert change.us == pytest.approx(sum(call.timed.us for call in calls[:3]) - least, rel=1e-3)
    assert (change.calls, change.at_most) == (3, True)
    assert change.what.startswith("PYTORCH_TUNABLEOP_ENABLED=1 python PROGRAM (")
    assert "if each product reached the GPU's limit; most in mm" in change.sure


def test_no_library_kernel_shortens_what_a_call_takes_whatever_its_size():
    """The same calls, bound by the call itself: another kernel does not help."""
    calls = [product(8192, 4096, 8192), product(4096, 4096, 4096)]
    fixed = [replace(call, timed=replace(call.timed, bound="launch")) for call in calls]
    assert list(library_kernels(fixed, MI300X, 1000.0)) == []
    (change,) = library_kernels([calls[0], fixed[1]], MI300X, 1000.0)
    assert change.calls == 1


def test_many_short_launches_count_together():
    (change,) = short_launches([*[short(6.0)] * 30, short(100.0)], 280.0)
    assert (change.us, change.calls, change.at_most) == (29 * 4.0, 30, True)
    assert change.what.startswith("torch.compile(model) (fewer and larger launches")
    assert change.now_us == 180.0


def test_short_launches_are_named_by_the_time_that_they_take():
    """Not by their number, and a call's operator without its namespace."""
    named = [replace(short(6.0), timed=replace(short(6.0).timed, name=name)) for name in ("aten::sum", "aten::pow")]
    brief = replace(short(1.0), timed=replace(short(1.0).timed, name="aten::add"))
    (change,) = short_launches([named[0]] * 20 + [named[1]] * 10 + [brief] * 30, 280.0)
    assert "most in sum, pow, add;" in change.sure


def test_what_is_compiled_is_not_compiled_again():
    """Calls by code that ``torch.compile`` generated; of other calls there are too few here."""
    compiled = replace(short(6.0), scope=ModelScope("forward", "Net", compiled=True))
    assert list(short_launches([*[compiled] * 40, *[short(6.0)] * 10], 300.0)) == []


def test_an_optimizer_is_not_compiled_with_the_model():
    """Its operators on lists do not count among the launches that ``torch.compile(model)`` could join."""
    optimizer = replace(short(6.0), timed=replace(short(6.0).timed, name="aten::_foreach_mul_"))
    (change,) = short_launches([*[short(6.0)] * 30, *[optimizer] * 40], 480.0)
    assert (change.us, change.calls) == (29 * 4.0, 30)
    assert list(short_launches([optimizer] * 40, 240.0)) == []


def test_few_or_long_launches_are_not_worth_a_word():
    assert list(short_launches([short(6.0)] * 19, 200.0)) == []
    assert list(short_launches([short(9.0)] * 100, 900.0)) == []
    unknown = replace(short(1.0), timed=TimedCall("aten::sort", "", "", why="nothing is known of it"))
    assert list(short_launches([unknown] * 100, 900.0)) == []


def test_a_kernel_s_finding_has_what_to_do_about_it():
    """Calls with the same words count together; where nothing is known to do, the finding stands alone."""

    def call(name, fix):
        timed = TimedCall(name, "", "triton", 100.0, 80.0, 120.0, finding=("KP404 few", 40.0, True), fix=fix)
        return replace(short(1.0), timed=timed)

    calls = [call("scan", "BLOCK 64 → 16"), call("scan", "BLOCK 64 → 16"), call("copy", "")]
    whole = every_change(calls)
    assert [(one.what, one.us, one.calls, one.at_most) for one in whole] == [
        ("scan: KP404 few: BLOCK 64 → 16", 80.0, 2, True),
        ("copy: KP404 few", 40.0, 1, True),
    ]
