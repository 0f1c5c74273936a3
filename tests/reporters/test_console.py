"""The report on the terminal: words, and what narrow terminals leave out."""

import io

import msgspec
import pytest
from rich.console import Console

from kprof.document import (
    KernelReport,
    LoopFacts,
    NextStep,
    PassChange,
    Prediction,
    RegisterPeak,
    Report,
    Resources,
    Roofline,
    Specialization,
    Verdict,
)
from kprof.findings import Cause, Finding, Gain, Location, Severity
from kprof.reporters._console_text import limiter, loop_summary, needs, option_in_the_way
from kprof.reporters._plain_words import summary, without_labels
from kprof.reporters.console import ConsoleReporter

NARROW_LOAD = Finding(
    rule="KP101", name="narrow-global-load", severity=Severity.WARNING, message="4 loads a lane in loop .LBB0_5"
)


def loop(instructions, matrix=None, waits=None):
    """A loop with these counts."""
    return LoopFacts(
        header=".LBB0_1",
        depth=1,
        lines={"/a/k.py": (3, 9)},
        instructions=instructions,
        matrix=matrix or {},
        waits=waits or {},
        hot=True,
    )


def shown(kernel, width=110, verbose=0):
    """The report on a terminal of this width, as lines."""
    stream = io.StringIO()
    report = Report(kprof="0", kernels=[kernel], verdict=Verdict(status="ok", summary="done"))
    ConsoleReporter(Console(file=stream, width=width, highlight=False), verbose).show(report)
    return stream.getvalue().splitlines()


def kernel(**rest):
    """An entry with little in it."""
    resources = Resources(vgpr=8, sgpr=16, lds_bytes=0, num_warps=4, wavefront_size=32)
    return KernelReport(name="k", arch="gfx1201", resources=resources, **rest)


def test_a_cause_is_as_severe_as_the_worst_of_its_findings():
    """A warning that explains an error is shown as the error, with what it costs."""
    spill = Finding(rule="KP301", name="spill-in-loop", severity=Severity.ERROR, message="4 accesses")
    cause = Cause([0, 1], gain=Gain(us=3.0, low_us=2.0, high_us=4.0, share=0.3))
    lines = shown(kernel(findings=[NARROW_LOAD, spill], causes=[cause]))
    assert "  error   KP101 narrow-global-load   costs 3.00 µs (30 %)" in lines


def test_a_kernel_near_its_limit_says_what_is_left():
    """From 75 % of the GPU's limit on; and the GPU that was assumed stands in the headline."""
    near = "80 % of the GPU's limit (80.0 µs): near its limit, at most 20.0 µs to gain"
    for light, words in ((74.0, "74 % of the GPU's limit (74.0 µs)"), (80.0, near)):
        model = Prediction(
            100.0, 80.0, 120.0, None, "memory bandwidth", {"memory bandwidth": 1.0}, speed_of_light_us=light,
            speed_of_light_percent=light, assumptions=["no product was named: X is assumed"],
            roofline=Roofline({}, {}, []),
        )  # fmt: skip
        lines = shown(kernel(model=model))
        assert lines[0].startswith("k on gfx1201 (X assumed): 100 µs")
        assert lines[1].endswith(words)


@pytest.mark.parametrize(("name", "unit"), [("v_mfma_f32_16x16x16_f16", "MFMA"), ("v_wmma_f32_16x16x16_f16", "WMMA")])
def test_matrix_work_is_named_as_on_its_hardware(name, unit):
    """CDNA has MFMA, RDNA has WMMA."""
    assert f"32 {unit} 16x16x16 f16" in loop_summary(loop({name: 32}, {"16x16x16 f16": 32}))


def test_the_short_summary_leaves_out_what_moves_no_data():
    """Cache invalidations and waits for the scalar pipeline are in the detailed view only."""
    busy = loop(
        {"global_inv": 4, "buffer_load_b128": 2, "buffer_gl0_inv": 8, "ds_load_b128": 1},
        waits={"loadcnt(0)": 2, "sa_sdst(0)": 3, "dscnt(2)": 1},
    )
    assert summary(busy, kernel()) == "lines 3-9   2 loads · 1 LDS read · 2 waits for all loads"
    assert "4 global_inv" in loop_summary(busy)
    assert "3 sa_sdst(0)" in loop_summary(busy)


def test_a_loop_in_kinds_of_instructions():
    """Loads, stores, atomics and LDS accesses whatever their width; a loop that does none of it still has a size."""
    busy = {
        "buffer_load_b128": 8,
        "flat_load_u8": 1,
        "global_store_b64": 1,
        "global_atomic_add_f32": 2,
        "ds_read2_b64": 1,
    }
    waits = {"vmcnt(0)": 4, "lgkmcnt(0)": 3, "vmcnt(3)": 9}
    text = summary(loop(busy, waits=waits), kernel())
    assert text == "lines 3-9   9 loads · 1 store · 2 atomics · 1 LDS read · 7 waits for all loads"
    assert summary(loop({"v_add_f32": 1, "s_cbranch_scc1": 1}), kernel()) == "lines 3-9   2 instructions"


