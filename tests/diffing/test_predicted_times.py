"""Predicted times of both sides: first of all changes, an error from twice the time on, with what mends a finding."""

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from kprof.diffing import facts
from kprof.diffing.comparing import Input, diff
from kprof.diffing.kernels import compare
from kprof.diffing.limits import DiffLimits
from kprof.document import LoopPrediction, Prediction
from kprof.findings import Gain, Location, Severity
from kprof.reporters import _diff_wording as words

LIMITS = DiffLimits(Severity.WARNING, {})


def predicted(us):
    return Prediction(time_us=us, low_us=0.8 * us, high_us=1.5 * us, cycles=1.0, bound="issue", shares={}, loops=[])


def timed(made, us, **more):
    launch = {"problem": {"M": 4096}, "grid": [64, 2]}
    return made.kernel(model=predicted(us), product="MI300X", launch=launch, **more)


def change(made, before_us, after_us):
    """The first change, of kernels that differ in their time and in what they spill."""
    return compare(timed(made, before_us), timed(made, after_us, vgpr_spills=9), LIMITS)[0]


@pytest.mark.parametrize(
    ("after_us", "severity"), [(200.0, "error"), (199.0, "warning"), (300.0, "error"), (150.0, "warning")]
)
def test_the_time_comes_first_and_twice_the_time_is_an_error(made, after_us, severity):
    found = change(made, 100.0, after_us)
    assert (found.metric, found.text, found.effect) == ("model_us", "predicted time", "worse")
    assert found.severity == Severity(severity)


def test_times_that_cannot_be_told_apart_are_a_note(made):
    """A tenth of the longer time is the least that is said at all."""
    (found,) = compare(timed(made, 100.0), timed(made, 112.0), LIMITS)
    assert (found.metric, found.severity) == ("model_us", Severity.NOTE)
    assert compare(timed(made, 100.0), timed(made, 110.0), LIMITS) == []


def endless(made, cycles, *, loop=None, product="MI300X"):
    """A kernel whose launch has no time, with the predicted cycles of an iteration of its hot loop."""
    loop = loop or made.loop()
    predicted = LoopPrediction(
        header=loop.header, trips=16.0, trips_known=False, trips_from="assumed", cycles_per_iteration=cycles
    )
    model = replace(predicted_without_time(), loops=[predicted])
    return made.kernel(model=model, product=product, loops=[loop])


def predicted_without_time():
    return replace(predicted(1.0), time_us=None, low_us=None, high_us=None)


def test_without_a_time_the_cycles_of_the_hot_loop_are_compared(made):
    """A persistent kernel iterates as often as its data say; one iteration has a length all the same."""
    found = compare(endless(made, 1000.0), endless(made, 2500.0), LIMITS)[0]
    assert (found.metric, found.text, found.effect) == ("hot_cycles", "predicted cycles per iteration", "worse")
    assert (found.old, found.new, found.severity) == (1000.0, 2500.0, Severity.ERROR)
    assert compare(endless(made, 1000.0), endless(made, 1050.0), LIMITS) == []
    assert compare(endless(made, 1000.0), endless(made, 2500.0, product="MI325X"), LIMITS) == []


def test_cycles_of_an_iteration_are_those_of_the_same_work(made):
    """An unrolled loop does twice the work in twice the cycles."""
    single, double = made.loop(flops=1024), made.loop(flops=2048)
    changes = compare(endless(made, 1000.0, loop=single), endless(made, 2050.0, loop=double), LIMITS)
    assert "hot_cycles" not in {one.metric for one in changes}


def test_with_a_time_cycles_do_not_count(made):
    """One side has a time and the other has none: neither figure is compared."""
    assert not {"hot_cycles", "model_us"} & {
        one.metric for one in compare(timed(made, 100.0), endless(made, 2500.0), LIMITS)
    }


def test_times_on_two_products_are_not_compared(made):
    other = replace(timed(made, 300.0), product="MI325X")
    assert "model_us" not in {one.metric for one in compare(timed(made, 100.0), other, LIMITS)}


def test_the_verdict_has_the_time_and_what_makes_it(made):
    found = diff([Input("a", [timed(made, 100.0)]), Input("b", [timed(made, 300.0, vgpr_spills=9)])], LIMITS)
    assert found.verdict.summary.endswith(
        "; gemm on gfx942: predicted time 100 µs → 300 µs (3x, 95 % sure that it is slower), VGPRs spilled 0 → 9"
    )
    (kernel,) = found.kernels
    assert (kernel.problem, kernel.grid) == ({"M": 4096}, [64, 2])
    assert words.launch(kernel) == "M=4096   grid 64x2"
    assert words.predicted(kernel) == "predicted: 100 µs (likely 80.0 to 150 µs) → 300 µs (likely 240 to 450 µs)"


