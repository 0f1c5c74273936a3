"""What a page shows of a kernel beyond the document: source beside instructions, pictures, curves."""

from collections.abc import Sequence

from kprof.analysis import KernelFacts
from kprof.details import Details, Picture
from kprof.document import KernelReport
from kprof.findings import Finding
from kprof_analyzers.details.curves import occupancy_curves
from kprof_analyzers.details.layouts import layout_pictures
from kprof_analyzers.details.listing import source_beside_code
from kprof_analyzers.details.source_text import SourceText
from kprof_analyzers.details.time_shares import time_shares
from kprof_analyzers.details.ttgir import ttgir_lines
from kprof_analyzers.pictures import control_flow
from kprof_analyzers.rules.finding_instructions import instructions_of, subject_of

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
