"""What a way through LDS costs: the instructions that make it."""

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding
from kprof.inputs.amdgcn import InstructionClass
from kprof.inputs.mlir import Operation
from kprof_analyzers.model.executions import regions
from kprof_analyzers.rules.rule import Costed


def without_pass(facts: KernelFacts, operation: Operation, finding: Finding) -> Finding | Costed:
    """The finding with the LDS accesses of the operation's own line and column that a loop executes left out.

    Barriers and waits stay, as other accesses may need them: the gain is what the accesses themselves take. Without
    such accesses, as where the assembly has no positions, nothing is said of the cost.
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
