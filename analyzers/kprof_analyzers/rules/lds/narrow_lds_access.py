"""KP111 narrow-lds-access."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass, Loop
from kprof.inputs.mlir import Scalar, TensorType
from kprof.inputs.mlir.layouts import DotOperand
from kprof_analyzers.memory.transposition import transposed_operands
from kprof_analyzers.rules.about import LDS_ACCESSES, About
from kprof_analyzers.rules.narrow_accesses import as_wide
from kprof_analyzers.rules.questions import LDS, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Rule
from kprof_analyzers.scheduling.loops import own_instructions
from kprof_analyzers.source_lines import Located, busiest, location_of

Line = tuple[str, int]

_NOWHERE: Line = ("", 0)
_NARROW = 4
# Minimum number of narrow accesses. Fewer accesses are a reduction across wavefronts or a scale, not a tile.
_ENOUGH = 8


class NarrowLdsAccess(Rule):
    """A loop moves a tile through LDS in pieces of 1, 2 or 4 bytes.

    ## What it does
    Looks at the LDS reads and writes of each innermost loop with matrix instructions. Reports a source line with at
    least eight accesses of less than 4 bytes per address, or at least sixteen of 4 bytes, with the widths found. The
    rule ignores transposed operands (KP603), tiles whose global loads are already narrow (KP101), and operands of which
    a matrix instruction uses at most 4 bytes per lane, as with fp32.

    ## Why it matters
    LDS moves 16 bytes per lane with one `ds_read_b128`. In pieces of 2 bytes, the same data needs eight instructions,
    and further instructions that merge the halves.

    ## Evidence
    `widths`: for each number of bytes per address, the number of instructions. `loop`. Reads that the hardware
    transposes (`ds_read_b64_tr_b16` on gfx950) do not count as narrow.

    ## What to try
    Usually the operand is transposed on its way through LDS. Swap the order of its strides, or load it so that K is the
    dimension that is contiguous in memory.
    """

    id: ClassVar[str] = "KP111"
    name: ClassVar[str] = "narrow-lds-access"
    severity: ClassVar[Severity] = Severity.WARNING
    fix: ClassVar[str] = "load the operand so that its axis along K is the one that is contiguous in memory"
    about: ClassVar[About] = LDS_ACCESSES
    confirmed_by: ClassVar[RuleQuestion | None] = LDS

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        # Skip transposed operands, which KP603 reports with their cause.
        explained = {line for found in transposed_operands(facts) for line in found.lines}
        natural = _lines_of_4_byte_operands(facts)
        parents = {loop.parent for loop in facts.program.loops}
        for loop in facts.program.loops:
            if loop.index not in parents:
                yield from self._check_loop(facts, loop, explained, natural)

    def _check_loop(self, facts: KernelFacts, loop: Loop, explained: set[Line], natural: set[Line]) -> Iterable[Costed]:
        members = own_instructions(facts.program, loop)
        if not any(i.opcode.cls is InstructionClass.MATRIX for i in members):
            return
        by_line: dict[Line, list[Instruction]] = defaultdict(list)
        loaded_narrow = Counter(_line(i) for i in members if _is_narrow_load(i))
        for instruction in members:
            line = _line(instruction)
            if not _moves_data(instruction) or line in explained:
                continue
            # Skip stores of data that narrow global loads delivered: its LDS stores must be narrow, too.
            if not (instruction.opcode.is_store and line != _NOWHERE and loaded_narrow[line] >= _NARROW):
                by_line[line].append(instruction)
        for line, accesses in by_line.items():
            widths: dict[int, int] = defaultdict(int)
            for access in accesses:
                widths[_width(access)] += 1
            # Accesses below 4 bytes count twice, because each needs an additional instruction to insert its data into a
            # register.
            weight = 2 * sum(n for width, n in widths.items() if width < _NARROW)
            weight += 0 if line in natural else widths.get(_NARROW, 0)
            if weight < 2 * _ENOUGH:
                continue
            listed = ", ".join(f"{n} of {width} B" for width, n in sorted(widths.items()))
            yield Costed(
                self.finding(
                    f"{len(accesses)} LDS accesses in loop {loop.header}: {listed} a lane",
                    at=busiest(accesses)[0],
                    evidence={"loop": loop.header, "widths": dict(sorted(widths.items()))},
                ),
                as_wide(accesses),
            )


def _lines_of_4_byte_operands(facts: KernelFacts) -> set[Line]:
    """Return the lines of operands of which a matrix instruction uses 4 bytes per lane, as with fp32."""
    if facts.ttgir is None:
        return set()
    found = set()
    for load in facts.ttgir.named("ttg.local_load"):
        held = next((t for t in load.result_types if isinstance(t, TensorType)), None)
        if held is None or not isinstance(held.layout, DotOperand) or not isinstance(held.element, Scalar):
            continue
        if held.layout.k_width * (held.element.bits or 0) == 8 * _NARROW:
            found.add(_line(load))
    return found


def _line(located: Located) -> Line:
    place = location_of(located)[0]
    return (place.file, place.line) if place is not None else _NOWHERE


def _is_narrow_load(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    return opcode.cls is InstructionClass.VMEM and opcode.is_load and 0 < (opcode.bytes_per_lane or 0) <= _NARROW


def _moves_data(instruction: Instruction) -> bool:
    """Return whether an instruction loads from or stores to LDS. Permutations and atomic operations do neither."""
    opcode = instruction.opcode
    return opcode.cls is InstructionClass.LDS and (opcode.is_load or opcode.is_store)


def _width(instruction: Instruction) -> int:
    """Return the bytes that an instruction accesses per address; ``ds_read2_b64`` has two addresses of 8 bytes each."""
    opcode = instruction.opcode
    return (opcode.bytes_per_lane or 0) // opcode.parts
