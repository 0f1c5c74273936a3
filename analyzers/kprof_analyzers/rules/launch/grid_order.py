"""KP406 grid-order-across-xcds."""

from collections.abc import Iterable
from math import prod
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.mlir import Module, Operation
from kprof_analyzers.memory.addressing import element_bytes, tile
from kprof_analyzers.memory.dataflow import flow_of, global_loads
from kprof_analyzers.rules.rule import Costed, Need, NotCheckedError, Rule, known

_SPLITTING = {"arith.remsi", "arith.remui", "arith.andi"}
_REMAINDERS = {"arith.remsi", "arith.remui"}
_QUOTIENTS = {"arith.divsi", "arith.divui"}
_AXES = "xyz"
# Minimum share of a loop's loaded bytes that workgroups must share. A few shared rows next to a large amount of weights
# do not justify a new order.
_SHARE = 0.25


class GridOrderAcrossXcds(Rule):
    """Neighbouring workgroups of a product share tiles, but run on different dies.

    ## What it does
    On a GPU with several accelerator dies (XCDs), looks at kernels with a matrix product that do not take the number of
    XCDs into account: they compute no remainder of the program identifier by that number or a multiple of it. Checks
    which grid axes the addresses of loads in the loop depend on. Workgroups that differ only along the other axes read
    the same data. They run on the same die only if a step along each of these axes advances the workgroup's number by a
    multiple of the number of XCDs. Reports kernels in which no load of shared data meets this condition, if these loads
    are at least a quarter of the loop's bytes. Also reports kernels in which one axis numbers a 2-D grid of tiles by
    quotient and remainder.

    ## Why it matters
    Workgroups are assigned to the XCDs round-robin, and each XCD has its own L2. Neighbouring workgroups that read the
    same rows then fetch them into eight caches instead of one.

    ## Evidence
    `xcds`, `grid`, `product`. `shared`: for the line of each load, the axes along which workgroups share its data. Hit
    rates are unknown, because nothing was run.

    ## What to try
    Renumber the workgroups: `pid` becomes `pid % XCDS * (N // XCDS) + pid // XCDS`, so that each XCD gets consecutive
    workgroups; do this before any grouping of tiles. The bundled kernel `gemm` does it. In attention, make the heads
    the first axis of the grid: with a multiple of 8 heads, all blocks of a head run on one die.
    """

    id: ClassVar[str] = "KP406"
    name: ClassVar[str] = "grid-order-across-xcds"
    severity: ClassVar[Severity] = Severity.NOTE
    fix: ClassVar[str] = "renumber the workgroups: pid = pid % XCDS * (num_pids // XCDS) + pid // XCDS"
    needs: ClassVar[tuple[Need, ...]] = (
        Need.TTGIR,
        Need.GRID,
        Need.PRODUCT,
    )

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        dies = [product.xcds for product in arch.products.values()]
        if not dies or None in dies:
            raise NotCheckedError(f"how many dies the GPUs of {arch.name} have is not known")
        return None if max(filter(None, dies)) > 1 else f"GPUs of {arch.name} are one die"

    def check(self, facts: KernelFacts) -> Iterable[Costed]:
        """See :meth:`Rule.check`."""
        module, grid, product = known(facts.ttgir), known(facts.grid), known(facts.product)
        dot = next((d for d in module.named("tt.dot", "tt.dot_scaled") if d.loop is not None), None)
        program = next(iter(module.named("tt.get_program_id")), None)
        if dot is None or program is None:
            return
        xcds = product.xcds
        if xcds is None:
            raise NotCheckedError(f"the dies of an {product.name} are not known")
        if xcds < 2 or prod(grid) <= xcds:
            return
        if any(_by_xcds(op, xcds) for op in module.operations if op.name in _SPLITTING):
            return
        shared = _axes_across_dies(module, grid, xcds)
        if shared is None:
            return
        yield Costed(
            self.finding(
                f"the {'x'.join(map(str, grid))} grid does not take the {xcds} XCDs of an {product.name} into account",
                at=program,
                evidence={"xcds": xcds, "grid": list(grid), "product": product.name, "shared": shared},
            ),
            ModelChange(leave_out=("dies_in_turn",)),
        )


def _axes_across_dies(module: Module, grid: tuple[int, ...], xcds: int) -> dict[str, str] | None:
    """Map the line of each load of shared data to the axes along which workgroups share the data.

    The map is empty if the shared loads are unknown, for example because one axis numbers a 2-D grid of tiles. Return
    ``None`` if some of the shared data is used on one die only, if too little data is shared, or if no order of
    workgroups would help.
    """
    flow = flow_of(module)
    extents = dict(zip(_AXES, grid, strict=False))
    used = {op.text.strip()[:1] for op in module.named("tt.get_program_id")}
    steps, step = {}, 1
    for axis, extent in extents.items():
        steps[axis], step = step, step * extent
    loads = [op for op in global_loads(module) if op.loop is not None and len(getattr(tile(op), "shape", ())) > 1]
    if _numbers_tiles(module) or not loads:
        return {} if _numbers_tiles(module) or len(used) == 1 else None
    found: dict[str, str] = {}
    spread = 0
    for load in loads:
        sources = (op for value in flow.inputs(load) for op in flow.back(value))
        depends = {op.text.strip()[:1] for op in sources if op.name == "tt.get_program_id"}
        free = [axis for axis, extent in extents.items() if extent > 1 and axis not in depends]
        # No order can give each die its own data if there are fewer groups of workgroups that share data than dies.
        if not free or prod(extents[axis] for axis in extents if axis not in free) < xcds:
            continue
        if all(steps[axis] % xcds == 0 for axis in free):
            return None
        frame, spread = load.user_frame, spread + _bytes(load)
        found[str(frame.line) if frame is not None else "?"] = ", ".join(free)
    return found if found and spread >= _SHARE * sum(map(_bytes, loads)) else None


def _bytes(load: Operation) -> int:
    held = tile(load)
    return held.elements * (element_bytes(load) or 1) if held is not None else 0


def _numbers_tiles(module: Module) -> bool:
    """Return whether one grid axis numbers a 2-D grid of tiles: the kernel uses its quotient and its remainder."""
    flow = flow_of(module)
    divided: dict[str, set[bool]] = {}
    for op in module.operations:
        if op.name in _REMAINDERS | _QUOTIENTS and op.loop is None:
            for source in flow.back(flow.input(op, 0)):
                if source.name == "tt.get_program_id":
                    divided.setdefault(source.text.strip()[:1], set()).add(op.name in _REMAINDERS)
    return any(len(kinds) == 2 for kinds in divided.values())


def _by_xcds(op: Operation, xcds: int) -> bool:
    """Return whether an operation is a remainder of the program identifier by a multiple of the number of XCDs."""
    flow = flow_of(op.module)
    if not any(source.name == "tt.get_program_id" for source in flow.back(flow.input(op, 0))):
        return False
    divisor = flow.producer(flow.input(op, 1))
    text = divisor.text.strip().split(" ")[0] if divisor is not None and divisor.name == "arith.constant" else ""
    if not text.isdecimal():
        return False
    value = int(text) + (op.name == "arith.andi")
    return value % xcds == 0
