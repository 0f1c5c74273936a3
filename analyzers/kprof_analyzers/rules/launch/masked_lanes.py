"""KP410 masked-lanes."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.inputs.amdgcn import InstructionClass
from kprof_analyzers.memory.addressing import element_bytes, tile
from kprof_analyzers.memory.dataflow import GLOBAL_STORES
from kprof_analyzers.model.executions import executions
from kprof_analyzers.model.masks import Masked, masked
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, Need, NotCheckedError, Rule, known

_WASTE = 1 / 3
_NEARLY_FULL = 1.25
_LEAST_TILE = 64
_WORKING = {InstructionClass.VALU, InstructionClass.VMEM, InstructionClass.LDS}


class MaskedLanes(Rule):
    """At least a third of the elements that the lanes compute are masked: the tile is larger than the data.

    ## What it does
    Reads the mask of each tensor load as comparisons of an index with a size (`columns < N`). With the launch's
    arguments it counts the elements that pass the masks, over all workgroups and iterations, weighted by bytes and
    executions. Reports a kernel where at least a third of the elements do not pass.

    The stores are checked only if the kernel loads nothing, because a store may write a few of the elements on purpose.
    A kernel is not checked if at least a third of its bytes have masks of another form, or masks that depend on values
    loaded from memory. KP505 checks kernels with matrix products.

    ## Why it matters
    The number of elements of a tile along an axis is a power of two. With rows of 520 elements in a tile of 1,024,
    nearly half of the lanes have no useful work: they still execute every instruction and hold registers. Their bytes
    are not moved, so a kernel that waits for memory loses little.

    ## Evidence
    `live`: share of the elements that pass the masks. `size`: the size that the tile's indices are compared with.
    `value`: the value of that size, if it is an argument or a constant. `tile`: elements of the tile along that axis.

    ## What to try
    Use a smaller power of two and loop over the row, so that only the last tile is masked: 520 = 4 x 128 + 8. If rows
    are shorter than the number of lanes of a wavefront, put several rows into a tile with two axes. The predicted gain
    is an upper bound, because the work for addresses and reductions does not shrink with the tile.
    """

    id: ClassVar[str] = "KP410"
    name: ClassVar[str] = "masked-lanes"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "loop over tiles of a smaller power of two and mask only the last one"
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    levers: ClassVar[tuple[Lever, ...]] = (Lever("BLOCK_N", "lower", "more tiles, of which only the last is masked"),)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        if any(True for _ in module.named("tt.dot", "tt.dot_scaled")):
            return
        every = masked(facts)
        loads = [found for found in every if found.access.name not in GLOBAL_STORES]
        weights = [(found, _weight(facts, found)) for found in loads or every]
        total = sum(weight for _, weight in weights)
        unknown = sum(weight for found, weight in weights if found.share is None)
        live = sum((1.0 if found.share is None else found.share) * weight for found, weight in weights)
        if total and 1 - live / total >= _WASTE:
            yield self._report(facts, weights, live / total)
        elif total and unknown / total >= _WASTE:
            raise NotCheckedError("what the masks let through does not follow from the launch's sizes")

    def _report(self, facts: KernelFacts, weights: list[tuple[Masked, float]], live: float) -> Costed:
        worst = max(weights, key=lambda pair: pair[1] * (0.0 if pair[0].share is None else 1 - pair[0].share))[0]
        bound = known(worst.tightest)
        value = facts.arguments.get(bound.size or "")
        named = bound.size is not None and not bound.size.isdecimal()
        kind = "stores" if worst.access.name in GLOBAL_STORES else "loads"
        size = f"{bound.size}={value}" if named and value is not None else bound.size or "a size"
        return Costed(
            self.finding(
                f"{100 * (1 - live):.0f} % of the elements of its {kind} are masked away: the tile has "
                f"{bound.extent:,} elements along an axis that ends at {size}",
                at=worst.access,
                evidence={"live": round(live, 3), "size": bound.size, "value": value, "tile": bound.extent},
                fix=_loop(bound.size if named else None, value if named else bound.size, bound.extent),
            ),
            _smaller(facts, live),
        )


def _loop(name: str | None, end: object, extent: int) -> str:
    """Describe a loop over smaller tiles, with the largest tile size whose tiles are nearly full.

    Return "" if the length of the row is unknown or short, or if it is not smaller than the tile; in the last case
    whole workgroups are masked.
    """
    length = int(str(end)) if str(end).isdecimal() else 0
    if not _LEAST_TILE < length < extent:
        return ""
    size, stop = extent // 2, name or length
    while size > _LEAST_TILE and -(-length // size) * size > _NEARLY_FULL * length:
        size //= 2
    return (
        f"loop over smaller tiles: for start in range(0, {stop}, {size}), with columns = start + tl.arange(0, {size}) "
        f"and mask = columns < {stop}"
    )


def _smaller(facts: KernelFacts, live: float) -> ModelChange:
    """Return the change that removes wavefronts without work, and scales the others' work to the unmasked elements."""
    warps = facts.resources.num_warps
    fewer = max(1, round(warps * live)) if isinstance(warps, int) else None
    left = min(1.0, live if fewer is None or not isinstance(warps, int) else live * warps / fewer)
    cycles = {i.index: left for i in facts.program.instructions if i.opcode.cls in _WORKING} if left < 1 else {}
    return ModelChange(cycles=cycles, num_warps=None if fewer == warps else fewer, at_most=True)


def _weight(facts: KernelFacts, found: Masked) -> float:
    """Return the bytes that a workgroup's lanes access with one load or store, summed over all its executions."""
    held, size = tile(found.access), element_bytes(found.access)
    return 0.0 if held is None else held.elements * (size or 1) * executions(facts, found.access)
