"""Causes and cures, found by a compiler that is made up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pytest

from kprof.diffing.limits import DiffLimits
from kprof.document import KernelReport, LoopFacts, Occupancy, Prediction, Resources
from kprof.errors import KprofError
from kprof.findings import Finding, Severity
from kprof.reporters._diff_wording import cure_times
from kprof.tuning.trials.explain import Case, explain
from kprof_analyzers.model.certainty import certainty

ASYNC, PINGPONG, BUFFERS = "TRITON_HIP_USE_ASYNC_COPY", "TRITON_HIP_USE_BLOCK_PINGPONG", "AMDGCN_USE_BUFFER_OPS"
CONFIG = {"BLOCK_M": 256, "GROUP_M": 4, "num_stages": 2, "num_warps": 8}


def entry(spills: int, lds: int, waves: float = 2.0) -> KernelReport:
    """A kernel that spills so many registers, in its loop too."""
    loop = LoopFacts(
        header=".LBB0_1",
        depth=1,
        lines={"gemm.py": (10, 20)},
        instructions={"v_mfma_f32_32x32x8_f16": 16},
        flops=1024,
        spill_accesses=spills // 8,
        hot=True,
    )
    findings = [Finding("KP301", "spill-in-loop", Severity.ERROR, "spills")] if spills else []
    return KernelReport(
        name="gemm",
        arch="gfx950",
        resources=Resources(vgpr_spills=spills, lds_bytes=lds, lds_limit_bytes=163840),
        occupancy=Occupancy(waves, 8, 1, "vgpr", {}),
        loops=[loop],
        instructions={"v_mfma_f32_32x32x8_f16": 32},
        findings=findings,
    )


OLD, NEW = entry(0, 65536), entry(160, 133088)


@dataclass
class Fake:
    """Answers from a table: knobs and switches to the kernel that they make."""

    known: dict[str, bool | None]
    outcomes: dict[tuple[tuple[str, Any], ...], KernelReport | None]
    otherwise: KernelReport
    llvm: KernelReport | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)

    def switches(self) -> dict[str, bool | None]:
        return self.known

    def changes(self, rules: Iterable[str]) -> list[dict[str, Any]]:
        assert "KP301" in set(rules)
        return [
            {"BLOCK_M": 128, "num_warps": 4},
            {"GROUP_M": 8},
            {"BLOCK_M": 128},
            {"num_stages": 1},
            {"num_stages": 3},
            {"num_warps": 4},
        ]

    def trials(
        self, changes: Sequence[Mapping[str, Any]], seconds: float
    ) -> Iterator[tuple[Mapping[str, Any], KernelReport | None, str | None]]:
        assert seconds > 0
        for change in changes:
            self.asked.append(dict(change))
            found = self.outcomes.get(tuple(change.items()), self.otherwise)
            yield change, found, None if found is not None else "does not compile"

    def stages(self) -> Mapping[str, Any]:
        return {"llir": "of the old side"}

    def through_llvm(self, stages: Mapping[str, Any]) -> KernelReport:
        assert stages == {"llir": "of the old side"}
        if self.llvm is None:
            raise KprofError("LLVM cannot compile it")
        return self.llvm


def run(
    outcomes: dict[tuple[tuple[str, Any], ...], KernelReport | None], **known: bool | None
) -> tuple[Any, Fake, Fake]:
    switches = {ASYNC: True, PINGPONG: True, BUFFERS: True, **known}
    after = Fake(switches, outcomes, NEW)
    before = Fake({ASYNC: False, PINGPONG: True, BUFFERS: True}, {((ASYNC, "1"),): entry(0, 133088)}, OLD)
    case = Case(OLD, NEW, ("3.6.0", "3.9.0"), (0, 1), CONFIG, DiffLimits())
    return explain(case, before, after, seconds=60), before, after


def test_the_switch_that_brings_the_old_code_back_is_the_cause() -> None:
    found, before, after = run({((ASYNC, "0"),): entry(0, 65536), (("num_stages", 1),): entry(0, 32768)})
    assert [cause.change for cause in found.causes] == [{ASYNC: "0"}]
    assert found.causes[0].cured
    assert found.causes[0].figures["lds_bytes"] == (65536, 133088, 65536)
    assert found.defaults == {ASYNC: (False, True)}
    assert found.summary.startswith("async copy, on by default in 3.9.0, off in 3.6.0: 0 to 160 VGPRs spilled")
    assert "TRITON_HIP_USE_ASYNC_COPY=0 undoes it; num_stages=1 fixes it" in found.summary
    # The switch whose default changed is tried first, and turned over on the old side too.
    assert after.asked[0] == {ASYNC: "0"}
    assert before.asked == [{ASYNC: "1"}]
    assert "3.6.0 with TRITON_HIP_USE_ASYNC_COPY=1 has" in found.notes[0]


def test_a_switch_that_undoes_most_of_it_is_told_as_such() -> None:
    found, _, _ = run({((ASYNC, "0"),): entry(17, 65536)})
    assert not found.causes[0].cured
    assert set(found.causes[0].restored) >= {"vgpr_spills", "lds_bytes"}
    assert "undoes most of it" in found.summary


def test_a_switch_that_is_off_on_both_sides_is_a_cure_but_no_cause() -> None:
    scalarize = "AMDGCN_SCALARIZE_PACKED_FOPS"
    outcomes: dict[tuple[tuple[str, Any], ...], KernelReport | None] = {((scalarize, "1"),): entry(0, 133088)}
    after = Fake({BUFFERS: True, scalarize: False}, outcomes, NEW)
    before = Fake({BUFFERS: True, scalarize: False}, {}, OLD)
    found = explain(Case(OLD, NEW, ("a", "b"), (0, 1), CONFIG, DiffLimits()), before, after, seconds=60)
    assert found.causes == []
    assert [cure.change for cure in found.cures] == [{scalarize: "1"}]
    assert "the change is in the compiler itself, from a to b; AMDGCN_SCALARIZE_PACKED_FOPS=1 fixes it" in found.summary


def test_a_switch_that_is_on_on_both_sides_can_be_the_cause() -> None:
    found, _, _ = run({((BUFFERS, "0"),): entry(0, 65536)})
    assert found.causes[0].change == {BUFFERS: "0"}
    assert found.summary.startswith("buffer operations: 0 to 160 VGPRs spilled")


def test_without_a_cause_the_compiler_itself_is_named() -> None:
    found, before, _ = run({})
    assert found.causes == []
    assert found.cures == []
    assert "the change is in the compiler itself, from 3.6.0 to 3.9.0" in found.summary
    assert before.asked == []


def test_two_switches_that_only_together_explain_it_are_found() -> None:
    both = ((ASYNC, "0"), (PINGPONG, "0"))
    before_default = {((ASYNC, "1"),): OLD}
    after = Fake({ASYNC: True, PINGPONG: True, BUFFERS: True}, {both: entry(0, 65536)}, NEW)
    before = Fake({ASYNC: False, PINGPONG: False, BUFFERS: True}, before_default, OLD)
    case = Case(OLD, NEW, ("3.6.0", "3.9.0"), (0, 1), CONFIG, DiffLimits())
    found = explain(case, before, after, seconds=60)
    assert [dict(cause.change) for cause in found.causes] == [dict(both)]
    assert found.summary.startswith("async copy with block ping-pong, on by default in 3.9.0")


def test_cures_without_a_price_come_first_and_one_for_a_set_of_knobs() -> None:
    found, _, after = run(
        {
            (("num_stages", 1),): entry(0, 32768),
            (("num_stages", 3),): entry(0, 32768),
            (("num_warps", 4),): entry(0, 65536, waves=1.0),
            (("BLOCK_M", 128),): entry(0, 99808),
        }
    )
    assert [cure.change for cure in found.cures] == [{"num_stages": 1}, {"BLOCK_M": 128}, {"num_warps": 4}]
    assert found.cures[2].price == ["waves per SIMD 2 to 1"]
    assert found.cures[2].price_severity is Severity.ERROR
    assert found.cures[0].before == {"num_stages": 2}
    # Enough was found: neither pairs nor knobs that deal out the work were tried.
    assert {"GROUP_M": 8} not in after.asked
    assert {"BLOCK_M": 128, "num_warps": 4} not in after.asked


def test_pairs_are_tried_when_single_knobs_do_not_suffice() -> None:
    found, _, after = run({(("BLOCK_M", 128), ("num_warps", 4)): entry(0, 65536)})
    assert [cure.change for cure in found.cures] == [{"BLOCK_M": 128, "num_warps": 4}]
    assert {"GROUP_M": 8} in after.asked


def test_lds_over_the_limit_is_no_cure() -> None:
    found, _, _ = run({(("num_stages", 3),): entry(0, 204208)})
    assert found.cures == []


def test_changes_that_do_not_compile_are_counted() -> None:
    found, _, _ = run({(("num_stages", 1),): None})
    assert (found.failed, found.left) == (1, 0)
    assert found.tried == 9


def test_when_the_time_is_spent_the_rest_is_left_out() -> None:
    after = Fake({ASYNC: True}, {}, NEW)
    before = Fake({ASYNC: False}, {}, OLD)
    found = explain(Case(OLD, NEW, ("a", "b"), (0, 1), CONFIG, DiffLimits()), before, after, seconds=0.0)
    assert (found.tried, found.left) == (0, 7)
    assert found.summary == "no cause was found within the time"


@pytest.mark.parametrize(
    ("switch", "tried"), [("TRITON_HIP_USE_COEXEC_SCHEDULER", False), ("AMDGCN_USE_BUFFER_ATOMICS", False)]
)
def test_switches_that_cannot_matter_are_not_tried(switch: str, tried: bool) -> None:
    _, _, after = run({}, **{switch: False})
    assert any(switch in change for change in after.asked) is tried


def test_cures_come_by_predicted_time() -> None:
    """Of two within 1 % the one with the lower price; without a time for one of them, by price and size of change."""
    from kprof.diffing.document import TriedChange
    from kprof.tuning.trials.explain import ranked

    slow = TriedChange({"num_stages": 1}, {}, {}, time_us=120.0)
    fast = TriedChange({"BLOCK_M": 64, "num_warps": 8}, {}, {}, time_us=100.2, price=["LDS 1 to 2"])
    near = TriedChange({"BLOCK_M": 64, "num_warps": 4}, {}, {}, time_us=100.0)
    assert ranked([slow, fast, near]) == [near, fast, slow]
    unknown = TriedChange({"kpack": 2}, {}, {})
    assert ranked([fast, unknown, slow, near])[-1] == fast


def test_a_cure_says_how_certain_it_is_that_it_is_faster() -> None:
    """Beside the new side as it is, by the shares of docs/validation/model.md; not known without times."""

    def timed(one: KernelReport, us: float) -> KernelReport:
        return msgspec.structs.replace(one, model=Prediction(us, None, None, None, "matrix", {}))

    outcomes: dict[tuple[tuple[str, Any], ...], KernelReport | None] = {
        (("num_stages", 1),): timed(entry(0, 32768), 100.0),
        (("num_warps", 4),): entry(0, 32768),
    }
    new = timed(NEW, 113.0)
    after = Fake({BUFFERS: True}, outcomes, new)
    case = Case(OLD, new, ("a", "b"), (0, 1), CONFIG, DiffLimits())
    found = explain(case, Fake({BUFFERS: True}, {}, OLD), after, seconds=60)
    cures = {str(cure.change): (cure.speedup, cure.certainty) for cure in found.cures}
    assert cures["{'num_stages': 1}"] == (1.13, certainty(1.13, "gfx942"))
    assert cures["{'num_warps': 4}"] == (None, None)
    (line,) = cure_times(found)
    assert line.endswith(f"1.13 times as fast, {100 * certainty(1.13, 'gfx942'):.0f} % sure that it is faster")


@pytest.mark.parametrize(("us", "named"), [(111.0, False), (80.0, True), (None, True)])
def test_a_cause_brings_back_the_predicted_time(us: float | None, named: bool) -> None:
    """A switch that brings back a register alone did not make the kernel slower."""

    def timed(one: KernelReport, time_us: float) -> KernelReport:
        return msgspec.structs.replace(one, product="MI355X", model=Prediction(time_us, None, None, None, "matrix", {}))

    old, new = timed(OLD, 74.0), timed(NEW, 112.0)
    tried = entry(0, 65536) if us is None else timed(entry(0, 65536), us)
    after = Fake({BUFFERS: True}, {((BUFFERS, "0"),): tried}, new)
    case = Case(old, new, ("a", "b"), (0, 1), CONFIG, DiffLimits())
    assert "model_us" in {change.metric for change in case.harm}
    found = explain(case, Fake({BUFFERS: True}, {}, old), after, seconds=60)
    assert [cause.change for cause in found.causes] == [{BUFFERS: "0"}] * named
    assert named is not found.summary.startswith("no environment switch restores the old code")


@pytest.mark.parametrize(("us", "named"), [(150.0, False), (114.0, True), (90.0, True)])
def test_what_is_predicted_to_be_slower_fixes_nothing(us: float, named: bool) -> None:
    """It brings the registers back and takes longer than the code that spills a few of them outside of its loops."""

    def timed(one: KernelReport, time_us: float) -> KernelReport:
        return msgspec.structs.replace(one, model=Prediction(time_us, None, None, None, "matrix", {}))

    new = timed(NEW, 113.0)
    after = Fake({BUFFERS: True}, {(("num_stages", 1),): timed(entry(0, 32768), us)}, new)
    case = Case(OLD, new, ("a", "b"), (0, 1), CONFIG, DiffLimits())
    found = explain(case, Fake({BUFFERS: True}, {}, OLD), after, seconds=60)
    assert [cure.change for cure in found.cures] == [{"num_stages": 1}] * named


@pytest.mark.parametrize(
    ("through", "part", "words"),
    [
        (entry(160, 65536), "llvm", "the change is in LLVM's code generator"),
        (OLD, "before llvm", "the change is in Triton's own passes, before LLVM"),
        (entry(80, 65536), "both", "the change is in Triton's own passes and LLVM's code generator"),
    ],
)
def test_the_old_sides_llvm_ir_says_which_half_of_the_compiler_changed(
    through: KernelReport, part: str, words: str
) -> None:
    """Without a switch that brings the old code back, the answer is which half it is; figures stand beside it."""
    after = Fake({ASYNC: False}, {}, NEW, llvm=through)
    found = explain(
        Case(OLD, NEW, ("3.6.0", "3.8.0"), (0, 1), CONFIG, DiffLimits()),
        Fake({ASYNC: False}, {}, OLD),
        after,
        seconds=60,
    )
    assert not isinstance(found.by_stage, msgspec.UnsetType)
    assert found.by_stage.part == part
    assert found.by_stage.figures["vgpr_spills"] == (0, {"before llvm": 0, "both": 80, "llvm": 160}[part], 160)
    assert words in found.summary
    assert "from 3.6.0 to 3.8.0" in found.summary


def test_what_llvm_does_not_read_is_a_note() -> None:
    """The answer is what it was without: the compiler itself."""
    case = Case(OLD, NEW, ("3.9.0", "3.6.0"), (0, 1), CONFIG, DiffLimits())
    found = explain(case, Fake({ASYNC: False}, {}, OLD), Fake({ASYNC: False}, {}, NEW), seconds=60)
    assert found.by_stage is msgspec.UNSET
    assert "the LLVM IR of 3.9.0 does not compile with the LLVM of 3.6.0: LLVM cannot compile it" in found.notes
    assert "the change is in the compiler itself" in found.summary


@pytest.mark.parametrize(("us", "is_cure"), [(130.0, True), (260.0, False)])
def test_an_error_that_is_none_any_more_is_a_price(us: float, is_cure: bool) -> None:
    """Three times the time became 1.3 times the time: the error is gone, and what is left of it is said."""

    def timed(report: KernelReport, time_us: float) -> KernelReport:
        model = Prediction(time_us=time_us, low_us=1.0, high_us=1e3, cycles=1.0, bound="issue", shares={}, loops=[])
        return msgspec.structs.replace(report, model=model, product="MI355X")

    old, new = timed(OLD, 100.0), timed(NEW, 300.0)
    trial = Case(old, new, ("3.6.0", "3.9.0"), (0, 1), CONFIG, DiffLimits()).judge({"num_warps": 4}, timed(OLD, us))
    assert trial.cured is is_cure
    assert ("predicted time 100 to 130" in trial.price) is is_cure
