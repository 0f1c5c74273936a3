"""Find the instructions that a finding is about, which the finding's link on a page leads to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from msgspec import UnsetType

from kprof.findings import Finding
from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass
from kprof_analyzers.rules import known_rules
from kprof_analyzers.rules.about import (
    BARRIERS,
    LINE,
    MATRIX_INSTRUCTIONS,
    SCRATCH_ACCESSES,
    VALU_INSTRUCTIONS,
    About,
    of_class,
)

_MEMORY = of_class(InstructionClass.VMEM, InstructionClass.WAIT)
_CAUSES: Mapping[str, About] = {
    "matrix": MATRIX_INSTRUCTIONS,
    "vector": VALU_INSTRUCTIONS,
    "lds": of_class(InstructionClass.LDS, InstructionClass.WAIT),
    "memory latency": _MEMORY,
    "memory bandwidth": _MEMORY,
    "barrier": BARRIERS,
    "scratch": SCRATCH_ACCESSES,
}
"""Map from cause of lost time to the instructions that it affects, for rules about instructions of any kind."""


@dataclass(frozen=True)
class Subject:
    """The properties of a finding that determine its instructions.

    Attributes:
        rule: identifier of the finding's rule.
        file, line: source location of the finding; ``None`` if it has none.
        loop: label of the loop named in the finding's evidence.
        cause: cause of the lost time named in the finding's evidence.
    """

    rule: str
    file: str | None = None
    line: int | None = None
    loop: str | None = None
    cause: str | None = None


def subject_of(finding: Finding) -> Subject:
    """Return the properties of a finding that determine its instructions."""
    said = [finding.evidence.get(name) for name in ("loop", "cause")]
    loop, cause = (value if isinstance(value, str) else None for value in said)
    if isinstance(finding.location, UnsetType):
        return Subject(finding.rule, None, None, loop, cause)
    return Subject(finding.rule, finding.location.file, finding.location.line, loop, cause)


def about(rule: str) -> About:
    """Return the subject of a rule, or ``LINE`` if no rule has this identifier."""
    return next((one.about for one in known_rules() if one.id == rule), LINE)


def instructions_of(program: AssemblyKernel, subject: Subject) -> list[int]:
    """Return the indices of the instructions that a finding is about, in program order.

    The result is the first nonempty set in this order: instructions of the rule's kind on the finding's line in its
    loop, on the line, in the loop, in the whole kernel; any instructions on the line in the loop, on the line. Later
    sets are used if the compiler dropped lines or moved instructions. If the rule has no kind, the finding's cause
    determines the kind, and the search in the whole kernel is omitted. The result is empty for findings about the
    launch or the whole kernel.
    """
    found = about(subject.rule)
    if found.whole_kernel:
        return []
    inside = {at for loop in program.loops if loop.header == subject.loop for at in loop.instructions}
    here = {one.index for one in program.instructions if _is_at(one, subject)}
    is_meant = (found if found.is_meant else _CAUSES.get(subject.cause or "", LINE)).is_meant
    meant = _positions(program, is_meant)
    choices: Iterable[set[int]] = (here & inside & meant, here & meant, inside & meant)
    if found.is_meant:
        choices = (*choices, meant)
    return sorted(next(filter(None, (*choices, here & inside, here)), set()))


def _positions(program: AssemblyKernel, is_meant: Callable[[Instruction], bool] | None) -> set[int]:
    return set() if is_meant is None else {one.index for one in program.instructions if is_meant(one)}


def _is_at(one: Instruction, subject: Subject) -> bool:
    if subject.line is None:
        return False
    return any(frame.line == subject.line and frame.file == subject.file for frame in one.location)
