"""Every rule's finding leads to its instructions, on every case of the rules' pages."""

import pytest

from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.rules import rules
from kprof_analyzers.rules.finding_instructions import Subject, about, instructions_of, subject_of
from tests.rules.literate import assembly, cases, facts_of

# Most of a case's TTGIR has no assembly beside it.
FIRING = [case for case in cases() if case.fires and case.language == "asm"]


@pytest.mark.parametrize("case", FIRING, ids=lambda case: case.name)
def test_a_finding_leads_to_its_instructions(case):
    """Some of its kind, in the loop that it names, on its line where that has any; none for what is about the whole."""
    rule = next(r for r in rules() if type(r).__module__.endswith(f".{case.file.parent.name}.{case.file.stem}"))
    facts = facts_of(case)
    for finding in rule.analyze(facts).findings:
        subject = subject_of(finding)
        landed = [facts.program.instructions[at] for at in instructions_of(facts.program, subject)]
        said = about(finding.rule)
        if said.whole_kernel or (said.is_meant is None and subject.line is None):
            assert landed == []
            continue
        assert landed, finding
        test = said.is_meant or (lambda _: True)
        there = [one for one in facts.program.instructions if one.user_frame and one.user_frame.line == subject.line]
        if any(map(test, there)):
            assert {one.user_frame.line for one in landed} == {subject.line}
        if any(map(test, facts.program.instructions)):
            assert all(map(test, landed))
        named = finding.evidence.get("instruction")
        if isinstance(named, str):
            assert any(one.opcode.name.startswith(named.partition(" ")[0]) for one in landed)


def test_spills_lead_to_scratch_and_not_to_the_prologue():
    """The compiler gives them the lines of what they spill: the first instruction of that line may be far away."""
    found = 0
    for case in (case for case in FIRING if case.name.startswith("spill_in_loop")):
        facts = facts_of(case)
        (rule,) = (one for one in rules() if one.id == "KP301")
        for finding in rule.analyze(facts).findings:
            for at in instructions_of(facts.program, subject_of(finding)):
                found += 1
                assert facts.program.instructions[at].opcode.cls is InstructionClass.SCRATCH
                assert any(at in loop.instructions for loop in facts.program.loops)
    assert found


# Lines 5 and 7 of k.py, the second one in a loop and behind it, and line 7 of another file.
BODY = """
\t.loc\t1 5 0
\tglobal_load_dwordx4 v[0:3], v[4:5], off
\ts_waitcnt vmcnt(0)
.LBB0_1:
\t.loc\t1 7 0
\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
\tv_add_f32_e32 v0, v1, v2
\tds_read_b128 v[0:3], v4
\tglobal_load_dword v0, v[4:5], off
\ts_barrier
\tscratch_load_dword v0, off, off
\ts_waitcnt lgkmcnt(0)
\ts_cbranch_scc1 .LBB0_1
\tv_mul_f32_e32 v0, v1, v2
\t.file\t2 "/lib" "lib.py"
\t.loc\t2 7 0
\tv_sub_f32_e32 v0, v1, v2
"""
NO_RULE = "KP999"
"""Of an older report: nothing but the line is known of what it is about."""


def landed(rule, line=None, *, file="/user/k.py", loop=None, cause=None):
    """Names of the instructions that a finding leads to."""
    program = facts_of(assembly(BODY)).program
    found = instructions_of(program, Subject(rule, file if line else None, line, loop, cause))
    assert found == sorted(found)
    return [program.instructions[at].opcode.name for at in found]


@pytest.mark.parametrize(
    ("cause", "names"),
    [
        ("matrix", ["v_mfma_f32_32x32x8_f16"]),
        ("vector", ["v_add_f32", "v_mul_f32"]),
        ("lds", ["ds_read_b128", "s_waitcnt"]),
        ("memory latency", ["global_load_dword", "s_waitcnt"]),
        ("memory bandwidth", ["global_load_dword", "s_waitcnt"]),
        ("barrier", ["s_barrier"]),
        ("scratch", ["scratch_load_dword"]),
    ],
)
def test_a_cause_leads_to_the_instructions_that_take_the_time(cause, names):
    """On the line, and of it those in the loop where one is named."""
    assert landed(NO_RULE, 7, cause=cause) == names
    assert landed(NO_RULE, 7, cause=cause, loop=".LBB0_1") == [name for name in names if name != "v_mul_f32"]
    assert landed(NO_RULE, cause=cause, loop=".LBB0_1") == [name for name in names if name != "v_mul_f32"]
    assert landed(NO_RULE, cause=cause) == []


def test_a_line_alone_leads_to_all_that_became_of_it():
    """In its file and in the loop that is named."""
    inside = landed(NO_RULE, 7, loop=".LBB0_1")
    assert inside[0] == "v_mfma_f32_32x32x8_f16"
    assert inside[-1] == "s_cbranch_scc1"
    assert landed(NO_RULE, 7) == [*inside, "v_mul_f32"]
    assert landed(NO_RULE, 5) == landed(NO_RULE, 5, loop=".LBB0_1") == ["global_load_dwordx4", "s_waitcnt"]
    assert landed(NO_RULE, 7, file="/lib/lib.py")[0] == "v_sub_f32"
    assert landed(NO_RULE, 6) == []


def test_where_the_line_was_lost_the_loop_and_the_kind_lead():
    """A rule about a kind of instruction: first in the loop, then anywhere."""
    (rule,) = (one.id for one in rules() if one.name == "narrow-global-load")
    assert landed(rule, 5) == ["global_load_dwordx4"]
    assert landed(rule, 6, loop=".LBB0_1") == ["global_load_dword"]
    assert landed(rule, 6) == ["global_load_dwordx4", "global_load_dword"]
    (whole,) = (one.id for one in rules() if one.name == "lds-over-limit")
    assert landed(whole, 7) == []