def test_ends_of_a_range_are_figures(made):
    figures = facts.figures(timed(made, 100.0))
    assert (figures["model_low_us"], figures["model_us"], figures["model_high_us"]) == (80.0, 100.0, 150.0)
    assert facts.problem(made.kernel()) == {}
    assert facts.problem(made.kernel(launch={"grid": [1]})) == {}


def found_by(made, **changes):
    return replace(made.finding("KP101"), **changes)


def test_a_finding_on_the_new_side_only_has_its_fix_and_what_that_saves(made):
    new = found_by(made, fix="pass 1 as stride", gain=Gain(200.0, 160.0, 300.0, 0.67))
    found = diff([Input("a", [timed(made, 100.0)]), Input("b", [timed(made, 300.0, findings=[new])])], LIMITS)
    (kernel,) = found.kernels
    step = kernel.steps[0]
    (change,) = (one for one in step.changes if one.metric == "finding:KP101")
    assert (change.fix, change.saves_us) == ("pass 1 as stride", 200.0)
    assert words.remarks(kernel, step)[1:] == [
        "fix of KP101: pass 1 as stride (gain not known, at best 300 µs → 100 µs: not compiled)",
    ]


@pytest.mark.parametrize("many", [0, 2])
def test_a_finding_that_was_there_before_or_is_gone_has_none(made, many):
    """Only a rule that found nothing before has a new fix to show."""
    one = found_by(made, fix="pass 1 as stride", gain=Gain(200.0, 160.0, 300.0, 0.67))
    before, after = timed(made, 100.0, findings=[one]), timed(made, 300.0, findings=[one] * many)
    (change,) = (found for found in compare(before, after, LIMITS) if found.metric == "finding:KP101")
    assert (change.fix, change.saves_us) == ("", None)


def test_a_fix_without_a_gain_stands_alone(made):
    new = found_by(made, fix="pass 1 as stride")
    found = diff([Input("a", [made.kernel()]), Input("b", [made.kernel(findings=[new])])], LIMITS)
    (kernel,) = found.kernels
    assert words.remarks(kernel, kernel.steps[0]) == ["fix of KP101: pass 1 as stride"]


def test_a_terminal_shows_the_line_that_a_fix_is_about(made, tmp_path):
    """Others get no line of a file: what they write may leave the machine."""
    (tmp_path / "k.py").write_text("\n    v = tl.load(x + row + cols * stride)\n")
    new = found_by(made, fix="pass 1 as stride", location=Location(str(tmp_path / "k.py"), 2))
    found = diff([Input("a", [made.kernel()]), Input("b", [made.kernel(findings=[new])])], LIMITS)
    (kernel,) = found.kernels
    fix = "fix of KP101: pass 1 as stride"
    assert words.remarks(kernel, kernel.steps[0], code=True) == [
        fix,
        "    now k.py:2  v = tl.load(x + row + cols * stride)",
    ]
    assert words.remarks(kernel, kernel.steps[0]) == [fix]


UNMEANT = "fix, if the change was not intended"
BEFORE = "@jit\ndef k(x):\n    v = load(x + row * stride)\n    store(v)\n"


@pytest.mark.parametrize(
    ("after", "after_us", "said"),
    [
        (BEFORE.replace("row * stride", "row"), 300.0,
         [f"{UNMEANT}: old.py:3 in place of new.py:3: 300 µs → 100 µs (3x; compiled; 95 % sure that it is faster)",
          "    was old.py:3  v = load(x + row * stride)"]),
        (BEFORE.replace("(x + row * stride)", "(x)\n    v = v"), 300.0,
         [f"{UNMEANT}: old.py:3 in place of new.py:3-4: 300 µs → 100 µs (3x; compiled; 95 % sure that it is faster)",
          "    was old.py:3  v = load(x + row * stride)"]),
        (BEFORE.replace("row * stride", "row"), 111.0, []),
        (BEFORE.replace("row * stride", "row"), 50.0, []),
        (BEFORE.replace("row * stride", "row"), None, []),
        (BEFORE, 300.0, []),
    ],
    ids=["a line", "two lines for one", "not told apart", "faster", "no time", "the same code"],
)  # fmt: skip
def test_taking_the_old_lines_back_is_a_compiled_fix(made, tmp_path, after, after_us, said):
    """The old side was compiled, so its time is what the old lines bring. Source lines are shown on a terminal only."""
    sides = []
    for name, text, us in (("old", BEFORE, 100.0), ("new", after, after_us)):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        kernel = timed(made, us or 1.0, vgpr_spills=9 * (name == "new"))
        kernel = kernel if us is not None else replace(kernel, model=UNSET)
        sides.append(Input(name, [replace(kernel, source=Location(str(path), 1))]))
    (kernel,) = diff(sides, LIMITS).kernels
    (step,) = kernel.steps
    assert [line for line in words.remarks(kernel, step, code=True) if "old.py" in line] == said
    assert [line for line in words.remarks(kernel, step) if "old.py" in line] == said[:1]
