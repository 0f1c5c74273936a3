"""Operators that could be one kernel."""

from kprof.captures.model import CapturedOperator, ModelScope, TensorInfo
from kprof_analyzers.whole_step.changes import changes_of, fusable
from kprof_analyzers.whole_step.table import rows_of
from kprof_analyzers.whole_step.timing import StepCall, TimedCall

FORWARD, BACKWARD = ModelScope("forward", "Net"), ModelScope("backward", "")
LARGE, SMALL = TensorInfo("float32", (64, 64), (64, 1)), TensorInfo("float32", (64,), (1,))


def call(name, us, taken=LARGE, given=LARGE, scope=FORWARD, kind="elementwise"):
    made = CapturedOperator(name, (taken,), (given,))
    timed = TimedCall(
        name, "64x64", kind, us, us and us / 2, us and us * 2, "HBM", "" if us else "nothing is known of it"
    )
    return StepCall(timed, scope, 0, 0, made)


def test_a_run_saves_all_but_its_longest():
    assert fusable([call("aten::mul", 3.0), call("aten::add", 5.0), call("aten::exp", 2.0)]) == [
        ("torch.compile(model) (it fuses mul, add, exp)", 5.0, 3)
    ]


def test_what_ends_a_run():
    for between in (
        call("aten::mm", 9.0, kind="product"),
        call("aten::mul", 1.0, taken=SMALL, given=SMALL),
        call("aten::mul", 1.0, scope=BACKWARD, taken=SMALL, given=SMALL),
        call("aten::sort", None),
    ):
        assert fusable([call("aten::mul", 3.0), between, call("aten::add", 5.0)]) == []


def test_what_is_compiled_is_not_fused_again():
    compiled = ModelScope("forward", "Net", compiled=True)
    assert fusable([call("aten::mul", 3.0, scope=compiled), call("aten::add", 5.0, scope=compiled)]) == []
    assert fusable([call("aten::mul", 3.0), call("aten::add", 5.0, scope=compiled)]) == []


def test_phases_are_not_fused():
    assert fusable([call("aten::mul", 3.0), call("aten::add", 5.0, scope=BACKWARD)]) == []


def test_rows_add_up_and_hide_nothing():
    calls = [call("aten::mul", 3.0), call("aten::mul", 5.0), call("aten::sort", None), call("aten::exp", 2.0)]
    for by in ("name", "shapes", "module", "phase"):
        rows = rows_of(calls, by)
        assert sum(row.us for row in rows if row.us is not None) == 10.0
        assert sum(row.calls for row in rows) == 4
        assert [row.calls for row in rows if row.us is None] == [1], by
        assert abs(sum(row.share for row in rows if row.share is not None) - 1) < 1e-9
    assert [row.name for row in rows_of(calls, "name")] == ["aten::mul", "aten::exp", "aten::sort"]


def test_changes_are_findings_and_fusions_by_what_they_save():
    kernel = StepCall(
        TimedCall("k", "grid 1", "triton", 10.0, 5.0, 20.0, "scratch", finding=("KP301 spills", 4.0, False)),
        FORWARD, 0, 0, CapturedOperator("", (), ()),
    )  # fmt: skip
    changes = changes_of([kernel, kernel, call("aten::mul", 3.0), call("aten::add", 5.0)])
    assert [(one.what, one.us, one.calls, one.at_most) for one in changes] == [
        ("k: KP301 spills", 8.0, 2, False),
        ("torch.compile(model) (it fuses mul, add)", 3.0, 2, True),
    ]
    assert changes_of([]) == []
