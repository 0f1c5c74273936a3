"""What a page shows of a kernel beyond the document: source beside instructions, pictures, curves."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from kprof.analysis import KernelFacts
from kprof.details import Curve, CurveStep, Details, IrLine, Picture, SourceFile
from kprof.document import KernelReport, Resources
from kprof.errors import KprofError
from kprof.findings import Finding
from kprof.inputs.mlir.model import Module
from kprof.inputs.mlir.text import without_location
from kprof_analyzers.details.layouts import layout_pictures
from kprof_analyzers.details.listing import source_beside_code
from kprof_analyzers.details.source_text import SourceText
from kprof_analyzers.details.time_shares import time_shares
from kprof_analyzers.occupancy.curve import curve
from kprof_analyzers.occupancy.request import OccupancyInput
from kprof_analyzers.pictures import control_flow
from kprof_analyzers.rules.finding_instructions import instructions_of, subject_of
from kprof_analyzers.source_lines import location_of


def occupancy_curves(resources: Resources | UnsetType, arch: str) -> list[Curve]:
    """Occupancy over VGPRs and over LDS; empty where a resource is not known or impossible.

    AGPRs stay as they are, and what ``waves_per_eu`` pads is left out: it is a choice and no need of the code.
    """
    from kprof.hardware.machine import load

    if not isinstance(resources, Resources):
        return []
    needed = (resources.vgpr, resources.lds_bytes, resources.num_warps)
    if not all(isinstance(amount, int) for amount in needed):
        return []
    vgpr, lds, warps = (int(amount) for amount in needed if isinstance(amount, int))
    try:
        demand = OccupancyInput(
            arch=load(arch),
            vgpr=vgpr,
            agpr=_known(resources.agpr),
            sgpr=_known(resources.sgpr),
            lds_bytes=lds,
            num_warps=warps,
            wavefront_size=resources.wavefront_size if isinstance(resources.wavefront_size, int) else None,
        )
        return [_curve(demand, "vgpr", vgpr), _curve(demand, "lds", lds)]
    except KprofError:
        # A document may come from anywhere: counts that no GPU has make no curve.
        return []


def _curve(demand: OccupancyInput, resource: str, amount: int) -> Curve:
    steps = [CurveStep(p.first, p.last, p.waves_per_simd, p.current) for p in curve(demand, resource)]
    return Curve(resource, amount, steps)


def _known(amount: Any) -> int:
    return 0 if amount is None or amount is UNSET else int(amount)


def ttgir_lines(text: str, module: Module, files: Sequence[SourceFile]) -> list[IrLine]:
    """The lines of a module's text but those that only name positions.

    Args:
        text: of the module.
        module: the same, read.
        files: the source files that lines may come from.
    """
    order = {file.path: number for number, file in enumerate(files)}
    places: dict[int, tuple[int, int]] = {}
    for operation in module.operations:
        place = location_of(operation)[0]
        if place is not None and place.file in order:
            places.setdefault(operation.line, (order[place.file], place.line))
    return [
        IrLine(number, without_location(line), places.get(number))
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.startswith("#loc")
    ]


__all__ = ["Details", "SourceText", "details_of", "without_program"]

_MOST_BLOCKS = 120


def details_of(
    facts: KernelFacts, sources: SourceText, findings: Sequence[Finding] = (), ttgir: str | None = None
) -> Details:
    """Everything beyond the document of a compiled kernel.

    Args:
        facts: the kernel.
        sources: which source files may be read.
        findings: those of its document.
        ttgir: text of the TTGIR that the facts have.
    """
    notes: list[str] = []
    try:
        shares = time_shares(facts)
    except Exception as error:  # noqa: BLE001 - a page without shares is better than none
        shares = None
        notes.append(f"time is not shared out among lines: {type(error).__name__}: {error}")
    files, blocks = source_beside_code(facts, shares, sources)
    picture = None
    if len(facts.program.blocks) <= _MOST_BLOCKS:
        picture = Picture("Control flow", control_flow.to_svg(facts.program))
    else:
        notes.append(
            f"the control flow has {len(facts.program.blocks)} blocks: kprof draw flow TARGET -o FILE.svg draws it"
        )
    pictures, skipped = layout_pictures(facts)
    return Details(
        files=files,
        blocks=blocks,
        control_flow=picture,
        layouts=pictures,
        curves=occupancy_curves(facts.resources, facts.arch.name),
        notes=[*notes, *skipped],
        ttgir=[] if ttgir is None or facts.ttgir is None else ttgir_lines(ttgir, facts.ttgir, files),
        landings=[instructions_of(facts.program, subject_of(finding)) for finding in findings],
    )


def without_program(kernel: KernelReport) -> Details:
    """What can be shown of a kernel of which only the document is at hand."""
    note = "source and instructions are not in a saved report: give the kernel itself to see them"
    return Details(curves=occupancy_curves(kernel.resources, kernel.arch), notes=[note])
