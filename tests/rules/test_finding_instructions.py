"""Every rule's finding leads to its instructions, on every case of the rules' pages."""

import pytest
from msgspec import UNSET

from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.rules import rules
from kprof_analyzers.rules.finding_instructions import Subject, about, instructions_of
from tests.rules.literate import cases, facts_of

# Most of a case's TTGIR has no assembly beside it.
FIRING = [case for case in cases() if case.fires and case.language == "asm"]


def subject_of(finding):
    place = None if finding.location is UNSET else finding.location
    text = {name: value if isinstance(value := finding.evidence.get(name), str) else None for name in ("loop", "cause")}
    return Subject(finding.rule, place and place.file, place and place.line, text["loop"], text["cause"])


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
