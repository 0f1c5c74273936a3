"""Loads that read on in what the iteration before has fetched: a row's scales, one a block of K."""

from kprof.analysis import KernelFacts
from kprof.inputs.amdgcn import InstructionClass
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.model.entries import ends
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.scheduling.beside_arithmetic import beside_arithmetic
from kprof_analyzers.source_lines import line_of


def followed_loads(facts: KernelFacts, evaluator: Evaluator | None, request: float) -> dict[int, float]:
    """Positions of loads that mostly find their data in L2, to the share of the iterations that ask for more.

    The compiler's instructions are distinguished by source line only: those of a line are counted where all loads of
    that line are like that, with the largest share.

    Args:
        facts: the kernel.
        evaluator: of its workgroups; ``None`` where the launch is not known.
        request: bytes that a CU asks L2 for at least, and L2 what is behind it.
    """
    if facts.ttgir is None or evaluator is None:
        return {}
    found: dict[tuple[str, int], float] = {}
    for op in facts.ttgir.operations:
        # What the compiler has peeled off a loop is outside of the assembly's, too.
        if is_load(op) and op.loop is not None and (place := line_of(op)) is not None:
            found[place] = max(found.get(place, 0.0), _begun(evaluator, op, request))
    if not any(share < 1 for share in found.values()):
        return {}
    looped = {i for loop in facts.program.loops for i in loop.instructions}
    return {
        i.index: found[place]
        for i in beside_arithmetic(facts.program)
        if i.opcode.cls is InstructionClass.VMEM
        and i.opcode.is_load
        and i.index in looped
        and (place := line_of(i)) is not None
        and found.get(place, 1.0) < 1
    }


def _begun(evaluator: Evaluator, load: Operation, request: float) -> float:
    """Share of the iterations of its loop in which a load asks L2 for more; 1 from half of them on."""
    loop = None if load.loop is None else load.module.operations[load.loop]
    size = element_bytes(load)
    if loop is None or loop.name != "scf.for" or size is None:
        return 1.0
    evaluator.enter(loop, first=True)
    evaluator.inside(load.loop)
    reached = ends(evaluator, load, 2)
    if reached is None:
        return 1.0
    first, second = ([value] if isinstance(value, int) else value for value in reached)
    steps = {b - a for a, b in zip(first, second, strict=False)}
    share = abs(steps.pop()) * size / request if len(steps) == 1 else 1.0
    return share if share < 1 / 2 else 1.0
