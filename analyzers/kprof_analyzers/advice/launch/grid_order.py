"""KP406 grid-order-across-xcds."""

from collections.abc import Iterable
from math import prod
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.advice.rule import NotCheckedError, Rule
from kprof_analyzers.memory.dataflow import flow_of

_SPLITTING = {"arith.remsi", "arith.remui", "arith.andi"}


class GridOrderAcrossXcds(Rule):
    """Neighbouring workgroups of a product share tiles, but run on different dies.

    ## What it does
    For a GPU with several accelerator dies (XCDs), looks whether a kernel with a matrix product takes the number of
    XCDs into account: a remainder of the program's identifier by it, or a multiple of it. A grid whose first
    dimension is a multiple of the XCDs is left alone: its columns stay on one die.

    ## Why it matters
    Workgroups go to the XCDs in turn, and each XCD has its own L2. Neighbours that read the same rows then fetch them
    into eight caches instead of one.

    ## Evidence
    `xcds`, `grid`, `product`. Hit rates are not known without a run.

    ## What to try
    Renumber: workgroup `pid` becomes `pid % XCDS * (N // XCDS) + pid // XCDS`, so that each XCD gets a run of
    neighbours, before any grouping of tiles. `gemm` of the bundled kernels does it.
    """

    id: ClassVar[str] = "KP406"
    name: ClassVar[str] = "grid-order-across-xcds"
    severity: ClassVar[Severity] = Severity.NOTE

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        if facts.product is None:
            raise NotCheckedError("no product was named, such as --arch MI300X")
        xcds = facts.product.xcds
        if xcds is None or xcds < 2:
            return
        if facts.ttgir is None:
            raise NotCheckedError("there is no TTGIR")
        if facts.grid is None:
            raise NotCheckedError("the launch's grid is not known")
        dot = next((d for d in facts.ttgir.named("tt.dot", "tt.dot_scaled") if d.loop is not None), None)
        if dot is None or prod(facts.grid) <= xcds or (facts.grid[0] % xcds == 0 and len(_axes(facts.ttgir)) > 1):
            return
        if any(_by_xcds(op, xcds) for op in facts.ttgir.operations if op.name in _SPLITTING):
            return
        program = next(iter(facts.ttgir.named("tt.get_program_id")), None)
        if program is None:
            return
        grid = "x".join(map(str, facts.grid))
        yield self.finding(
            f"the {grid} grid does not take the {xcds} XCDs of an {facts.product.name} into account",
            at=program,
            evidence={"xcds": xcds, "grid": list(facts.grid), "product": facts.product.name},
        )


def _axes(module: Module) -> set[str]:
    """Axes of the grid that the kernel asks for."""
    return {op.text.strip()[:1] for op in module.named("tt.get_program_id")}


def _by_xcds(op: Operation, xcds: int) -> bool:
    """A remainder of the program's identifier by the XCDs or a multiple of them."""
    flow = flow_of(op.module)
    if not any(source.name == "tt.get_program_id" for source in flow.back(flow.inputs(op)[0])):
        return False
    divisor = flow.producer(flow.inputs(op)[1])
    text = divisor.text.strip().split(" ")[0] if divisor is not None and divisor.name == "arith.constant" else ""
    if not text.isdecimal():
        return False
    value = int(text) + (op.name == "arith.andi")
    return value > 0 and value % xcds == 0
