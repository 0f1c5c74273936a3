"""Two entries of one kernel: what changed, for the worse or the better."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kprof.diffing.document import Change
from kprof.diffing.kernels import compare, differences, status_of, step
from kprof.diffing.limits import DiffLimits, Tolerance, tolerances
from kprof.document import KernelReport, LoopFacts, Occupancy, Resources
from kprof.errors import KprofError
from kprof.findings import Coverage, Severity, Unjudged

LIMITS = DiffLimits()

_counts = st.integers(0, 300)
_names = st.sampled_from(
    [
        "v_add_f32",
        "global_load_dwordx4",
        "global_load_dword",
        "buffer_load_dwordx2",
        "global_store_dword",
        "global_store_dwordx4",
        "ds_read_b128",
        "ds_read_b32",
        "ds_write_b64",
        "v_mfma_f32_32x32x8_f16",
    ]
)


@st.composite
def loops(draw: st.DrawFn) -> LoopFacts:
    first = draw(st.integers(1, 40))
    return LoopFacts(
        header=draw(st.sampled_from([".LBB0_1", ".LBB0_2", ".LBB0_3"])),
        depth=draw(st.integers(1, 3)),
        lines=draw(st.sampled_from([{}, {"a.py": (first, first + draw(st.integers(0, 20)))}])),
        instructions=draw(st.dictionaries(_names, st.integers(1, 64), max_size=6)),
        classes=draw(st.dictionaries(st.sampled_from(["valu", "vmem", "lds", "scratch"]), _counts)),
        waits=draw(st.dictionaries(st.sampled_from(["vmcnt(0)", "lgkmcnt(0)", "vmcnt(3)"]), st.integers(1, 9))),
        bytes_per_wave=draw(st.dictionaries(st.sampled_from(["global_load", "lds_load"]), st.integers(1, 9999))),
        spill_accesses=draw(st.integers(0, 50)),
        innermost=draw(st.booleans()),
        matrix=draw(st.dictionaries(st.sampled_from(["32x32x8 f16", "16x16x16 f16"]), st.integers(1, 64))),
        flops=draw(st.sampled_from([0, 0, 1024, 3072, 7168])),
        hot=draw(st.booleans()),
    )


@st.composite
def kernels(draw: st.DrawFn) -> KernelReport:
    known = st.one_of(st.none(), st.integers(0, 500))
    waves = draw(st.one_of(st.none(), st.integers(0, 8)))
    return KernelReport(
        name="k",
        arch="gfx942",
        resources=Resources(
            vgpr_spills=draw(known),
            sgpr_spills=draw(known),
            scratch_bytes=draw(known),
            vgpr_allocated=draw(known),
            agpr=draw(known),
            sgpr=draw(known),
            lds_bytes=draw(st.one_of(st.none(), st.integers(0, 200_000))),
            lds_limit_bytes=65536,
        ),
        occupancy=None if waves is None else Occupancy(float(waves), 8, 1, "vgpr", {}),
        loops=draw(st.lists(loops(), max_size=4)),
        instructions=draw(st.dictionaries(_names, st.integers(1, 64), max_size=6)),
    )


@given(kernels())
def test_a_kernel_does_not_differ_from_itself(kernel: KernelReport) -> None:
    assert compare(kernel, kernel, LIMITS) == []
    assert step(kernel, kernel, (0, 1), LIMITS).status == "same"


@settings(max_examples=50)
@given(kernels(), kernels())
def test_what_is_worse_one_way_is_better_the_other(old: KernelReport, new: KernelReport) -> None:
    there, back = compare(old, new, LIMITS), compare(new, old, LIMITS)
    turned = {"worse": "better", "better": "worse", "neutral": "neutral", "unknown": "unknown"}

    def key(values: list[object]) -> list[str]:
        return sorted(map(repr, values))

    forward = key([(c.metric, c.old, c.new, c.effect, c.severity, c.hot) for c in there])
    backward = key([(c.metric, c.new, c.old, turned[c.effect], c.severity, c.hot) for c in back])
    assert forward == backward
    if not any(c.effect == "unknown" for c in there):
        statuses = {"worse": "better", "better": "worse"}
        status = status_of(there, LIMITS)
        assert status_of(back, LIMITS) == statuses.get(status, status)


@settings(max_examples=25)
@given(kernels(), kernels())
def test_changes_are_sorted_worst_first_and_survive_json(old: KernelReport, new: KernelReport) -> None:
    found = step(old, new, (0, 1), LIMITS)
    effects = [c.effect for c in found.changes]
    assert effects == sorted(effects, key=("worse", "unknown", "better", "neutral").index)
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found


def test_spills_in_a_loop_come_first(made) -> None:
    old = made.kernel()
    new = made.kernel(
        loops=[made.loop(spill_accesses=8)],
        vgpr_spills=129,
        lds_bytes=133088,
        waves=2.0,
        findings=[made.finding("KP301", "error")],
    )
    changes = compare(old, new, LIMITS)
    assert [c.metric for c in changes[:3]] == ["loop_spills", "lds_over_limit", "waves_per_simd"]
    assert (changes[0].old, changes[0].new, changes[0].where, changes[0].hot) == (0, 8, "gemm.py:20-30", True)
    assert changes[1].new == 133088 - 65536
    assert status_of(changes, LIMITS) == "worse"
    assert status_of(compare(new, old, LIMITS), LIMITS) == "better"


@pytest.mark.parametrize(
    ("change", "severity"),
    [
        ({"vgpr_spills": 4}, "warning"),
        ({"scratch_bytes": 64}, "warning"),
        ({"waves": 3.0}, "warning"),
        ({"waves": 2.0}, "error"),
        ({"sgpr": 40}, "note"),
        ({"vgpr_allocated": 112}, "note"),
        ({"lds_bytes": 65536}, "note"),
    ],
)
def test_each_figure_has_its_weight(made, change: dict[str, float], severity: str) -> None:
    (found,) = compare(made.kernel(), made.kernel(**change), LIMITS)
    assert (found.effect, found.severity) == ("worse", Severity(severity))
    assert status_of([found], LIMITS) == ("changed" if severity == "note" else "worse")
    assert status_of([found], DiffLimits(fail_on=Severity.NOTE)) == "worse"


def test_narrower_loads_are_told_with_their_counts(made) -> None:
    narrow = made.loop(instructions={"v_mfma_f32_32x32x8_f16": 16, "global_load_dword": 32})
    changes = compare(made.kernel(), made.kernel(loops=[narrow]), LIMITS)
    (width,) = [c for c in changes if c.metric == "width:global load"]
    assert (width.old, width.new, width.effect, width.severity) == (16.0, 4.0, "worse", Severity.WARNING)
    assert "8x16, then 32x4" in width.note


def test_one_narrow_load_among_many_is_no_news(made) -> None:
    loop = made.loop(instructions={"v_mfma_f32_32x32x8_f16": 16, "global_load_dwordx4": 8, "global_load_dword": 1})
    assert not [c for c in compare(made.kernel(), made.kernel(loops=[loop]), LIMITS) if c.metric.startswith("width")]


def test_narrower_stores_behind_the_loop_are_told(made) -> None:
    new = made.kernel(instructions={"v_add_f32": 50, "global_store_short": 32, "s_endpgm": 1})
    assert next(c.metric for c in compare(made.kernel(), new, LIMITS) if c.effect == "worse") == "width:global store"


def test_an_unrolled_loop_is_no_worse_for_doing_twice_the_work(made) -> None:
    twice = made.loop(
        instructions={"v_mfma_f32_32x32x8_f16": 32, "global_load_dwordx4": 16},
        classes={"matrix": 32, "vmem": 16},
        waits={"vmcnt(0)": 2},
        flops=2048,
        bytes_per_wave={"global_load": 16384},
    )
    assert compare(made.kernel(), made.kernel(loops=[twice]), LIMITS) == []
    spilling = msgspec.structs.replace(twice, spill_accesses=4)
    assert compare(made.kernel(loops=[made.loop(spill_accesses=2)]), made.kernel(loops=[spilling]), LIMITS) == []
    (found,) = compare(made.kernel(loops=[made.loop(spill_accesses=1)]), made.kernel(loops=[spilling]), LIMITS)
    assert (found.old, found.new, found.note) == (1, 4, "for 2 times the work")


def test_more_full_waits_in_the_loop_are_worse(made) -> None:
    (found,) = compare(made.kernel(), made.kernel(loops=[made.loop(waits={"vmcnt(0)": 3, "lgkmcnt(0)": 9})]), LIMITS)
    assert (found.metric, found.old, found.new, found.severity) == ("drains", 1, 3, Severity.WARNING)


def test_spills_of_an_outer_loop_are_not_told_twice(made) -> None:
    def nest(outer: int, inner: int) -> KernelReport:
        loops = [
            made.loop(10, 40, innermost=False, hot=False, spill_accesses=outer),
            made.loop(20, 30, depth=2, spill_accesses=inner),
        ]
        return made.kernel(loops=loops)

    assert [c.old for c in compare(nest(0, 0), nest(6, 6), LIMITS)] == [0]
    (own,) = compare(nest(0, 0), nest(6, 0), LIMITS)
    assert (own.metric, own.new, own.where) == ("loop_spills", 6, "gemm.py:10-40")


def test_unknown_is_not_zero(made) -> None:
    changes = compare(made.kernel(), made.kernel(lds_bytes=None, waves=None), LIMITS)
    assert {(c.metric, c.effect) for c in changes} == {("lds_bytes", "unknown"), ("waves_per_simd", "unknown")}
    assert status_of(changes, LIMITS) == "unknown"
    both = made.kernel(lds_bytes=None, waves=None)
    assert compare(both, both, LIMITS) == []


def test_a_new_finding_counts_by_its_severity(made) -> None:
    new = made.kernel(findings=[made.finding("KP304")])
    (found,) = compare(made.kernel(), new, LIMITS)
    assert (found.metric, found.effect, found.severity) == ("finding:KP304", "worse", Severity.WARNING)
    more = made.kernel(findings=[made.finding("KP304"), made.finding("KP304")])
    (found,) = compare(new, more, LIMITS)
    assert found.severity is Severity.NOTE


def test_a_rule_that_could_not_be_checked_is_not_compared(made) -> None:
    lacking = Unjudged(rule="KP304", name="agpr-copies-in-loop", reason="no product was named")
    old = made.kernel(rules=Coverage(checked=["KP301"], not_checked=[lacking]))
    assert compare(old, made.kernel(findings=[made.finding("KP304")]), LIMITS) == []


def test_without_instructions_only_resources_are_compared(made) -> None:
    bare = made.kernel(instructions={}, loops=[], vgpr_spills=3)
    found = step(made.kernel(), bare, (0, 1), LIMITS)
    assert [c.metric for c in found.changes] == ["vgpr_spills"]
    assert "no instructions" in found.notes[0]


def test_what_a_rule_says_of_better_code_is_no_regression(made) -> None:
    spilling = made.kernel(loops=[made.loop(spill_accesses=138)], vgpr_spills=290)
    draining = made.kernel(findings=[made.finding("KP204")])
    assert status_of(compare(spilling, draining, LIMITS), LIMITS) == "better"
    assert status_of(compare(draining, spilling, LIMITS), LIMITS) == "worse"
    slower = made.kernel(findings=[made.finding("KP204")], waves=3.0)
    assert status_of(compare(spilling, slower, LIMITS), LIMITS) == "mixed"


def test_tolerances_let_small_changes_through(made) -> None:
    limits = DiffLimits(tolerances=tolerances(["vgpr_spills=4,waves_per_simd=50%"]))
    assert status_of(compare(made.kernel(), made.kernel(vgpr_spills=4, waves=2.0), limits), limits) == "changed"
    assert status_of(compare(made.kernel(), made.kernel(vgpr_spills=5), limits), limits) == "worse"
    assert tolerances(["drains=2"]) == {"drains": Tolerance(amount=2.0)}


@pytest.mark.parametrize("text", ["vgpr_spill=4", "vgpr_spills", "vgpr_spills=x", "vgpr_spills=-1", "vgpr_spills=inf"])
def test_a_wrong_tolerance_is_told(text: str) -> None:
    with pytest.raises(KprofError, match="tolerance"):
        tolerances([text])


def test_differences_name_what_is_not_the_same(made) -> None:
    new = made.kernel(constexprs={"BLOCK": 128}, options={"num_warps": 4, "kpack": 2}, attributes={})
    assert differences(made.kernel(), new) == {"BLOCK": (64, 128), "kpack": (None, 2)}


def test_a_finding_that_contradicts_every_figure_is_no_regression() -> None:
    """Loads got wider and the launch faster; a rule on wide loads has something to say for the first time."""

    def figure(metric: str, old: float, new: float, effect: str) -> Change:
        return Change(metric, metric, old, new, effect, Severity.NOTE, 0)

    rule = Change("finding:KP105", "KP105", 0, 1, "worse", Severity.WARNING, 0)
    faster = figure("model_us", 20.0, 15.0, "better")
    assert status_of([rule, faster, figure("width", 2, 4, "better")], LIMITS) == "changed"
    assert status_of([rule, faster, figure("sgpr", 20, 30, "worse")], LIMITS) == "worse"
    assert status_of([rule, figure("sgpr", 30, 20, "better")], LIMITS) == "worse"
    grave = Change("finding:KP301", "KP301", 0, 1, "worse", Severity.ERROR, 0)
    assert status_of([grave, faster], LIMITS) == "worse"
