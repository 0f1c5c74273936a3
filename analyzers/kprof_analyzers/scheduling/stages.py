"""Products in loops, and whether their tiles are loaded ahead."""

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.dataflow import flow_of, is_load


def products_of_loops(module: Module) -> dict[int, list[Operation]]:
    """Loop to the products in it, inner loops left out."""
    found: dict[int, list[Operation]] = {}
    for dot in module.named("tt.dot", "tt.dot_scaled"):
        if dot.loop is not None:
            found.setdefault(dot.loop, []).append(dot)
    return found


def has_product(facts: KernelFacts) -> bool:
    """Whether a loop has a matrix product."""
    return facts.ttgir is not None and bool(products_of_loops(facts.ttgir))


def has_unstaged_product(facts: KernelFacts) -> bool:
    """Whether a loop with a single product was compiled with one stage: nothing is loaded ahead, as asked."""
    stages = facts.metadata.get("num_stages")
    if facts.ttgir is None or not isinstance(stages, int) or stages > 1:
        return False
    found = products_of_loops(facts.ttgir)
    return any(len(dots) == 1 and loads_in(loop, dots[0]) for loop, dots in found.items())


def is_chained(dots: list[Operation]) -> bool:
    """Whether the operand of one product is made from another's result in the same iteration."""
    indexes = {dot.index for dot in dots}
    flow = flow_of(dots[0].module)
    return any(
        op.index in indexes - {dot.index}
        for dot in dots
        for value in flow.inputs(dot)[:2]
        for op in flow.back(value, carried=False)
    )


def loads_in(loop: int, dot: Operation) -> bool:
    """Whether the product's tiles come from memory in the iteration that uses them."""
    flow = flow_of(dot.module)
    return any(
        is_load(op) and op.loop == loop for value in flow.inputs(dot)[:2] for op in flow.back(value, carried=False)
    )