def test_loops_are_called_by_their_lines():
    """In sentences of rules, where the lines are known; in another file with its name."""
    entry = kernel(loops=[loop({})], source=Location("/a/k.py", 1))
    assert without_labels("4 waits in loop .LBB0_1: much", entry) == "4 waits in the loop at lines 3-9: much"
    assert without_labels("loop .LBB0_12 and the loop .LBB0_1", entry) == "loop .LBB0_12 and the loop at lines 3-9"
    other = kernel(loops=[loop({})], source=Location("/a/other.py", 1))
    assert without_labels("in loop .LBB0_1", other) == "in the loop at k.py lines 3-9"
    assert without_labels("in loop .LBB0_1", kernel()) == "in loop .LBB0_1"


@pytest.mark.parametrize(
    ("resource", "amount", "words"),
    [
        ("vgpr", 1, "2 waves need 1 fewer VGPR"),
        ("agpr", 8, "2 waves need 8 fewer AGPRs"),
        ("lds", 1024, "2 waves need LDS ≤ 63 KiB"),
        ("num_warps", 16, "2 waves need 16 fewer wavefronts per workgroup"),
        ("vgpr_padding", 41, "2 waves need 41 fewer VGPRs of padding (waves_per_eu)"),
    ],
)
def test_what_more_waves_need(resource, amount, words):
    """One and several, with units."""
    assert needs(NextStep(resource, amount, 2), 65536) == words


def test_limits_that_bind_together_are_told_together():
    """None of them alone would do."""
    step = NextStep("vgpr", 88, 3, {"lds": 11264})
    assert needs(step, 32768, "waves_per_eu=3") == "3 waves need 88 fewer VGPRs and LDS ≤ 21 KiB and waves_per_eu=3"
    assert needs(step) == "3 waves need 88 fewer VGPRs and 11,264 B less LDS"
    assert needs(NextStep("lds", 512, 1)) == "1 wave needs 512 B less LDS"


def test_a_workgroup_that_is_too_large_is_not_limited_by_waves_per_eu():
    """The same limiter of the document stands for both."""
    assert (limiter("launch_bounds", 2), limiter("launch_bounds", 0)) == ("waves_per_eu", "workgroup size")


@pytest.mark.parametrize(
    ("triton", "option", "words"),
    [("3.9.0", 2, "waves_per_eu=3"), ("3.5.1", 2, ""), ("3.9.0", 0, ""), ("3.9.0", 3, ""), ("3.9.0", None, "")],
)
def test_an_option_that_keeps_wavefronts_out_is_named(triton, option, words):
    """A maximum from Triton 3.6 on; fewer registers alone are then padded again."""
    entry = kernel(triton=triton, specialization=Specialization(options={"waves_per_eu": option}))
    assert option_in_the_way(entry, 3.0) == words


@pytest.mark.parametrize("width", [80, 120])
def test_a_rule_is_named_above_its_message(width):
    """The name stays on narrow terminals, and the message has the whole width below it."""
    lines = shown(kernel(findings=[NARROW_LOAD]), width)
    (head,) = (number for number, line in enumerate(lines) if "KP101 narrow-global-load" in line)
    assert "4 loads a lane in loop .LBB0_5" in lines[head + 1]


def test_further_causes_are_counted():
    """Four causes are shown; the others are counted, and -v shows them."""
    findings = [msgspec.structs.replace(NARROW_LOAD, rule=f"KP10{n}", message=f"{n} loads a lane") for n in range(9)]
    entry = kernel(findings=findings)
    few, all_of_them = "\n".join(shown(entry, 80)), "\n".join(shown(entry, 80, verbose=1))
    assert "5 more causes (-v)" in few
    assert [n for n in range(9) if f"{n} loads a lane" in few] == [0, 1, 2, 3]
    assert [n for n in range(9) if f"{n} loads a lane" in all_of_them] == list(range(9))


def test_long_changes_of_a_pass_go_on_in_their_column():
    """The names of the passes stay clear of them."""
    changed = {f"some_metric_{number}": (number, number + 1) for number in range(9)}
    change = PassChange(18, "tritongpu-coalesce", "ttgir", changed)
    lines = [line for line in shown(kernel(passes=[change]), 80) if "some_metric" in line]
    assert len(lines) > 1
    assert len({line.index("some_metric") for line in lines}) == 1
    assert max(map(len, lines)) <= 80


def test_registers_of_no_line_are_told_in_words():
    """What holds them has no line of its own."""
    peak = RegisterPeak(live=9, location=None, to_next_step=None, held={"before": 5, "/a/k.py:4": 3, "?": 1})
    text = "\n".join(shown(kernel(pressure={"vgpr": peak}), verbose=1))
    assert "5 from arguments or an earlier iteration  3 from k.py:4  1 from lines not known" in text


def test_long_lines_of_the_detailed_view_go_on_further_in():
    """No line begins at the edge, and none is longer than the terminal."""
    entry = kernel(notes=["not checked: " + "a long reason, " * 12])
    lines = shown(entry, 80, verbose=1)
    start = next(number for number, line in enumerate(lines) if line.startswith("  remark: "))
    assert lines[start + 1].startswith("        ")
    assert max(map(len, lines)) <= 80
