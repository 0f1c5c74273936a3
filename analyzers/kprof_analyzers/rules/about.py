"""What a rule's findings are about, which decides the instructions that a finding's link leads to."""

from collections.abc import Callable
from dataclasses import dataclass

from kprof.inputs.amdgcn import Instruction, InstructionClass, InstructionKind


@dataclass(frozen=True)
class About:
    """The subject of a rule's findings.

    Attributes:
        is_meant: whether an instruction is of the kind that the rule is about; ``None``: of any kind.
        whole_kernel: a finding is about the launch or the kernel as a whole, and no instruction is its.
    """

    is_meant: Callable[[Instruction], bool] | None = None
    whole_kernel: bool = False


def of_class(*classes: InstructionClass) -> About:
    """Instructions of one of these classes."""
    return About(lambda one: one.opcode.cls in classes)


def of_kind(kind: InstructionKind) -> About:
    """Instructions of one kind."""
    return About(lambda one: one.opcode.kind is kind)


KERNEL = About(whole_kernel=True)
LINE = About()
"""Whatever the finding's line of the source became."""

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
