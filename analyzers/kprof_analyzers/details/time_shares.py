"""The predicted time of a kernel, instruction by instruction and cause by cause."""

from collections.abc import Iterator, Mapping, Sequence

from kprof.analysis import KernelFacts
from kprof_analyzers.model.kernel import build, simulate
from kprof_analyzers.model.outline import LoopNode, Node
from kprof_analyzers.model.runs import KernelModel, Run
from kprof_analyzers.model.simulate import CAUSE_COUNT, CAUSES


def time_shares(facts: KernelFacts) -> list[Mapping[str, float]]:
    """For each instruction, cause to its share of the time of all wavefronts; all shares add up to 1.

    The simulation runs a few iterations of each loop; what they cost counts for all iterations of the launch.
    Instructions that the longest way through the program does not pass have no share.
    """
    model = build(facts)
    run = simulate(model, model.where.resident)
    spent = run.result.spent
    shares: list[dict[str, float]] = [{} for _ in facts.program.instructions]
    for part, factor in _stretches(model, run, model.nodes, 1.0):
        for position in part:
            cycles = spent[CAUSE_COUNT * position : CAUSE_COUNT * (position + 1)]
            shares[position] = {cause: factor * value for cause, value in zip(CAUSES, cycles, strict=True) if value > 0}
    whole = sum(sum(causes.values()) for causes in shares) or 1.0
    return [{cause: value / whole for cause, value in causes.items()} for causes in shares]


def _stretches(model: KernelModel, run: Run, nodes: Sequence[Node], factor: float) -> Iterator[tuple[range, float]]:
    """Straight stretches, with how often each happens for each time that it was simulated."""
    for node in nodes:
        if not isinstance(node, LoopNode):
            yield node, factor
        elif done := run.iterations[node.loop.index]:
            yield from _stretches(model, run, node.body, factor * model.trips[node.loop.index].mean / done)
