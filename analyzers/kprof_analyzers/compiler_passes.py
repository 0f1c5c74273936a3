"""Name the compiler pass that changed the operations of a source line, or that ran without changing them."""

from collections.abc import Sequence
from itertools import chain

from kprof.analysis import KernelFacts, PassRun
from kprof.inputs.mlir import Operation

NOT_RECORDED = "not recorded: use --passes"
"""Evidence text of findings if compiler passes were not recorded."""

PIPELINER = ("tritonamdgpu-pipeline", "tritonamdgpu-stream-pipeline")
"""Names of the pass that moves loads to earlier iterations. Triton 3.4 uses the second name."""


def passes_suffix(said: str) -> str:
    """Return a statement about passes as a suffix for a message, or "" if passes were not recorded."""
    return "" if said == NOT_RECORDED else f"; {said}"


def creating_pass(facts: KernelFacts, operation: Operation) -> str:
    """Name the pass that created an operation; for a layout conversion, also later passes that did not remove it."""
    if facts.history is None:
        return NOT_RECORDED
    frame = operation.user_frame
    changes = facts.history.counts(operation.name, frame.line if frame is not None else None)
    since: list[tuple[PassRun, int, int]] = []
    for change in changes:
        # If a pass removes all operations of the kind, only passes after it can have created the remaining one.
        since = [] if not change[2] else [*since, change]
    made = next((run for run, before, after in since if after > before), None)
    if made is None:
        return "not created by a pass: it is in the initial module"
    tried = [r for r in facts.history.records if r.order > made.order and _removes(r.name) and r.changed]
    left = f", left by {tried[0].name} ({_orders(tried)})" if tried and operation.name == "ttg.convert_layout" else ""
    return f"{_named(made)}{left}"


def pass_effect(facts: KernelFacts, passes: Sequence[str], operations: Sequence[str], line: int | None = None) -> str:
    """Describe how many operations a compiler pass created, in the whole kernel or on one source line.

    Args:
        facts: the kernel.
        passes: names of one pass, which differ among versions of Triton.
        operations: names of the operations that the pass creates; a trailing ``*`` matches any ending.
        line: 1-based line of the user's file, or None for all lines.

    Returns:
        A text such as ``tritonamdgpu-pipeline {use_async_copy=true} (pass 33) made 2``, or a statement that the pass
        did not change such operations or did not run.
    """
    if facts.history is None:
        return NOT_RECORDED
    runs = [run for run in facts.history.records if run.name in passes]
    if not runs:
        return f"{passes[0]} did not run"
    orders = {run.order for run in runs}
    found = chain.from_iterable(facts.history.counts(name, line) for name in operations)
    made = sum(after - before for run, before, after in found if run.order in orders)
    where = "" if line is None else f" on line {line}"
    last = runs[-1]
    name = f"{last.name} {last.options} (pass {last.order})" if last.options else _named(last)
    if made > 0:
        return f"{name} made {made}{where}"
    return f"{name} ran and {'made none' if any(r.changed for r in runs) else 'changed nothing'}{where}"


def _removes(name: str) -> bool:
    return name.endswith("remove-layout-conversions")


def _named(run: PassRun) -> str:
    return f"{run.name} (pass {run.order})"


def _orders(runs: Sequence[PassRun]) -> str:
    orders = ", ".join(str(run.order) for run in runs)
    return f"pass{'es' if len(runs) > 1 else ''} {orders}"
