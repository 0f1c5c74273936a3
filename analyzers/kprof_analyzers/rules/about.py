"""Define the subject of a rule: the instructions that its findings are about. A finding's link on a page shows them."""

from collections.abc import Callable
from dataclasses import dataclass

from kprof.inputs.amdgcn import Instruction, InstructionClass, InstructionKind


@dataclass(frozen=True)
class About:
    """The subject of a rule's findings.

    Attributes:
        is_meant: function that returns whether a finding is about an instruction; ``None`` for instructions of any
            kind.
        whole_kernel: True if findings are about the launch or the whole kernel rather than about instructions.
    """

    is_meant: Callable[[Instruction], bool] | None = None
    whole_kernel: bool = False


def of_class(*classes: InstructionClass) -> About:
    """Return the subject for instructions of the given classes."""
    return About(lambda one: one.opcode.cls in classes)


def of_kind(kind: InstructionKind) -> About:
    """Return the subject for instructions of one kind."""
    return About(lambda one: one.opcode.kind is kind)


KERNEL = About(whole_kernel=True)
LINE = About()
"""Subject for rules about a source line: all instructions compiled from the finding's line."""

GLOBAL_ACCESSES = of_class(InstructionClass.VMEM)
GLOBAL_STORES = About(lambda one: one.opcode.cls is InstructionClass.VMEM and one.opcode.is_store)
LDS_ACCESSES = of_class(InstructionClass.LDS)
SCRATCH_ACCESSES = of_class(InstructionClass.SCRATCH)
WAITS = of_class(InstructionClass.WAIT)
BARRIERS = of_class(InstructionClass.BARRIER)
MATRIX_INSTRUCTIONS = of_class(InstructionClass.MATRIX)
VALU_INSTRUCTIONS = of_class(InstructionClass.VALU)
AGPR_COPIES = of_kind(InstructionKind.ACC_COPY)
TRANSCENDENTALS = of_kind(InstructionKind.TRANSCENDENTAL)
CONVERSIONS = of_kind(InstructionKind.CONVERSION)
DIVISIONS = About(lambda one: one.opcode.name.startswith("v_div_"))
