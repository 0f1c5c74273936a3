"""KP106 reloaded-tile."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Location, Severity
from kprof.inputs.amdgcn import Instruction
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import tile
from kprof_analyzers.memory.reloads import Reload, reloads
from kprof_analyzers.model.executions import is_significant, regions
from kprof_analyzers.rules.about import GLOBAL_ACCESSES, About
from kprof_analyzers.rules.narrow_accesses import loads_on
from kprof_analyzers.rules.rule import Costed, Need, Rule, known
from kprof_analyzers.source_lines import location_of


class ReloadedTile(Rule):
    """A tile is loaded again although nothing has changed it.

    ## What it does
    Looks for loads in a loop whose address and mask are the same in each iteration, and for two loads with the same
    address and mask in the same code. The compiler cannot remove them if the code stores in between, because it does
    not know that a kernel's pointers point to different memory. The rule ignores tiles below 1 KiB, loads of less than
    an eighth of the bytes loaded, volatile loads, tiles that the code stores to through the same argument, and loads
    that the compiler has moved out of the loop.

    ## Why it matters
    The second load finds its data in a cache, but still uses time of the memory pipeline and registers. Instructions
    that need the data wait some hundred cycles.

    ## Evidence
    `bytes`: size of the tile. `loads`: number of load instructions per lane in one execution; 0 if they cannot be
    found in the assembly. `again`: true if the tile is loaded a second time in the same code, false if a loop repeats
    the load.

    ## What to try
    Load the tile once, before the loop, and keep it in registers. If there are not enough registers, process more rows
    per iteration.
    """

    id: ClassVar[str] = "KP106"
    name: ClassVar[str] = "reloaded-tile"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "load the tile once before the loop and keep it in registers"
    about: ClassVar[About] = GLOBAL_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        for found in reloads(known(facts.ttgir)):
            if not is_significant(facts, found.load):
                continue
            loads = loads_on(facts, [found.load])
            there = loads if found.before is not None else _in_loops(facts, loads)
            if loads and not there:
                continue
            yield self._report(found, there)

    def _report(self, found: Reload, loads: Sequence[Instruction]) -> Finding | Costed:
        held = tile(found.load)
        shape = "x".join(map(str, held.shape)) if held is not None else ""
        again = found.before is not None
        where = "again with the same address" if again else "in each iteration with the same address"
        place = location_of(found.before)[0] if found.before is not None else None
        finding = self.finding(
            f"a {shape} tile of {found.bytes:,} bytes is loaded {where} and mask",
            at=found.load,
            evidence={"bytes": found.bytes, "loads": len(loads), "again": again},
            related=[place] if place is not None else [],
            fix=_move(found.load, place),
        )
        same_line = again and place == location_of(found.load)[0]
        if not loads or same_line:
            return finding
        return Costed(finding, ModelChange(gone=tuple(i.index for i in loads)))


def _move(load: Operation, before: Location | None) -> str:
    """Describe which load to move or remove, by line; return "" if the lines are unknown."""
    here = location_of(load)[0]
    if here is None:
        return ""
    if before is not None:
        same = before == here
        return "" if same else f"use what line {before.line} loaded in place of the load at line {here.line}"
    loop = None if load.loop is None else location_of(load.module.operations[load.loop])[0]
    return "" if loop is None else f"move the load at line {here.line} in front of the loop at line {loop.line}"


def _in_loops(facts: KernelFacts, loads: Sequence[Instruction]) -> list[Instruction]:
    """Return those of the given loads that are in a loop of the assembly."""
    inside = {i.index for region in regions(facts) if region.loop is not None for i in region.instructions}
    return [load for load in loads if load.index in inside]
