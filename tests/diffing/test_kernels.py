"""Two compiles of one kernel: each figure by itself, in words, and what one side does not know."""

import pytest

from kprof.diffing.kernels import KEY_METRICS, compare, differences, step
from kprof.diffing.limits import DiffLimits
from kprof.document import Specialization

LIMITS = DiffLimits()


@pytest.mark.parametrize(
    ("name", "old", "new", "text", "effect", "severity"),
    [
        ("vgpr_spills", 0, 9, "VGPRs spilled", "worse", "warning"),
        ("sgpr_spills", 0, 9, "SGPRs spilled", "worse", "note"),
        ("scratch_bytes", 0, 64, "scratch bytes per lane", "worse", "warning"),
        ("lds_bytes", 1024, 512, "LDS bytes per workgroup", "better", "note"),
        ("vgpr_allocated", 104, 128, "VGPRs allocated", "worse", "note"),
        ("agpr", 8, 4, "AGPRs", "better", "note"),
        ("sgpr", 30, 40, "SGPRs", "worse", "note"),
        ("waves", 4.0, 3.0, "waves per SIMD", "worse", "warning"),
        ("waves", 4.0, 2.0, "waves per SIMD", "worse", "error"),
        ("waves", 1.0, 2.0, "waves per SIMD", "better", "error"),
        ("instructions", {"s_endpgm": 100}, {"s_endpgm": 120}, "instructions (code size)", "worse", "note"),
    ],
)
def test_one_figure(made, name, old, new, text, effect, severity) -> None:
    (change,) = compare(made.kernel(**{name: old}), made.kernel(**{name: new}), LIMITS)
    assert (change.text, change.effect, change.severity.value) == (text, effect, severity)
    shown = (sum(old.values()), sum(new.values())) if isinstance(old, dict) else (old, new)
    assert (change.old, change.new) == shown


def test_lds_above_the_limit_is_an_error_beside_the_bytes(made) -> None:
    changes = compare(made.kernel(lds_bytes=65536), made.kernel(lds_bytes=65540), LIMITS)
    assert [(c.metric, c.severity.value, c.old, c.new) for c in changes] == [
        ("lds_over_limit", "error", 0, 4),
        ("lds_bytes", "note", 65536, 65540),
    ]


def test_scratch_that_comes_of_spills_is_told_by_the_spills(made) -> None:
    changes = compare(made.kernel(), made.kernel(vgpr_spills=4, scratch_bytes=16), LIMITS)
    assert [(c.metric, c.severity.value) for c in changes] == [("vgpr_spills", "warning"), ("scratch_bytes", "note")]


def test_another_number_of_loops_is_neither_better_nor_worse(made) -> None:
    changes = compare(made.kernel(), made.kernel(loops=[made.loop(), made.loop(40, 50, hot=False)]), LIMITS)
    (loops,) = (c for c in changes if c.metric == "loops")
    assert (loops.text, loops.effect, loops.old, loops.new) == ("loops", "neutral", 1, 2)


@pytest.mark.parametrize("metric", KEY_METRICS)
def test_a_kernel_of_which_a_key_figure_is_not_known_is_not_ok(made, metric) -> None:
    """VGPRs spilled, LDS and wavefronts; another figure that one side lacks changes nothing."""
    lacking = made.kernel(waves=None) if metric == "waves_per_simd" else made.kernel(**{metric: None})
    assert step(made.kernel(), lacking, (0, 1), LIMITS).status == "unknown"
    assert metric in {"vgpr_spills", "lds_bytes", "waves_per_simd"}
    assert step(made.kernel(), made.kernel(sgpr=None), (0, 1), LIMITS).status == "changed"


@pytest.mark.parametrize(("bare", "side"), [(0, "old"), (1, "new")])
def test_the_side_without_instructions_is_named(made, bare, side) -> None:
    kernels = [made.kernel(), made.kernel()]
    kernels[bare] = made.kernel(instructions={}, loops=[])
    found = step(*kernels, (3, 5), LIMITS, ("paired by name",))
    assert (found.old, found.new) == (3, 5)
    assert found.notes == [
        "paired by name",
        f"loops, widths and findings were not compared: the {side} side has no instructions",
    ]
    assert step(kernels[bare], kernels[bare], (0, 1), LIMITS).notes == []


def test_findings_of_one_side(made) -> None:
    """A new finding is worse, with its line and message; of findings on both sides only the number is compared."""
    warned = made.kernel(findings=[made.finding("KP301")])
    (change,) = compare(made.kernel(), warned, LIMITS)
    assert (change.metric, change.text, change.effect) == ("finding:KP301", "KP301 some-name", "worse")
    assert (change.where, change.note, change.severity.value) == ("gemm.py:22", "what was found", "warning")
    twice = made.kernel(findings=[made.finding("KP301")] * 2)
    (change,) = compare(warned, twice, LIMITS)
    assert (change.old, change.new, change.note, change.severity.value) == (1, 2, "", "note")


def test_where_two_specialisations_differ(made) -> None:
    """Each part in its words; what one side says nothing of is no difference, but for the environment."""

    def spec(**parts):
        return made.kernel(spec=Specialization(**parts))

    old = spec(
        signature={"a": "*fp16"},
        constexprs={"BLOCK": 64},
        attributes={"a": 16},
        options={"num_warps": 4},
        environment={"X": "1"},
    )
    new = spec(
        signature={"a": "*fp32"},
        constexprs={"BLOCK": 128},
        attributes={"a": 8},
        options={"num_warps": 8},
        environment={"X": "0"},
    )
    assert differences(old, new) == {
        "type of a": ("*fp16", "*fp32"),
        "BLOCK": (64, 128),
        "attributes of a": (16, 8),
        "num_warps": (4, 8),
        "X": ("1", "0"),
    }
    assert differences(old, spec()) == {"X": ("1", None)}
    assert differences(spec(), old) == {"X": (None, "1")}
    assert differences(old, made.without(old, specialization=made.UNSET)) == {}
    assert differences(made.without(old, specialization=made.UNSET), old) == {}
