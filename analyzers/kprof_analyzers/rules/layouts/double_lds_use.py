"""KP602 double-lds-use."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.mlir import MemDesc, Operation, TensorType
from kprof.inputs.mlir.measures import writes_lds
from kprof_analyzers.compiler_passes import creating_pass, passes_suffix
from kprof_analyzers.memory.dataflow import flow_of
from kprof_analyzers.memory.lds_walk import converts_in_lds, earlier_read
from kprof_analyzers.rules.about import LDS_ACCESSES, About
from kprof_analyzers.rules.lds_passes import without_pass
from kprof_analyzers.rules.rule import Costed, Need, Rule, known
from kprof_analyzers.source_lines import location_of

_SMALL_BYTES = 1024


class DoubleLdsUse(Rule):
    """A tile is read from LDS, changed element by element, and written to LDS again.

    ## What it does
    Follows each tile that is written to LDS inside a loop (an operand, a layout conversion) back to its source. Reports
    tiles that were read from LDS earlier in the same iteration with only element-wise work in between, so that LDS is
    used twice for the same data.

    ## Why it matters
    AMD's tuning guide shows an example with int4 keys and values. The packed words go through LDS to be transposed, are
    unpacked to fp16, and go through LDS again to reach the operand's layout. Each pass writes, waits at a barrier and
    reads; the second pass moves four times the bytes.

    ## Evidence
    `bytes`: size of the second write. `first`: line of the first read. `operations`: number of element-wise operations
    in between. `pass`: with `--passes`, the compiler pass that added the second write.

    ## What to try
    Transpose once: load the packed tile in the order that the product needs (swap the roles of lanes along K and N in
    the pointer arithmetic) and unpack in registers. Then a single pass through LDS is sufficient.
    """

    id: ClassVar[str] = "KP602"
    name: ClassVar[str] = "double-lds-use"
    severity: ClassVar[Severity] = Severity.WARNING
    fix: ClassVar[str] = (
        "swap [:, None] and [None, :] in the pointers of the load, so that no tl.trans is needed, and unpack in "
        "registers"
    )
    about: ClassVar[About] = LDS_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    wants: ClassVar[tuple[Need, ...]] = (Need.PASSES,)

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        flow = flow_of(module)
        seen: set[str] = set()
        for op in module.operations:
            place = str(location_of(op)[0])
            if op.loop is None or not op.operands or place in seen or not _writes_tile(op):
                continue
            between = earlier_read(flow, op, smallest=_SMALL_BYTES // 4)
            if between is None:
                continue
            first, work = between
            seen.add(place)
            size = max((t.bytes or 0) for t in op.types if isinstance(t, TensorType | MemDesc))
            line, made = location_of(first)[0], creating_pass(facts, op)
            finding = self.finding(
                f"{size / 1024:g} KiB go to LDS that came from LDS in the same iteration"
                + (f", read at line {line.line}" if line is not None else "")
                + passes_suffix(made),
                at=op,
                evidence={
                    "bytes": size,
                    "first": line.line if line is not None else None,
                    "operations": sum(o.name.startswith(("arith.", "math.")) for o in work),
                    "pass": made,
                },
            )
            yield without_pass(facts, op, finding)


def _writes_tile(op: Operation) -> bool:
    """Return whether an operation writes a tile of at least ``_SMALL_BYTES`` to LDS."""
    held = next((t for t in op.operand_types if isinstance(t, TensorType)), None)
    if held is None or (held.bytes or 0) < _SMALL_BYTES:
        return False
    return writes_lds(op) or converts_in_lds(op)
