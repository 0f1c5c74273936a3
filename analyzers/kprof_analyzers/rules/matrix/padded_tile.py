"""KP505 padded-tile."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import InstructionClass
from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.memory.dataflow import Dataflow, argument, arguments, flow_of
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import MATRIX, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known

_WASTE = 0.5
_PASS = {"tt.expand_dims", "tt.broadcast", "tt.splat", "arith.extsi", "arith.trunci", "ttg.convert_layout"}


class PaddedTile(Rule):
    """Most rows of a product's tile are masked: the problem is smaller than the tile.

    ## What it does
    Finds the comparisons with a run-time size (`rows < M`) that mask loads or stores of a kernel with a matrix product,
    and takes the size's value from the launch. Reports a size if at least half of the tile's extent in M or N lies
    beyond it.

    ## Why it matters
    Matrix instructions compute complete tiles of at least 16 rows. Rows beyond the problem are computed and discarded,
    and their accumulators still occupy registers.

    ## Evidence
    `argument`, `value`: the size. `tile`: extent of the tile. `wasted`: share of the extent beyond the size.

    ## What to try
    Below 8 rows, a kernel that multiplies and adds on the vector unit can be faster (`gemm_multiply_reduce`).
    """

    id: ClassVar[str] = "KP505"
    name: ClassVar[str] = "padded-tile"
    severity: ClassVar[Severity] = Severity.NOTE
    needs: ClassVar[tuple[Need, ...]] = (
        Need.TTGIR,
        Need.SIZES,
    )
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("BLOCK_M", "lower", "16 is the smallest that matrix instructions take"),
        Lever("SPLIT_K", "higher", "to have enough workgroups"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = MATRIX

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        dots = list(module.named("tt.dot", "tt.dot_scaled"))
        sizes = {n for d in dots for t in d.result_types[:1] if isinstance(t, TensorType) for n in t.shape[-2:]}
        flow, names = flow_of(module), set(arguments(module))
        seen: set[tuple[str, int]] = set()
        for op in module.named("arith.cmpi"):
            if not op.text.lstrip().startswith(("slt", "ult")):
                continue
            name, tile = _argument(flow, flow.input(op, 1), names), _extent(flow, op)
            value = facts.arguments.get(name) if name else None
            if name is None or tile not in sizes or not isinstance(value, int) or (name, tile) in seen:
                continue
            wasted = 1 - value / tile
            if value > 0 and wasted >= _WASTE:
                seen.add((name, tile))
                yield Costed(
                    self.finding(
                        f"{name}={value} fills {value} of {tile} rows of the tile: {100 * wasted:.0f} % of the product "
                        "is padding",
                        at=op,
                        evidence={"argument": name, "value": value, "tile": tile, "wasted": round(wasted, 3)},
                    ),
                    ModelChange(cycles=dict.fromkeys(_products(facts), value / tile)),
                )


def _argument(flow: Dataflow, value: str, known: set[str]) -> str | None:
    """Return the kernel argument that is the compared value itself; ``None`` if the value is computed."""
    for _ in range(20):
        op = flow.producer(value)
        if op is None:
            return argument(value) if argument(value) in known else None
        if op.name not in _PASS:
            return None
        value = flow.input(op, 0)
    return None


def _extent(flow: Dataflow, comparison: Operation) -> int | None:
    """Return the length of the compared range of indices: that of its ``tt.make_range``, if there is only one."""
    ends = {op.attributes.get("end") for op in flow.back(flow.input(comparison, 0)) if op.name == "tt.make_range"}
    end = next(iter(ends)) if len(ends) == 1 else None
    return end if isinstance(end, int) else None


def _products(facts: KernelFacts) -> list[int]:
    return [i.index for i in facts.program.instructions if i.opcode.cls is InstructionClass.MATRIX]
