"""Findings that one repair removes are one cause, and its cost is counted once."""

import pytest

from kprof.analysis import ModelChange
from kprof.findings import Finding, Gain, Severity
from kprof_analyzers.causes import group, union


def finding(rule: str, us: float | None, *, at_most: bool = False) -> Finding:
    """A finding of a launch of 100 µs."""
    gain = None if us is None else Gain(us=us, low_us=us, high_us=us, share=us / 100, at_most=at_most)
    return Finding(rule=rule, name=rule.lower(), severity=Severity.WARNING, message=rule, gain=gain)


def test_findings_that_remove_the_same_instructions_are_one_cause():
    """Spills in a loop are a part of all spills: the larger cost names the cause."""
    findings = [finding("SOME", 40.0), finding("ALL", 75.0)]
    changes = [ModelChange(gone=(3, 4)), ModelChange(gone=(3, 4, 9))]
    (cause,) = group(findings, changes)
    assert cause.findings == [1, 0]
    assert cause.gain == findings[1].gain


@pytest.mark.parametrize(("both", "causes"), [(76.0, [[0, 1]]), (95.0, [[0], [1]])])
def test_a_cost_that_another_repair_saves_as_well_is_no_cause_of_its_own(both, causes):
    """Of 30 µs at most 1 µs, or 20 µs, remain when the first cause is repaired."""
    findings = [finding("SPILLS", 75.0), finding("OCCUPANCY", 30.0, at_most=True)]
    changes = [ModelChange(gone=(1,)), ModelChange(workgroups_per_cu=2, at_most=True)]
    asked: list[ModelChange] = []

    def cost_of(change: ModelChange) -> Gain:
        asked.append(change)
        return Gain(us=both, low_us=both, high_us=both, share=both / 100)

    assert [cause.findings for cause in group(findings, changes, cost_of)] == causes
    assert asked == [union(*changes)]


def test_a_repair_names_the_cause_and_an_upper_bound_follows():
    """Waiting for memory is the larger number, and narrow loads are the reason for it."""
    findings = [finding("WAITS", 33.0, at_most=True), finding("NARROW", 20.0)]
    changes = [ModelChange(leave_out=("memory_latency",), at_most=True), ModelChange(wide={4: 16})]
    (cause,) = group(findings, changes, lambda _: Gain(us=35.0, low_us=0.0, high_us=35.0, share=0.35))
    assert cause.findings == [1, 0]


def test_causes_are_ordered_by_what_a_repair_is_expected_to_gain():
    """A cost counts in full, an upper bound for half; then unknown costs, then negligible ones."""
    findings = [
        finding("TINY", 0.1), finding("UNKNOWN", None), finding("BOUND", 30.0, at_most=True), finding("COST", 20.0),
    ]  # fmt: skip
    changes = [
        ModelChange(gone=(1,)),
        None,
        ModelChange(leave_out=("lds_latency",), at_most=True),
        ModelChange(gone=(2,)),
    ]
    assert [cause.findings for cause in group(findings, changes)] == [[3], [2], [1], [0]]


def test_what_prevents_a_launch_comes_first():
    """Its cost is not known, since nothing can be launched."""
    findings = [finding("COST", 20.0), finding("KP401", None)]
    causes = group(findings, [ModelChange(gone=(2,)), None], fatal={"KP401"})
    assert [cause.findings for cause in causes] == [[1], [0]]


def test_several_places_of_a_rule_without_a_model_are_one_cause():
    """Two rules without an effect stay two causes."""
    findings = [finding("KP104", None), finding("KP105", None), finding("KP104", None)]
    assert [cause.findings for cause in group(findings, [None] * 3)] == [[0, 2], [1]]


def test_a_union_removes_both_effects():
    """An access that is gone is not widened as well, and factors multiply."""
    first = ModelChange(gone=(1,), wide={2: 16}, cycles={3: 0.5}, num_warps=8, idle_share=0.1)
    second = ModelChange(gone=(2,), wide={4: 8}, cycles={3: 0.5}, num_warps=4, at_most=True)
    assert union(first, second) == ModelChange(
        gone=(1, 2), wide={4: 8}, cycles={3: 0.25}, num_warps=4, idle_share=0.1, at_most=True
    )


def test_effects_that_share_an_instruction_are_one_cause_among_hundreds():
    """The group whose effect removes it, however many there are; equal effects without instructions, too."""
    findings = [finding(f"R{number}", None) for number in range(603)]
    changes = [ModelChange(gone=(2 * number, 2 * number + 1)) for number in range(600)]
    changes += [ModelChange(gone=(801, 999)), ModelChange(wide={4: 16}), ModelChange(wide={4: 16})]
    found = [cause.findings for cause in group(findings, changes)]
    assert len(found) == 601
    assert [400, 600] in found
    assert [601, 602] in found


@pytest.mark.parametrize(("left", "together"), [(14.9, True), (15.0, False)])
def test_less_than_half_of_a_cost_that_remains_is_the_same_cause(left, together):
    """A cost of 30 µs beside one of 75 µs."""
    findings = [finding("SPILLS", 75.0), finding("OCCUPANCY", 30.0, at_most=True)]
    changes = [ModelChange(gone=(1,)), ModelChange(workgroups_per_cu=2, at_most=True)]
    both = Gain(us=75.0 + left, low_us=0.0, high_us=100.0, share=0.9)
    found = [cause.findings for cause in group(findings, changes, lambda _: both)]
    assert found == ([[0, 1]] if together else [[0], [1]])


