"""The instructions that a finding is about: where its link on a page leads."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kprof.inputs.amdgcn import AssemblyKernel, Instruction, InstructionClass, InstructionKind

Test = Callable[[Instruction], bool]


@dataclass(frozen=True)
class Subject:
    """What of a finding decides where its instructions are.

    Attributes:
        rule: its rule's identifier.
        file, line: its location; ``None`` without one.
        loop: label of the loop that its evidence names.
        cause: what its evidence says that the time goes to.
    """

    rule: str
    file: str | None = None
    line: int | None = None
    loop: str | None = None
    cause: str | None = None


def _of(*classes: InstructionClass) -> Test:
    return lambda one: one.opcode.cls in classes


def _kind(kind: InstructionKind) -> Test:
    return lambda one: one.opcode.kind is kind


def _global_store(one: Instruction) -> bool:
    return one.opcode.cls is InstructionClass.VMEM and one.opcode.is_store


def _division(one: Instruction) -> bool:
    return one.opcode.name.startswith("v_div_")


_MEMORY, _LDS = _of(InstructionClass.VMEM), _of(InstructionClass.LDS)
_WAIT, _MATRIX, _SCRATCH = _of(InstructionClass.WAIT), _of(InstructionClass.MATRIX), _of(InstructionClass.SCRATCH)
ABOUT: Mapping[str, Test] = {
    **dict.fromkeys(("KP101", "KP102", "KP103", "KP104", "KP106", "KP206", "KP604"), _MEMORY),
    "KP105": _global_store,
    **dict.fromkeys(("KP111", "KP112", "KP503", "KP601", "KP602", "KP603", "KP605"), _LDS),
    **dict.fromkeys(("KP204", "KP205"), _WAIT),
    "KP208": _of(InstructionClass.BARRIER),
    **dict.fromkeys(("KP301", "KP302", "KP305", "KP306"), _SCRATCH),
    "KP304": _kind(InstructionKind.ACC_COPY),
    "KP501": _of(InstructionClass.VALU),
    **dict.fromkeys(("KP209", "KP502", "KP504", "KP508"), _MATRIX),
    **dict.fromkeys(("KP506", "KP510"), _kind(InstructionKind.TRANSCENDENTAL)),
    "KP507": _kind(InstructionKind.CONVERSION),
    "KP509": _division,
}
"""Rules about one kind of instruction."""
AT_LINE = frozenset({"KP207", "KP303", "KP406", "KP408", "KP409", "KP410", "KP505"})
"""Rules about whatever a line of the source becomes."""
WHOLE = frozenset({"KP307", "KP401", "KP402", "KP403", "KP404", "KP405", "KP407"})
"""Rules about the launch or the kernel as a whole: no instruction is theirs."""
_CAUSES: Mapping[str, Test] = {
    "matrix": _MATRIX,
    "vector": _of(InstructionClass.VALU),
    "lds": _of(InstructionClass.LDS, InstructionClass.WAIT),
    "memory latency": _of(InstructionClass.VMEM, InstructionClass.WAIT),
    "memory bandwidth": _of(InstructionClass.VMEM, InstructionClass.WAIT),
    "barrier": _of(InstructionClass.BARRIER),
    "scratch": _SCRATCH,
}


def instructions_of(program: AssemblyKernel, subject: Subject) -> list[int]:
    """Positions of the instructions that a finding is about, in the order of the program.

    Those of its line, its loop and its kind; where the compiler kept no line, or moved them to another, those of its
    loop and kind, then of its kind alone. Empty for what is about the launch or the kernel as a whole.
    """
    if subject.rule in WHOLE:
        return []
    everything = program.instructions
    inside = {at for loop in program.loops if loop.header == subject.loop for at in loop.instructions}
    here = {one.index for one in everything if _is_at(one, subject)}
    test = ABOUT.get(subject.rule) or (_CAUSES.get(subject.cause or "") if subject.rule in AT_LINE else None)
    about = {one.index for one in everything if test is not None and test(one)}
    choices: Iterable[set[int]] = (here & inside & about, here & about, inside & about)
    if subject.rule in ABOUT:
        choices = (*choices, about)
    found = next(filter(None, (*choices, here & inside, here)), set())
    return sorted(found)


def _is_at(one: Instruction, subject: Subject) -> bool:
    if subject.line is None:
        return False
    return any(frame.line == subject.line and frame.file == subject.file for frame in one.location)
