"""Compute the share of a tile's elements that pass its mask, from the comparisons in the mask."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from kprof.analysis import KernelFacts
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.addressing import mask_of
from kprof_analyzers.memory.dataflow import GLOBAL_LOADS, GLOBAL_STORES
from kprof_analyzers.model.comparisons import Bound, MaskReader
from kprof_analyzers.model.effects import Effects
from kprof_analyzers.model.launch import samples, spread
from kprof_analyzers.model.machine import machine_of
from kprof_analyzers.model.scalars import Evaluator
from kprof_analyzers.model.values import Value


@dataclass(frozen=True)
class Masked:
    """A load or store with the share of its elements that pass its mask.

    Attributes:
        access: the operation.
        share: share of the elements that pass; ``None`` if unknown, 1 without a mask.
        bounds: the comparisons in its mask.
    """

    access: Operation
    share: float | None
    bounds: tuple[Bound, ...] = ()

    @property
    def most(self) -> float:
        """Upper bound of ``share``: the share of the elements that pass all known comparisons."""
        return prod(bound.share for bound in self.bounds if bound.share is not None)

    @property
    def tightest(self) -> Bound | None:
        """The comparison that the fewest elements pass."""
        known = [bound for bound in self.bounds if bound.share is not None]
        return min(known, key=lambda bound: bound.share or 0.0, default=None)


# Cache of the last kernel, because the model and the rules read the same masks.
_last: list[tuple[KernelFacts, tuple[Masked, ...]]] = []


def masked(facts: KernelFacts) -> tuple[Masked, ...]:
    """Return the loads and stores of tensors in global memory, in program order, with the effect of their masks."""
    for known, found in _last:
        if known is facts:
            return found
    result = () if facts.ttgir is None else _masked_accesses(facts, facts.ttgir)
    _last[:] = [(facts, result)]
    return result


def live_shares(facts: KernelFacts) -> dict[int, float]:
    """Return the share of elements that pass the mask, by index of the TTGIR load or store.

    Accesses whose share is 1 are omitted. All elements are assumed to pass an unknown comparison.
    """
    return {m.access.index: most for m in masked(facts) if (most := m.most) < 1}


def fullest_shares(facts: KernelFacts) -> dict[int, float]:
    """Return shares like :func:`live_shares`, but for the workgroup and iteration with the most passing elements."""
    fullest = {m.access.index: prod(bound.fullest for bound in m.bounds) for m in masked(facts)}
    return {index: share for index, share in fullest.items() if share < 1}


def _masked_accesses(facts: KernelFacts, module: Module) -> tuple[Masked, ...]:
    accesses = [(op, mask_of(op)) for op in module.operations if op.name in (*GLOBAL_LOADS, *GLOBAL_STORES)]
    if all(mask is None for _, mask in accesses):
        return tuple(Masked(op, 1.0) for op, _ in accesses)
    lanes = facts.resources.wavefront_size
    size = lanes if isinstance(lanes, int) else facts.arch.wavefront_size
    machine = machine_of(facts.arch, facts.product, size, wgp=facts.program.registers.wgp_mode)
    where = spread(facts, machine, Effects())
    evaluator = Evaluator(module, facts.arguments, samples(where), where.grid, facts.contents)
    entered: set[int] = set()
    following: dict[int, dict[str, Value | None]] = {}
    found = []
    for access, mask in accesses:
        if mask is None:
            found.append(Masked(access, 1.0))
            continue
        _enter(evaluator, access, entered)
        reader = MaskReader(evaluator, access, following, grid_known=where.known)
        bounds = reader.bounds(mask)
        share = None if bounds is None else _together(bounds)
        found.append(Masked(access, share, tuple(bounds or ())))
    return tuple(found)


def _enter(evaluator: Evaluator, access: Operation, entered: set[int]) -> None:
    """Set the variables of the loops around an access: first iteration of the innermost loop, middle of the others."""
    around: list[Operation] = []
    loop = access.loop
    while loop is not None:
        around.append(access.module.operations[loop])
        loop = around[-1].loop
    for place, op in reversed(list(enumerate(around))):
        if op.index not in entered or not place:
            evaluator.enter(op, first=not place)
            entered.add(op.index)
    evaluator.inside(access.loop)


def _together(bounds: Sequence[Bound]) -> float | None:
    """Return the share of elements that pass all comparisons, which are assumed to be independent of each other."""
    share = 1.0
    for bound in bounds:
        if bound.share is None:
            return None
        share *= bound.share
    return share
