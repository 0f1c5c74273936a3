"""KP605 copy-through-registers."""

from collections.abc import Iterable
from typing import ClassVar

from kprof.analysis import KernelFacts, ModelChange
from kprof.findings import Finding, Severity
from kprof.hardware.machine import Architecture
from kprof.inputs.amdgcn import InstructionClass
from kprof.inputs.mlir import Operation
from kprof_analyzers.compiler_passes import PIPELINER, pass_effect, passes_suffix
from kprof_analyzers.memory.addressing import tile
from kprof_analyzers.memory.dataflow import flow_of, is_load
from kprof_analyzers.model.executions import regions
from kprof_analyzers.rules.about import LDS_ACCESSES, About
from kprof_analyzers.rules.levers import Lever
from kprof_analyzers.rules.rule import Costed, Need, NotCheckedError, Rule, known
from kprof_analyzers.source_lines import on_line_of

_SWITCH = "TRITON_HIP_USE_ASYNC_COPY"
_SMALL_BYTES = 4096
# Narrower direct copies need so many more instructions that saving registers does not pay off.
_WIDE = 16


class CopyThroughRegisters(Rule):
    """Tiles go from memory to LDS through registers, although the hardware could copy them directly.

    ## What it does
    On hardware that can copy 16 bytes per lane directly, looks in pipelined loops for tiles that are loaded into
    registers and then only stored to LDS.

    ## Why it matters
    gfx950 moves 16 bytes per lane from memory into LDS (`buffer_load_dwordx4 ... lds`). A copy through registers
    occupies registers from the load until the store, and needs additional LDS store instructions.

    ## Evidence
    `bytes`: size of the tile. `switch`: value of the environment switch, if set. `pass`: with `--passes`, what the
    pipeliner, which makes asynchronous copies, did on this line.

    ## What to try
    Make each lane read 16 contiguous bytes, and do not modify the tile between load and store. Otherwise the compiler
    copies through registers.
    """

    id: ClassVar[str] = "KP605"
    name: ClassVar[str] = "copy-through-registers"
    severity: ClassVar[Severity] = Severity.NOTE
    about: ClassVar[About] = LDS_ACCESSES
    needs: ClassVar[tuple[Need, ...]] = (Need.TTGIR,)
    wants: ClassVar[tuple[Need, ...]] = (Need.PASSES,)
    levers: ClassVar[tuple[Lever, ...]] = (Lever(_SWITCH, "1", "the default of Triton 3.8 and later on gfx950"),)

    def absent_from(self, arch: Architecture) -> str | None:
        """See :meth:`Rule.absent_from`."""
        width = arch.lds.direct_load_bytes
        if width is None:
            raise NotCheckedError(f"whether {arch.name} copies tiles straight to LDS is not known")
        if width >= _WIDE:
            return None
        return (
            f"{arch.name} copies {width} B a lane straight to LDS, not 16"
            if width
            else f"{arch.name} has no such copies"
        )

    def check(self, facts: KernelFacts) -> Iterable[Finding | Costed]:
        """See :meth:`Rule.check`."""
        module = known(facts.ttgir)
        flow = flow_of(module)
        seen: set[int] = set()
        for store in module.named("ttg.local_store"):
            if store.loop is None:
                continue
            load = flow.producer(flow.input(store, 0))
            if load is None or not is_load(load) or load.index in seen or not _is_large(load):
                continue
            seen.add(load.index)
            line = load.user_frame.line if load.user_frame is not None else None
            said = pass_effect(facts, PIPELINER, ("ttg.async_copy_*", "amdg.buffer_load_to_local"), line)
            finding = self.finding(
                f"the tile goes through registers to LDS, where {facts.arch.name} can copy it straight"
                f"{passes_suffix(said)}",
                at=load,
                evidence={
                    "bytes": getattr(tile(load), "bytes", None),
                    "switch": facts.specialization.environment.get(_SWITCH),
                    "pass": said,
                },
            )
            yield _without_stores(facts, store, finding)


def _without_stores(facts: KernelFacts, store: Operation, finding: Finding) -> Finding | Costed:
    """Add the gain of removing the LDS stores on the store's line. The registers that become free are not counted."""
    gone = tuple(
        i.index
        for region in regions(facts)
        if region.loop is not None
        for i in on_line_of(region.instructions, store)
        if i.opcode.cls is InstructionClass.LDS and i.opcode.is_store
    )
    return Costed(finding, ModelChange(gone=gone)) if gone else finding


def _is_large(load: Operation) -> bool:
    held = tile(load)
    return held is not None and (held.bytes or 0) >= _SMALL_BYTES
