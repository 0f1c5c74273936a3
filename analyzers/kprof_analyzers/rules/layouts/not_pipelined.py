"""KP604 loop-not-pipelined."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.mlir import Operation
from kprof_analyzers.compiler_passes import PIPELINER, pass_effect, passes_suffix
from kprof_analyzers.memory.addressing import tile
from kprof_analyzers.memory.dataflow import flow_of, is_load
from kprof_analyzers.rules.about import GLOBAL_ACCESSES, About
from kprof_analyzers.rules.questions import LATENCY, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known
from kprof_analyzers.source_lines import location_of

# Operations that the pipeliner creates from a load when it moves the load to an earlier iteration.
_STAGED = ("ttg.local_store", "ttg.async_copy_*", "amdg.buffer_load_to_local")
_SMALL_BYTES = 1024


class LoopNotPipelined(Rule):
    """Pipelining was requested for a loop, but a product waits for a tile loaded in the same iteration.

    ## What it does
    For kernels compiled with `num_stages` of at least two, looks for products in a loop with an operand that is loaded
    in the same iteration. A pipelined loop uses tiles that an earlier iteration loaded.

    ## Why it matters
    Every iteration then includes the latency of memory, although registers and LDS for stages were requested.

    ## Evidence
    `num_stages`; `operand`; `load`: line of the load. `pass`: with `--passes`, the LDS stores and asynchronous copies
    that the pipeliner made on this line.

    ## What to try
    The pipeliner ignores loads behind a branch, loads whose address depends on loaded data (page tables), and loads
    narrower than 4 bytes per lane. Move the branch out of the loop, load the table one iteration ahead in the kernel's
    code, or widen the load.
    """

    id: ClassVar[str] = "KP604"
    name: ClassVar[str] = "loop-not-pipelined"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "move the branch in front of the load, or load the indices that it needs one iteration ahead"
    about: ClassVar[About] = GLOBAL_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (
        Need.TTGIR,
        Need.NUM_STAGES,
    )
    wants: ClassVar[tuple[Need, ...]] = (Need.PASSES,)
    confirmed_by: ClassVar[RuleQuestion | None] = LATENCY

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        stages = facts.metadata["num_stages"]
        if stages < 2:
            return
        seen: set[int] = set()
        for dot in module.named("tt.dot", "tt.dot_scaled"):
            if dot.loop is None or dot.loop in seen:
                continue
            for operand in (0, 1):
                load = _own_load(dot, operand)
                if load is None or dot.loop in seen:
                    continue
                seen.add(dot.loop)
                frame = load.user_frame
                said = pass_effect(facts, PIPELINER, _STAGED, frame.line if frame is not None else None)
                yield Costed(
                    self.finding(
                        f"num_stages={stages}, but operand {operand} is loaded in the iteration that uses "
                        f"it{passes_suffix(said)}",
                        at=load,
                        evidence={
                            "num_stages": stages,
                            "operand": operand,
                            "load": frame.line if frame is not None else None,
                            "pass": said,
                        },
                        fix=_fix_for_ignored_load(load),
                    ),
                    ModelChange(leave_out=("memory_latency",), at_most=True),
                )


def _fix_for_ignored_load(load: Operation) -> str:
    """Return the fix for a load that the pipeliner ignores, or "" if the reason is not found."""
    operations, flow = load.module.operations, flow_of(load.module)
    parent = None if load.parent is None else operations[load.parent]
    while parent is not None and not parent.is_loop:
        if parent.name == "scf.if":
            place = location_of(parent)[0]
            where = "" if place is None else f" of line {place.line}"
            return f"load without the if{where}: tl.load(..., mask=CONDITION, other=0.0)"
        parent = None if parent.parent is None else operations[parent.parent]
    # The second operand of a buffer load holds the offsets.
    for value in flow.inputs(load)[:2]:
        for op in flow.back(value, stop=is_load, carried=False):
            if is_load(op) and op.loop == load.loop:
                place = location_of(op)[0]
                where = "" if place is None else f" of line {place.line}"
                return (
                    f"load the index{where} an iteration ahead: index, ahead = ahead, tl.load(...) at the next "
                    "iteration's address"
                )
    return ""


def _own_load(dot: Operation, operand: int) -> Operation | None:
    """Return the load of an operand's tile if it is in the same iteration as the product; else ``None``."""
    flow = flow_of(dot.module)
    path = flow.back(flow.inputs(dot)[operand], stop=lambda op: op.name.startswith("tt.dot"), carried=False)
    for op in path:
        held = tile(op) if is_load(op) else None
        if held is not None and op.loop == dot.loop and len(held.shape) > 1 and held.elements >= _SMALL_BYTES:
            return op
    return None
