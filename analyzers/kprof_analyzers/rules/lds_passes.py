"""Compute the cost of moving a tile through LDS: the time of its LDS instructions."""

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding
from kprof.inputs.amdgcn import InstructionClass
from kprof.inputs.mlir import Operation
from kprof_analyzers.model.executions import regions
from kprof_analyzers.rules.rule import Costed


def without_pass(facts: KernelFacts, operation: Operation, finding: Finding) -> Finding | Costed:
    """Return the finding with the gain of removing the operation's LDS accesses in loops, found by line and column.

    Barriers and waits remain, because other accesses may need them, so the gain covers only the accesses themselves. If
    no accesses are found, for example because the assembly has no positions, the finding is returned without a gain.
    """
    frame = next(iter(operation.location), None)
    if frame is None:
        return finding
    place = frame.file, frame.line, frame.column
    gone = tuple(
        i.index
        for region in regions(facts)
        if region.loop is not None
        for i in region.instructions
        if i.opcode.cls is InstructionClass.LDS
        and (own := next(iter(i.location), None)) is not None
        and (own.file, own.line, own.column) == place
    )
    return Costed(finding, ModelChange(gone=gone)) if gone else finding
