"""Basic blocks, dominators and natural loops."""

import re
from collections.abc import Mapping, Sequence

from kprof.inputs.amdgcn.blocks import Block, Flow
from kprof.inputs.amdgcn.instruction import Instruction
from kprof.inputs.amdgcn.isa import InstructionClass, InstructionKind
from kprof.inputs.amdgcn.loops import dominators, natural_loops

_STOPS = {InstructionKind.JUMP, InstructionKind.INDIRECT, InstructionKind.END}
_LOCAL_LABEL = re.compile(r"\.L[\w$.]+")
_HARDLY_TARGETS = (".Ltmp", ".Lfunc_", ".Lpost_")
# A far jump is s_getpc, s_add, s_addc, s_setpc, with at most a few instructions of other work in between.
_FAR_JUMP_REACH = 8


def _far_target(instructions: Sequence[Instruction], position: int, labels: Mapping[str, int]) -> str | None:
    """Label that a ``s_setpc_b64`` jumps to, when the address was computed just before."""
    for instruction in reversed(instructions[max(0, position - _FAR_JUMP_REACH) : position]):
        if instruction.opcode.cls is InstructionClass.BRANCH:
            return None
        if instruction.opcode.name in {"s_add_u32", "s_add_co_u32", "s_add_nc_u64"}:
            for label in _LOCAL_LABEL.findall(instruction.text):
                if label in labels and not label.startswith(_HARDLY_TARGETS):
                    return str(label)
    return None


def _target(instructions: Sequence[Instruction], position: int, labels: Mapping[str, int]) -> str | None:
    instruction = instructions[position]
    if instruction.opcode.kind is InstructionKind.INDIRECT and instruction.opcode.name != "s_add_pc_i64":
        return _far_target(instructions, position, labels)
    label = instruction.target
    return label if label in labels else None


def _starts(
    instructions: Sequence[Instruction], labels: Mapping[str, int]
) -> tuple[list[int], dict[int, int], list[int]]:
    """Sorted block starts, jump target by branch position, and branches whose target is unknown."""
    count = len(instructions)
    starts = {0}
    targets: dict[int, int] = {}
    unknown = []
    for position, instruction in enumerate(instructions):
        opcode = instruction.opcode
        if opcode.cls is not InstructionClass.BRANCH:
            continue
        starts.add(position + 1)
        if opcode.kind in {InstructionKind.END, InstructionKind.CALL}:
            continue
        label = _target(instructions, position, labels)
        if label is None:
            unknown.append(position)
        elif labels[label] < count:
            targets[position] = labels[label]
            starts.add(labels[label])
    if any(instructions[p].opcode.kind is InstructionKind.INDIRECT for p in unknown):
        # Such a jump may go to any label, so that every label has to begin a block.
        starts.update(at for name, at in labels.items() if not name.startswith(_HARDLY_TARGETS))
    return sorted(s for s in starts if s < count), targets, unknown


def analyze(instructions: Sequence[Instruction], labels: Mapping[str, int]) -> Flow:
    """Control flow of one kernel.

    Args:
        instructions: in program order.
        labels: label to the index of the instruction that follows it.

    Returns:
        Blocks with their edges, dominators and loops. A return (``s_setpc_b64`` of the caller's address) and any other
        jump through a register has no successors and is listed in :attr:`Flow.indirect`.
    """
    count = len(instructions)
    if not count:
        return Flow((), (), (), (), ())
    starts, targets, unknown = _starts(instructions, labels)
    block_at = {start: number for number, start in enumerate(starts)}
    ends = [*starts[1:], count]
    successors: list[tuple[int, ...]] = []
    for number, end in enumerate(ends):
        last = instructions[end - 1].opcode
        following: list[int] = []
        branch = last.cls is InstructionClass.BRANCH
        if not (branch and last.kind in _STOPS) and number + 1 < len(starts):
            following.append(number + 1)
        if end - 1 in targets and block_at[targets[end - 1]] not in following:
            following.append(block_at[targets[end - 1]])
        successors.append(tuple(following))
    predecessors: list[list[int]] = [[] for _ in starts]
    for number, following_blocks in enumerate(successors):
        for successor in following_blocks:
            predecessors[successor].append(number)
    names: dict[int, str] = {}
    for label, at in labels.items():
        # Of several labels the last one is what branches name; the first may be the function itself.
        if at in block_at and (at not in names or not label.startswith(_HARDLY_TARGETS)):
            names[at] = label
    blocks = tuple(
        Block(n, names.get(start), start, ends[n], successors[n], tuple(predecessors[n]))
        for n, start in enumerate(starts)
    )
    idom, retreating = dominators(blocks)
    loops, irreducible = natural_loops(blocks, idom, retreating)
    lost = set(unknown)
    indirect = tuple(number for number, end in enumerate(ends) if end - 1 in lost)
    return Flow(blocks, tuple(idom), loops, irreducible, indirect)
