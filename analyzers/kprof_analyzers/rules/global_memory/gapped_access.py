"""KP103 gapped-global-access."""

from collections.abc import Iterable
from typing import ClassVar

from msgspec.structs import replace

from kprof.analysis import KernelFacts
from kprof.findings import Finding, Severity
from kprof.inputs.mlir import Operation, TensorType
from kprof_analyzers.memory.addressing import Steps, base, element_bytes, strides, tile
from kprof_analyzers.memory.alignment import known_alignment, pointer_from_memory
from kprof_analyzers.memory.dataflow import global_loads
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, Basis, UnknownLayoutError, linear
from kprof_analyzers.memory.narrowness import CONTIGUOUS_LAST, contiguous_fix
from kprof_analyzers.model.executions import is_significant
from kprof_analyzers.rules.about import GLOBAL_ACCESSES, About
from kprof_analyzers.rules.narrow_accesses import WIDEST, as_wide, loads_on
from kprof_analyzers.rules.rule import Costed, Need, Rule, known
from kprof_analyzers.source_lines import location_of, other_lines

# A cache line has 128 bytes and is fetched in halves, so a shorter run wastes part of each fetch.
_RUN_BYTES = 64
# Smaller tiles are a bias, a scale or row maxima. They occupy so few lines that these stay in L1 however they are read.
_SMALL_BYTES = 4096
# Minimum size of a tile outside of loops, where nothing is read again: the bytes that a wavefront loads at once.
_TINY_BYTES = 1024


class GappedGlobalAccess(Rule):
    """The lanes of a wavefront read short runs of memory with gaps between them.

    ## What it does
    Follows the address arithmetic of each load in a loop, and of other loads that make up at least an eighth of the
    bytes loaded. This gives the step in memory between neighbours along each axis of the tile. Combined with the
    register layout, it gives the run: the number of adjacent bytes that the lanes of a wavefront read with one
    instruction. Reports runs shorter than 64 bytes if the tile allows longer ones, and tiles without an axis that is
    contiguous in memory. Loads from one array with the same steps are one finding.

    Ignored are tiles below 4 KiB in loops (a bias, scales) and below 1 KiB outside, and axes whose stride is 0 in the
    launch (all lanes read the same element). KP101 reports tiles with a contiguous axis whose pointer was loaded from
    memory, because the compiler does not know the pointer's alignment.

    ## Why it matters
    Memory and L2 deliver whole lines. Bytes between the runs are fetched although no lane reads them, and each
    additional line occupies the L1 for longer.

    ## Evidence
    `run_bytes`: number of adjacent bytes. `steps`: for each axis, the distance between neighbours in elements.
    `element`: bytes per element. `shape`: shape of the tile.

    ## What to try
    Make the axis that is contiguous in memory the last axis of the block. Pass a stride of 1 as such, so that Triton
    makes it a constant. Use a larger tile along the contiguous axis. Transpose in LDS rather than in memory. Load data
    that alternates in memory (pairs of RoPE, gate and up) as one tile and separate it with `tl.split`, or store it as
    two halves.
    """

    id: ClassVar[str] = "KP103"
    name: ClassVar[str] = "gapped-global-access"
    severity: ClassVar[Severity] = Severity.WARNING
    fix: ClassVar[str] = CONTIGUOUS_LAST
    about: ClassVar[About] = GLOBAL_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        groups: dict[tuple[object, ...], list[tuple[Operation, Finding]]] = {}
        for load in global_loads(module):
            for reported in self.judge(load, facts):
                # Loads from one array with the same steps read alternating elements, so one change fixes all of them.
                steps = tuple(reported.evidence["steps"].items())
                groups.setdefault((load.loop, base(load), steps), []).append((load, reported))
        seen: set[str] = set()
        for group in groups.values():
            places = {str(location_of(load)[0]): load for load, _ in group}
            if seen.isdisjoint(places):
                seen |= places.keys()
                first, reported = group[0]
                related = other_lines(places.values(), first)
                loads = loads_on(facts, places.values())
                yield Costed(replace(reported, related=[*reported.related, *related]), as_wide(loads))

    def judge(self, load: Operation, facts: KernelFacts) -> Iterable[Finding]:
        """Return the finding for one load, if there is one."""
        found, held, size = strides(load), tile(load), element_bytes(load)
        if not found or held is None or not size or None in found.values():
            return
        # Expanded tensors have strides of 0: all lanes read the same element.
        found = {axis: step for axis, step in found.items() if step is None or step.value(facts.arguments) != 0}
        if any(extent > 1 and axis not in found for axis, extent in enumerate(held.shape)):
            return
        if held.elements * size < (_SMALL_BYTES if load.loop is not None else _TINY_BYTES):
            return
        reported = self._judge(load, held, found, size)
        if reported is not None and (load.loop is not None or is_significant(facts, load)):
            yield reported

    def _judge(self, load: Operation, held: TensorType, found: Steps, size: int) -> Finding | None:
        axis = next((a for a, step in found.items() if step is not None and abs(step.value({}) or 0) == 1), None)
        steps = {str(a): str(step) for a, step in found.items()}
        shape = "x".join(map(str, held.shape))
        evidence = {"steps": steps, "element": size, "shape": list(held.shape)}
        if axis is None:
            listed = ", ".join(f"{step} along axis {a}" for a, step in steps.items())
            return self.finding(
                f"no axis of the {shape} tile is contiguous in memory: steps of {listed} elements of {size} B",
                at=load,
                fix=contiguous_fix(load),
                evidence={**evidence, "run_bytes": size},
            )
        run = _run(held, axis)
        if run is None or run * size >= min(_RUN_BYTES, held.shape[axis] * size):
            return None
        if pointer_from_memory(load) is not None and known_alignment(load, axis, WIDEST) != WIDEST:
            # Without a known alignment no access is wide (KP101 reports this), so the compiler's order of axes is
            # arbitrary.
            return None
        return self.finding(
            f"a wavefront reads runs of {run * size} B of the {shape} tile, whose rows along axis {axis} have "
            f"{held.shape[axis] * size} B",
            at=load,
            evidence={**evidence, "run_bytes": run * size},
        )


def _run(held: TensorType, axis: int) -> int | None:
    """Return the number of adjacent elements along an axis that a wavefront reads if each lane reads one vector."""
    if held.layout is None:
        return None
    try:
        layout = linear(held.layout, held.shape)
    except UnknownLayoutError:
        return None
    left: list[Basis] = [*layout.bases[REGISTER], *layout.bases[LANE]]
    run = 1
    while any(basis[axis] == run and sum(basis) == run for basis in left):
        run *= 2
    return run
