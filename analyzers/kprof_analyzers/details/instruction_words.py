"""Describe each instruction in a few words, as hover text in the instruction listing."""

from collections.abc import Mapping, Sequence

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof_analyzers.registers.liveness import Liveness
from kprof_analyzers.scheduling.waits import Wait, issue_cycles, waits_of

_CLASSES: Mapping[InstructionClass, str] = {
    InstructionClass.MATRIX: "matrix instruction",
    InstructionClass.VALU: "vector instruction",
    InstructionClass.SALU: "scalar instruction",
    InstructionClass.VMEM: "memory access of vector registers",
    InstructionClass.SMEM: "memory read into scalar registers",
    InstructionClass.LDS: "access to LDS",
    InstructionClass.SCRATCH: "access to scratch",
    InstructionClass.WAIT: "wait",
    InstructionClass.BARRIER: "barrier of the workgroup",
    InstructionClass.BRANCH: "branch",
}
_MOST_REGISTERS = 6


def instruction_words(facts: KernelFacts) -> list[str]:
    """Return a description of each instruction: its class, issue cycles, what it waits for, and its registers.

    Args:
        facts: the kernel.
    """
    waits: dict[int, list[Wait]] = {}
    for loop in facts.program.loops:
        for wait in waits_of(facts.program, loop, facts.arch):
            waits.setdefault(wait.instruction.index, []).append(wait)
    return [_instruction_text(one, waits.get(one.index, ()), facts) for one in facts.program.instructions]


def live_registers(facts: KernelFacts) -> list[int]:
    """Return for each instruction the number of VGPRs whose values are needed there or later."""
    return list(Liveness(facts.program).pressure["vgpr"])


def _instruction_text(one: Instruction, waits: Sequence[Wait], facts: KernelFacts) -> str:
    cycles = issue_cycles(one, facts.arch)
    parts = [_CLASSES.get(one.opcode.cls, one.opcode.cls.value)]
    if cycles is not None:
        parts.append(f"the wavefront's next instruction issues {cycles} cycles later")
    parts += [_wait(wait) for wait in waits]
    for verb, names in (("reads", one.effects.read_groups), ("writes", one.effects.write_groups)):
        if names:
            parts.append(f"{verb} {_registers(names)}")
    return "; ".join(parts)


def _wait(wait: Wait) -> str:
    if wait.waits_for is None:
        return f"{wait.counter}: nothing is outstanding"
    between = "" if wait.cycles is None else f", issued {wait.cycles} cycles earlier"
    return f"waits for {wait.waits_for.mnemonic} of line {wait.waits_for.line}{between}"


def _registers(groups: Sequence[tuple[str, ...]]) -> str:
    shown = [group[0] if len(group) == 1 else f"{group[0]} to {group[-1]}" for group in groups if group]
    more = len(shown) - _MOST_REGISTERS
    return ", ".join(shown[:_MOST_REGISTERS]) + (f" and {more} more" if more > 0 else "")
