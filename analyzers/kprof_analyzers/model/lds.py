"""Find the LDS instructions of the assembly that have bank conflicts, from the layouts in the TTGIR."""

from collections import defaultdict

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.memory.lds_access import lds_accesses, transposed_lines
from kprof_analyzers.scheduling.loops import beside_arithmetic
from kprof_analyzers.source_lines import line_of


def conflict_shares(facts: KernelFacts) -> dict[int, float]:
    """Return the bank-conflict cycles of each LDS instruction per conflict-free cycle, by instruction position.

    Instructions are matched to the TTGIR by source line and direction (load or store) only. Therefore all loads, or all
    stores, of a line get the mean of their factors.
    """
    if facts.ttgir is None:
        return {}
    skipped = transposed_lines(facts.program)
    sums: dict[tuple[tuple[str, int], bool], list[int]] = defaultdict(lambda: [0, 0])
    for access in lds_accesses(facts.ttgir, facts.arch):
        place = line_of(access.operation)
        if place is None or access.likely is None or place in skipped:
            continue
        entry = sums[place, access.write]
        entry[0] += access.likely.conflicts
        entry[1] += access.likely.cycles
    found: dict[int, float] = {}
    for i in beside_arithmetic(facts.program):
        if i.opcode.cls is not InstructionClass.LDS:
            continue
        place = line_of(i)
        if place is not None and (known := sums.get((place, i.opcode.is_store))) is not None and known[0]:
            found[i.index] = known[0] / known[1]
    return found
