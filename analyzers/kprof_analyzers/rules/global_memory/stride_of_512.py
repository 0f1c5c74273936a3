"""KP104 stride-multiple-of-512-bytes."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.mlir import Operation
from kprof_analyzers.memory.addressing import element_bytes, strides, tile
from kprof_analyzers.memory.dataflow import flow_of, global_loads, is_load
from kprof_analyzers.rules.about import GLOBAL_ACCESSES, About
from kprof_analyzers.rules.rule import Need, NotCheckedError, Rule, known
from kprof_analyzers.source_lines import location_of


class StrideMultipleOf512Bytes(Rule):
    """The rows of a GEMM operand begin at multiples of 512 bytes.

    ## What it does
    Follows the addresses of loads that feed a product in a loop to find the distance between rows, and evaluates it
    with the launch's arguments. Reports multiples of the architecture's `tag_period_bytes`, 512. Tiles that cover
    complete rows are ignored, because they read all bytes in between.

    ## Why it matters
    According to AMD's tuning guide for the MI300X, neighbouring rows then share a channel of the cache's tag RAM. The
    cost is highest if both operands are contiguous along K ("TN").

    ## Evidence
    `stride`: name of the stride in the code. `bytes`: its value in bytes. Without a launch the value is unknown, and
    the rule is not checked.

    No gain is given: the guide names the effect without a number, and published differences are small. ROCm's tuned
    stream-K products on an MI300X (fp16, "TN", 4,864 x 4,096) reach 584 TFLOP/s with K = 4,096, and 590 with 4,160,
    4,224 and 4,288. With N = 8,192, the numbers are 592 and 595; with K = 8,192 and 8,256, they are 620 and 602. In the
    first and the last of these comparisons the order of workgroups also differs. The performance model therefore adds
    no time for such a stride. On gfx950 the counters `TCP_TAGRAM0_REQ` to `TCP_TAGRAM3_REQ` show how evenly the
    channels are used.

    ## What to try
    Allocate the matrix with padded rows: for fp16 the guide uses K + 128 if K is a multiple of 256. A weight is padded
    once, when it is loaded. Measure the result: the published pairs gain at most 1 %.
    """

    id: ClassVar[str] = "KP104"
    name: ClassVar[str] = "stride-multiple-of-512-bytes"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "pad the rows: allocate K + 128 elements per row (for fp16) and pass that as the stride"
    about: ClassVar[About] = GLOBAL_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        if _period(arch) is None:
            raise NotCheckedError(f"whether rows meet in a channel of the tag RAM of {arch.name} is not known")
        return None

    def check(self, facts: KernelFacts) -> Iterable[Finding]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        period = known(_period(facts.arch))
        flow = flow_of(module)
        feeding = {
            op.index
            for dot in module.named("tt.dot", "tt.dot_scaled")
            if dot.loop is not None
            for value in flow.inputs(dot)[:2]
            for op in flow.back(value, stop=lambda o: o.name.startswith("tt.dot"), memory=True)
            if is_load(op)
        }
        seen: set[str] = set()
        unknown = False
        for load in global_loads(module):
            place = str(location_of(load)[0])
            if load.loop is None or load.index not in feeding or place in seen:
                continue
            size = element_bytes(load)
            for step in (strides(load) or {}).values():
                if step is None or size is None or not step.symbols:
                    continue
                value = step.value(facts.arguments)
                unknown |= value is None
                if value and value * size % period == 0 and value > _row(load):
                    seen.add(place)
                    yield self.finding(
                        f"rows {step} apart: {value * size:,} B, a multiple of {period}: they share a channel of L1's "
                        "tags, which costs little",
                        at=load,
                        evidence={"stride": str(step), "bytes": value * size},
                    )
        if unknown and not seen:
            raise NotCheckedError("the launch's strides are not known")


def _period(arch: Architecture) -> int | None:
    level = arch.memory.get("l1")
    return None if level is None else level.tag_period_bytes


def _row(load: Operation) -> int:
    """Return the number of adjacent elements that the tile reads: its extent along the contiguous axis."""
    held = tile(load)
    axis = next((a for a, s in (strides(load) or {}).items() if s is not None and abs(s.value({}) or 0) == 1), None)
    return held.shape[axis] if held is not None and axis is not None else 0
