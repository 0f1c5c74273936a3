"""KP112 lds-bank-conflicts."""

from collections import defaultdict
from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import InstructionClass
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.bank_conflicts import BankCost
from kprof_analyzers.memory.lds_access import LdsAccess, lds_accesses, transposed_lines
from kprof_analyzers.rules.about import LDS_ACCESSES, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import CONFLICTS, Answer, Numbers, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, NotCheckedError, Rule, known
from kprof_analyzers.scheduling.loops import has_product
from kprof_analyzers.source_lines import location_of

# Minimum ratio of conflict cycles to the cycles needed without conflicts.
_SHARE = 0.5
# Fewer conflict cycles per iteration are not reported, because other work hides them.
_LEAST = 16


def _conflicts(numbers: Numbers) -> Answer:
    ratio = numbers["lds_conflicts_per_access"]
    return ratio >= CONFLICTS, f"{ratio:.2f} conflict cycles were counted for each cycle of LDS access"


class LdsBankConflicts(Rule):
    """LDS accesses in a loop conflict in the same banks.

    ## What it does
    Computes the address that each lane accesses from the register layout and the LDS layout in the TTGIR. The lanes are
    served as in the hardware: in groups, one dword per bank and cycle. Reports a line of a loop if conflicts add at
    least half of the cycles that its accesses need without conflicts, and at least 16 cycles per iteration.

    ## Why it matters
    All wavefronts of a CU share the LDS, so cycles lost to conflicts delay all of them.

    ## Evidence
    `conflicts`, `cycles`: lost and needed cycles of one wavefront and iteration. `width`: bytes per lane. The hardware
    files list the lane groups; accesses whose groups have not been measured (most writes) are skipped.

    ## What to try
    Change the order of the strides, which decides whether a tile is transposed on its way through LDS. On gfx950,
    asynchronous copies avoid conflicts with a padded LDS layout.
    """

    id: ClassVar[str] = "KP112"
    name: ClassVar[str] = "lds-bank-conflicts"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = LDS_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("kpack", 2, "changes the operand's layout", when=has_product),
        Lever("matrix_instr_nonkdim", 16, "changes the operand's layout", when=has_product),
        Lever("matrix_instr_nonkdim", 32, "changes the operand's layout", when=has_product),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = RuleQuestion(("lds_conflicts_per_access",), _conflicts)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        skipped = transposed_lines(facts.program)
        by_line: dict[tuple[str, int], dict[int, list[LdsAccess]]] = defaultdict(lambda: defaultdict(list))
        unknown: str | None = None
        for access in lds_accesses(module, facts.arch):
            place = location_of(access.operation)[0]
            if access.operation.loop is None or place is None or (place.file, place.line) in skipped:
                continue
            if access.cost is None:
                unknown = access.reason
                continue
            by_line[place.file, place.line][access.operation.loop].append(access)
        if unknown and not by_line:
            raise NotCheckedError(unknown)
        for loops in by_line.values():
            # Two loops may contain the same line, such as a loop with masks and one without. Report the worse one.
            accesses = max(loops.values(), key=lambda found: _cost(found).conflicts)
            cost = _cost(accesses)
            if cost.conflicts >= max(_LEAST, _SHARE * cost.cycles):
                yield self._report(facts, accesses, cost)

    def _report(self, facts: KernelFacts, accesses: list[LdsAccess], cost: BankCost) -> Costed:
        worst = max(accesses, key=lambda a: a.cost.conflicts if a.cost is not None else 0)
        verb = "writes" if worst.write else "reads"
        return Costed(
            self.finding(
                f"{cost.conflicts} cycles of bank conflicts on top of {cost.cycles} in an iteration "
                f"({worst.instructions} {verb} of {worst.width} B a lane)",
                at=worst.operation,
                evidence={
                    "conflicts": cost.conflicts,
                    "cycles": cost.cycles,
                    "width": worst.width,
                    "accesses": len(accesses),
                    "write": worst.write,
                },
            ),
            ModelChange(conflict_free=_accesses_on_line(facts, worst.operation)),
        )


def _cost(accesses: list[LdsAccess]) -> BankCost:
    """Return the total cost of all accesses of one line and loop."""
    return sum((a.cost for a in accesses if a.cost is not None), BankCost(0, 0))


def _accesses_on_line(facts: KernelFacts, operation: Operation) -> tuple[int, ...]:
    """Return the LDS accesses on the source line of an operation."""
    place = location_of(operation)[0]
    return tuple(
        i.index
        for i in facts.program.instructions
        if i.opcode.cls is InstructionClass.LDS
        and (own := location_of(i)[0]) is not None
        and place is not None
        and (own.file, own.line) == (place.file, place.line)
    )