@pytest.mark.parametrize(("us", "asked"), [(1.0, 1), (0.9, 0)])
def test_from_a_hundredth_of_the_time_on_a_cost_is_compared(us, asked):
    """Below it neither the finding nor the cause that it might belong to is worth a simulation."""
    for costs in ((75.0, us), (us, us)):
        findings = [finding("A", costs[0]), finding("B", costs[1], at_most=True)]
        changes = [ModelChange(gone=(1,)), ModelChange(num_warps=8, at_most=True)]
        questions: list[ModelChange] = []

        def cost_of(change: ModelChange, questions: list[ModelChange] = questions) -> Gain:
            questions.append(change)
            return Gain(us=500.0, low_us=0.0, high_us=500.0, share=1.0)

        group(findings, changes, cost_of)
        assert len(questions) == asked


def test_a_finding_is_compared_with_the_three_largest_causes():
    """The fourth would take one more simulation."""
    findings = [finding(f"R{n}", 50.0 - n) for n in range(4)] + [finding("LAST", 5.0, at_most=True)]
    changes = [ModelChange(gone=(n,)) for n in range(4)] + [ModelChange(num_warps=8, at_most=True)]
    asked: list[ModelChange] = []

    def cost_of(change: ModelChange) -> Gain:
        asked.append(change)
        return Gain(us=500.0, low_us=0.0, high_us=500.0, share=1.0)

    group(findings, changes, cost_of)
    last = [change for change in asked if change.num_warps == 8]
    assert [change.gone for change in last] == [(0,), (1,), (2,)]


@pytest.mark.parametrize(("cost", "first"), [(14.0, "BOUND"), (16.0, "COST")])
def test_an_upper_bound_is_expected_to_gain_half(cost, first):
    """30 µs at most against a cost that is known."""
    findings = [finding("COST", cost), finding("BOUND", 30.0, at_most=True)]
    changes = [ModelChange(gone=(1,)), ModelChange(leave_out=("lds_latency",), at_most=True)]
    (index,) = group(findings, changes)[0].findings
    assert findings[index].rule == first


def test_negligible_costs_come_last_the_larger_one_first():
    findings = [finding("TINY", 0.1), finding("SMALL", 0.9), finding("ONE", 1.0), finding("UNKNOWN", None)]
    changes = [ModelChange(gone=(n,)) for n in range(3)] + [None]
    assert [cause.findings for cause in group(findings, changes)] == [[2], [3], [1], [0]]


def test_a_union_keeps_each_name_once_and_the_tighter_of_two_limits():
    first = ModelChange(
        gone=(1, 2), conflict_free=(7,), leave_out=("lds_latency",), workgroups_per_cu=2, idle_share=0.1
    )
    second = ModelChange(
        gone=(2, 1), conflict_free=(7, 8), leave_out=("lds_latency",), workgroups_per_cu=3, idle_share=0.3
    )
    assert union(first, second) == ModelChange(
        gone=(1, 2), conflict_free=(7, 8), leave_out=("lds_latency",), workgroups_per_cu=3, idle_share=0.3
    )
    assert union(ModelChange(cycles={1: 0.5}), ModelChange(cycles={2: 0.25})).cycles == {1: 0.5, 2: 0.25}


def test_the_best_known_cost_names_a_cause():
    """A cost comes first, then an upper bound, an unknown cost, and negligible ones, of each the larger first."""
    costs = [finding("TINY", 0.1), finding("SMALL", 0.9), finding("UNKNOWN", None)]
    findings = [*costs, finding("BOUND", 30.0, at_most=True), finding("COST", 20.0), finding("LESS", 10.0)]
    (cause,) = group(findings, [ModelChange(gone=(7,))] * 6)
    assert cause.findings == [4, 5, 3, 2, 1, 0]
    assert cause.gain == findings[4].gain
    (cause,) = group(costs, [ModelChange(gone=(7,))] * 3)
    assert (cause.findings, cause.gain) == ([2, 1, 0], None)


def test_a_cost_that_cannot_be_modelled_together_is_a_cause_of_its_own():
    findings = [finding("SPILLS", 75.0), finding("OCCUPANCY", 30.0, at_most=True)]
    changes = [ModelChange(gone=(1,)), ModelChange(workgroups_per_cu=2, at_most=True)]
    assert [cause.findings for cause in group(findings, changes, lambda _: None)] == [[0], [1]]


def test_causes_without_an_effect_or_a_cost_are_passed_over_in_a_comparison():
    """The third cause of the three that are compared has both."""
    findings = [
        finding("NONE", 50.0),
        finding("UNKNOWN", None),
        finding("COST", 40.0),
        finding("LAST", 30.0, at_most=True),
    ]
    changes = [None, ModelChange(gone=(1,)), ModelChange(gone=(2,)), ModelChange(num_warps=8, at_most=True)]
    asked: list[ModelChange] = []

    def cost_of(change: ModelChange) -> Gain:
        asked.append(change)
        return Gain(us=41.0, low_us=0.0, high_us=41.0, share=0.41)

    assert [cause.findings for cause in group(findings, changes, cost_of)] == [[0], [2, 3], [1]]
    assert asked == [union(changes[2], changes[3])]


def test_either_side_of_a_union_may_be_an_upper_bound_and_have_the_only_limit():
    bound, other = ModelChange(num_warps=4, at_most=True), ModelChange(workgroups_per_cu=2)
    for one, two in ((bound, other), (other, bound)):
        assert union(one, two) == ModelChange(num_warps=4, workgroups_per_cu=2, at_most=True)
    assert union(ModelChange(num_warps=4), ModelChange(num_warps=8)).num_warps == 4
    assert union(ModelChange(wide={1: 8, 2: 8}), ModelChange(gone=(1,))).wide == {2: 8}
    assert not union(ModelChange(), ModelChange()).at_most
