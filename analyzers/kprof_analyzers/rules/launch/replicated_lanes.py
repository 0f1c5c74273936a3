"""KP408 replicated-lanes."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof_analyzers.memory.addressing import tile
from kprof_analyzers.memory.dataflow import GLOBAL_LOADS, GLOBAL_STORES
from kprof_analyzers.memory.replication import lanes_of, requested_and_distinct_bytes, widest
from kprof_analyzers.model.executions import executions
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, Need, Rule, known

_COPIES = 2.0


class ReplicatedLanes(Rule):
    """Most lanes of a workgroup repeat the work of others, because its tiles have fewer elements than it has lanes.

    ## What it does
    Adds up the bytes that lanes request and the bytes of the tiles' elements, over all loads and stores of tensors and
    all iterations. Reports a kernel whose lanes request at least twice the bytes of the tiles. KP508 covers kernels
    with matrix products, whose operands several wavefronts hold by design.

    ## Why it matters
    A tile is distributed over all lanes of the workgroup. If it is too small, several lanes hold and compute the same
    elements. These wavefronts use occupancy, instructions and memory requests without doing new work.

    ## Evidence
    `copies`: requested bytes divided by the tiles' bytes. `elements`: number of elements of the largest tile. `lanes`:
    number of lanes of a workgroup. `num_warps`. With a single wavefront, the finding is a note.

    ## What to try
    Process several rows in a workgroup (a tile with two axes), or use a larger block, so that each lane has 4 to 16
    bytes to load.
    """

    id: ClassVar[str] = "KP408"
    name: ClassVar[str] = "replicated-lanes"
    severity: ClassVar[Severity] = Severity.WARNING
    fix: ClassVar[str] = "process several rows in one workgroup with a two-dimensional tile"
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    levers: ClassVar[tuple[Lever, ...]] = (Lever("num_warps", "lower", "as many lanes as the tile has elements"),)

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        if any(True for _ in module.named("tt.dot", "tt.dot_scaled")):
            return
        accesses = list(module.named(*GLOBAL_LOADS, *GLOBAL_STORES))
        asked = different = 0.0
        for access in accesses:
            moved = requested_and_distinct_bytes(access)
            if moved is not None:
                times = executions(facts, access)
                asked, different = asked + times * moved[0], different + times * moved[1]
        largest = widest(accesses)
        if largest is None or not different or asked < _COPIES * different:
            return
        elements, lanes = known(tile(largest)).elements, lanes_of(module)
        warps = module.num_warps or 4
        rows = 1 << (int(asked / different).bit_length() - 1)
        finding = self.finding(
            f"the {lanes} lanes of a workgroup hold each element of its tiles {asked / different:.3g} times: the "
            f"largest has {elements}",
            at=largest,
            evidence={
                "copies": round(asked / different, 2),
                "elements": elements,
                "lanes": lanes,
                "num_warps": module.num_warps,
            },
            severity=Severity.NOTE if warps == 1 else None,
            fix=f"process {rows} rows in one workgroup: "
            f"rows = tl.program_id(0) * {rows} + tl.arange(0, {rows})[:, None]",
        )
        fewer = max(1, int(warps * different / asked))
        yield finding if fewer == warps else Costed(finding, ModelChange(num_warps=fewer))
