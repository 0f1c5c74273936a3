"""KP601 convert-layout-in-loop."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.mlir import Operation, TensorType
from kprof.inputs.mlir.layouts import Blocked
from kprof_analyzers.compiler_passes import creating_pass, passes_suffix
from kprof_analyzers.memory.dataflow import flow_of, is_load
from kprof_analyzers.memory.lds_walk import crosses_wavefronts
from kprof_analyzers.rules.about import LDS_ACCESSES, About
from kprof_analyzers.rules.lds_passes import without_pass
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, Need, Rule, known
from kprof_analyzers.scheduling.loops import products_of_loops
from kprof_analyzers.source_lines import location_of

# Converting a vector, such as row maxima, costs almost nothing compared to a tile.
_SMALL_BYTES = 4096


def _chained(facts: KernelFacts) -> bool:
    """Return whether a loop has two products, so that the result of one may be an operand of the other."""
    return facts.ttgir is not None and any(len(dots) > 1 for dots in products_of_loops(facts.ttgir).values())


class ConvertLayoutInLoop(Rule):
    """A tile changes its register layout through LDS in every iteration.

    ## What it does
    Looks at `ttg.convert_layout` inside innermost loops. A conversion that only renames registers of a lane is free,
    and a conversion inside a wavefront can use lane permutations. All other conversions go through LDS and are
    reported. Tiles that were just loaded from memory are ignored, because one conversion is needed to distribute them
    to the wavefronts. Outer loops are also ignored: a persistent kernel executes them once per tile of the result.

    ## Why it matters
    In each iteration the tile is written to LDS, all wavefronts of the workgroup wait at a barrier, and the tile is
    read back. It also needs its own LDS, which can reduce occupancy.

    ## Evidence
    `bytes`: size of the tile. `from`, `to`: the layouts. `loop_depth`. `pass`: with `--passes`, the compiler pass that
    added the conversion, and the passes that could have removed it but did not.

    ## What to try
    Two blocked layouts often result from a load and a store of different width: make sure that the compiler knows both
    strides to be multiples of 16 (`tl.multiple_of`). Otherwise use one layout for the conversion's producer and
    consumer: load both with the same operation, or move the conversion before the loop.
    """

    id: ClassVar[str] = "KP601"
    name: ClassVar[str] = "convert-layout-in-loop"
    severity: ClassVar[Severity] = Severity.WARNING
    fix: ClassVar[str] = "let both sides of the conversion use one layout: load both tiles with the same operation"
    about: ClassVar[About] = LDS_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    wants: ClassVar[tuple[Need, ...]] = (Need.PASSES,)
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever(
            "matrix_instr_nonkdim",
            16,
            "the first product's result may then be in the second's operand layout",
            when=_chained,
        ),
        Lever(
            "matrix_instr_nonkdim",
            32,
            "the first product's result may then be in the second's operand layout",
            when=_chained,
        ),
        Lever("kpack", 2, "the first product's result may then be in the second's operand layout", when=_chained),
    )

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        seen: set[tuple[object, str]] = set()
        outer = {loop.loop for loop in module.named("scf.for", "scf.while")}
        for operation in module.named("ttg.convert_layout"):
            if operation.loop is None or operation.loop in outer or not crosses_wavefronts(operation):
                continue
            if _is_first_pass(operation):
                continue
            source, target = operation.operand_types[0], operation.result_types[0]
            assert isinstance(source, TensorType)
            assert isinstance(target, TensorType)
            key = (location_of(operation)[0], operation.text.split(" loc(")[0])
            if key in seen or (source.bytes or 0) < _SMALL_BYTES:
                continue
            seen.add(key)
            shape, made = "x".join(map(str, source.shape)), creating_pass(facts, operation)
            finding = self.finding(
                f"a {shape} tile of {(source.bytes or 0) / 1024:g} KiB goes through LDS from "
                f"{_names(source, target)} in each iteration{passes_suffix(made)}",
                at=operation,
                evidence={
                    "bytes": source.bytes,
                    "from": repr(source.layout),
                    "to": repr(target.layout),
                    "loop_depth": operation.loop_depth,
                    "pass": made,
                },
                fix=_widen(source, target),
            )
            yield without_pass(facts, operation, finding)


def _widen(source: TensorType, target: TensorType) -> str:
    """Return the fix if two blocked layouts differ only in the number of contiguous elements per lane; else ""."""
    before, after = source.layout, target.layout
    if not (isinstance(before, Blocked) and isinstance(after, Blocked)) or before.order[0] != after.order[0]:
        return ""
    if before.size_per_thread[before.order[0]] == after.size_per_thread[after.order[0]]:
        return ""
    return "tell the compiler that both strides are multiples of 16: stride = tl.multiple_of(stride, 16)"


def _is_first_pass(operation: Operation) -> bool:
    """Return whether a conversion's tile comes from global memory with only element-wise operations in between.

    It then has not been in a product or in LDS.
    """
    flow = flow_of(operation.module)
    before = list(flow.back(flow.input(operation, 0), stop=_is_producer))
    ends = [op for op in before if _is_producer(op)]
    return any(is_load(op) for op in ends) and all(is_load(op) for op in ends)


def _is_producer(op: Operation) -> bool:
    return is_load(op) or op.name in {"tt.dot", "tt.dot_scaled", "tt.reduce", "tt.scan", "ttg.local_load"}


def _names(source: TensorType, target: TensorType) -> str:
    """Describe a conversion: ``mfma to dot operand``, or the differing axis or vector length of two blocked layouts."""
    before, after = source.layout, target.layout
    if not (isinstance(before, Blocked) and isinstance(after, Blocked)):
        return f"{_name(source)} to {_name(target)}"
    if before.order[0] != after.order[0]:
        return f"a blocked layout along axis {before.order[0]} to one along axis {after.order[0]}"
    widths = [layout.size_per_thread[layout.order[0]] for layout in (before, after)]
    if widths[0] == widths[1]:
        return "one blocked layout to another"
    return f"a blocked layout with {widths[0]} elements a lane in a row to one with {widths[1]}"


def _name(tensor: TensorType) -> str:
    return type(tensor.layout).__name__.lower().replace("dotoperand", "dot operand")
