"""KP111 narrow-lds-access."""

from collections import defaultdict
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass, Loop
from kprof_analyzers.advice.rule import Rule
from kprof_analyzers.memory.transposition import transposed_operands
from kprof_analyzers.scheduling.loops import own_instructions
from kprof_analyzers.source_lines import busiest, location_of

_NARROW = 4
# A reduction across wavefronts or a scale takes a few narrow accesses; a tile takes many.
_ENOUGH = 8


class NarrowLdsAccess(Rule):
    """A loop moves a tile through LDS in pieces of 1, 2 or 4 bytes.

    ## What it does
    Looks at the LDS reads and writes of each innermost loop with matrix instructions. When one source line makes at
    least eight accesses of less than 4 bytes an address, or sixteen of 4, it is reported with the widths found.

    ## Why it matters
    LDS serves 16 bytes a lane with one `ds_read_b128`. In pieces of 2 bytes the same data takes eight instructions,
    with instructions besides that put the halves together.

    ## Evidence
    `widths`: bytes at an address to number of instructions. `loop`. Reads that the hardware transposes
    (`ds_read_b64_tr_b16` on gfx950) are not narrow.

    ## What to try
    The operand is usually transposed on its way: give the tensor the other order of strides, or load it so that the
    dimension that is contiguous in memory is the one along K.
    """

    id: ClassVar[str] = "KP111"
    name: ClassVar[str] = "narrow-lds-access"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        # A transposed operand is reported with its cause by a rule of its own.
        explained = {line for found in transposed_operands(facts) for line in found.lines}
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index not in parents:
                yield from self._check_loop(facts, loop, explained)

    def _check_loop(self, facts: KernelFacts, loop: Loop, explained: set[tuple[str, int]]) -> Iterable[Finding]:
        members = own_instructions(facts.program, loop)
        if not any(i.opcode.cls is InstructionClass.MATRIX for i in members):
            return
        by_line: dict[str, list[Instruction]] = defaultdict(list)
        for instruction in members:
            place = location_of(instruction)[0]
            if _moves_data(instruction) and (place is None or (place.file, place.line) not in explained):
                by_line[str(place)].append(instruction)
        for accesses in by_line.values():
            widths: dict[int, int] = defaultdict(int)
            for access in accesses:
                widths[_width(access)] += 1
            # Sub-dword pieces weigh double: each also takes an instruction to be put in place.
            weight = sum((2 if width < _NARROW else 1) * n for width, n in widths.items() if width <= _NARROW)
            if weight < 2 * _ENOUGH:
                continue
            listed = ", ".join(f"{n} of {width} B" for width, n in sorted(widths.items()))
            yield self.finding(
                f"{len(accesses)} LDS accesses in loop {loop.header}: {listed} a lane",
                at=busiest(accesses)[0],
                evidence={"loop": loop.header, "widths": dict(sorted(widths.items()))},
            )


def _moves_data(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    plain = (opcode.is_load or opcode.is_store) and not opcode.is_atomic
    return (
        opcode.cls is InstructionClass.LDS and plain and "permute" not in opcode.name and "swizzle" not in opcode.name
    )


def _width(instruction: Instruction) -> int:
    """Bytes at one address: ``ds_read2_b64`` has two addresses of 8."""
    opcode = instruction.opcode
    return (opcode.bytes_per_lane or 0) // max(1, opcode.parts)
