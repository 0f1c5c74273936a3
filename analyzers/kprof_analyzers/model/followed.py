"""Loads that read on in what the iteration before has fetched: a row's scales, one a block of K."""

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes
from kprof_analyzers.memory.dataflow import is_load
from kprof_analyzers.model.access_lines import AccessLine, accesses_of, at_instructions
from kprof_analyzers.model.entries import ends
from kprof_analyzers.model.scalars import Evaluator


def followed_loads(facts: KernelFacts, evaluator: Evaluator | None, request: float) -> dict[int, float]:
    """Positions of loads that mostly find their data in L2, to the share of the iterations that ask for more.

    Those of a line are counted where all of its loads are like that, with the largest share.

    Args:
        facts: the kernel.
        evaluator: of its workgroups; ``None`` where the launch is not known.
        request: bytes that a CU asks L2 for at least, and L2 what is behind it.
    """
    if facts.ttgir is None or evaluator is None:
        return {}
    found: dict[AccessLine, float] = {}
    for op, line in accesses_of(facts.ttgir):
        # What the compiler has peeled off a loop is outside of the assembly's, too.
        if is_load(op) and op.loop is not None:
            found[line] = max(found.get(line, 0.0), _begun(evaluator, op, request))
    positions = at_instructions(facts.program, {line: share for line, share in found.items() if share < 1})
    looped = {i for loop in facts.program.loops for i in loop.instructions} if positions else set()
    return {position: share for position, share in positions.items() if position in looped}


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
