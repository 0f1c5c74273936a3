"""KP508 replicated-product."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Location, Severity
from kprof.inputs.amdgcn import Instruction, InstructionClass
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.replication import products
from kprof_analyzers.rules.about import MATRIX_INSTRUCTIONS, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.questions import MATRIX, RuleQuestion
from kprof_analyzers.rules.rule import Costed, Need, Rule, known
from kprof_analyzers.source_lines import location_of


class ReplicatedProduct(Rule):
    """Several wavefronts of a workgroup compute the same product.

    ## What it does
    Looks at the result layout of each product in a loop. If the wavefronts together cover more rows or columns than the
    tile has, some of them repeat the work of others.

    ## Why it matters
    Repeated matrix work takes as much time of the matrix unit as useful work. Two wavefronts per SIMD that do the same
    work are no faster than one.

    ## Evidence
    `copies`: number of wavefronts that compute each element. `shape`: M x N x K. `num_warps`.

    ## What to try
    In attention the wavefronts divide the rows among them: with 16x16 instructions, a tile of 64 rows has work for four
    wavefronts, not for eight.
    """

    id: ClassVar[str] = "KP508"
    name: ClassVar[str] = "replicated-product"
    severity: ClassVar[Severity] = Severity.WARNING
    about: ClassVar[About] = MATRIX_INSTRUCTIONS
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("num_warps", "lower"),
        Lever("BLOCK_M", "higher", "rows for all wavefronts"),
    )
    confirmed_by: ClassVar[RuleQuestion | None] = MATRIX

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        seen: set[str] = set()
        for product in products(module):
            place = str(location_of(product.operation)[0])
            if product.copies < 2 or place in seen:
                continue
            seen.add(place)
            shape = "x".join(map(str, product.shape))
            warps = facts.resources.num_warps
            yield Costed(
                self.finding(
                    f"each element of the {shape} product is computed by {product.copies} wavefronts",
                    at=product.operation,
                    evidence={
                        "copies": product.copies,
                        "shape": list(product.shape),
                        "num_warps": warps if isinstance(warps, int) else None,
                    },
                ),
                ModelChange(
                    cycles={i.index: 1 / product.copies for i in _instructions_on_line(facts, product.operation)}
                ),
            )


def _instructions_on_line(facts: KernelFacts, product: Operation) -> list[Instruction]:
    """Return the matrix instructions on the source line of a product."""
    place = location_of(product)[0]
    return [
        i
        for i in facts.program.instructions
        if i.opcode.cls is InstructionClass.MATRIX and place is not None and _is_on(i, place)
    ]


def _is_on(instruction: Instruction, place: Location) -> bool:
    own = location_of(instruction)[0]
    return own is not None and (own.file, own.line) == (place.file, place.line)
