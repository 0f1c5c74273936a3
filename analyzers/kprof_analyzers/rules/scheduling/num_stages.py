"""KP207 num-stages-misfit."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, Need, Rule, known
from kprof_analyzers.scheduling.loops import is_chained, loads_in, products_of_loops

# Minimum bytes per lane of a load directly to LDS. Such loads occupy no registers, so two stages also pay off in
# attention.
_DIRECT_BYTES = 16


class NumStagesMisfit(Rule):
    """`num_stages` does not suit the number of products in the loop.

    ## What it does
    Counts the matrix products of each loop in the TTGIR, and checks whether one depends on another. Reports two cases.
    A loop with one product, whose tiles are loaded in the same iteration, was compiled with `num_stages=1` although it
    could prefetch the tiles (`num_stages=0` compiles to the same code as 1). Or a loop with dependent products was
    compiled with two or more stages, although LDS or registers already limit it to one wavefront per SIMD, which is a
    high price for the prefetch.

    ## Why it matters
    AMD's tuning guide uses 2 for a loop with a single product, and 1 for kernels that fuse two products (attention) and
    kernels without products. On gfx950, where loads can go directly to LDS, two stages also pay off in attention.

    ## Evidence
    `num_stages`. `products`: number of products per iteration. `chained`: whether a product uses the result of another.
    `waves_per_simd`.

    ## What to try
    `kprof advise` compiles the kernel with the other value, and shows the predicted time of both.
    """

    id: ClassVar[str] = "KP207"
    name: ClassVar[str] = "num-stages-misfit"
    severity: ClassVar[Severity] = Severity.NOTE
    families: ClassVar[tuple[str, ...]] = ("CDNA2", "CDNA3", "CDNA4")
    needs: ClassVar[tuple[Need, ...]] = (
        Need.TTGIR,
        Need.NUM_STAGES,
    )
    levers: ClassVar[tuple[Lever, ...]] = (
        Lever("num_stages", "higher", "prefetches the tiles of a single product", limit=2),
        Lever("num_stages", "lower", "where products in a row leave one wavefront on a SIMD"),
    )

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        stages = facts.metadata["num_stages"]
        direct = (facts.arch.lds.direct_load_bytes or 0) >= _DIRECT_BYTES
        waves = facts.occupancy.waves_per_simd if facts.occupancy is not None else None
        for loop, dots in products_of_loops(module).items():
            chained = is_chained(dots)
            evidence = {
                "num_stages": stages,
                "products": len(dots),
                "chained": chained,
                "waves_per_simd": waves,
            }
            if len(dots) == 1 and stages <= 1 and loads_in(loop, dots[0]):
                yield Costed(
                    self.finding(
                        f"one product in the loop and num_stages={stages}: its tiles are not loaded ahead",
                        at=dots[0],
                        evidence=evidence,
                    ),
                    ModelChange(leave_out=("memory_latency",), at_most=True),
                )
            elif chained and stages >= 2 and waves is not None and waves < 2 and not direct:
                yield self.finding(
                    f"{len(dots)} products in a row with num_stages={stages} leave {waves:g} "
                    f"wave{'' if waves == 1 else 's'} per SIMD",
                    at=dots[0],
                    evidence=evidence,
                )
