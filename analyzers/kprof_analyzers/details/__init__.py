"""Collect details of a kernel that are not in the report: source with instructions, pictures and occupancy curves."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import product
from typing import Any

from msgspec import UNSET, UnsetType

from kprof.analysis import KernelFacts
from kprof.details import Curve, CurveStep, Details, IrLine, Picture, SourceFile
from kprof.document import KernelReport, Resources
from kprof.errors import KprofError
from kprof.findings import Finding
from kprof.inputs.mlir import MemDesc, Scalar, TensorType
from kprof.inputs.mlir.layouts import Layout
from kprof.inputs.mlir.model import Module
from kprof.inputs.mlir.text import without_location
from kprof_analyzers.details.listing import SourceText, source_beside_code, time_shares
from kprof_analyzers.memory.linear_layout import LANE, REGISTER, WARP, UnknownLayoutError, linear
from kprof_analyzers.occupancy.curve import curve
from kprof_analyzers.occupancy.request import OccupancyInput
from kprof_analyzers.pictures import control_flow
from kprof_analyzers.pictures.layouts import draw
from kprof_analyzers.rules.finding_instructions import instructions_of, subject_of
from kprof_analyzers.source_lines import location_of

_SIDES = (16, 32, 64, 128)
_MOST_CELLS = 64 * 64
_MOST_BYTES = 100_000
_MOST_PICTURES = 3
# Parts to remove from pictures that are embedded as images: hover texts, which such images do not show, and groups.
_HINT = re.compile(r"<title>[^<]*</title>|</?g>")
_SHORTER = (
    ('.0"', '"'),
    (' rx="0"', ""),
    (' stroke="#ffffff"', ""),
    (' text-anchor="middle" font-size="9" fill="#222222"', ' class="c"'),
)
_STYLE = "<style>.c{text-anchor:middle;font-size:9px;fill:#222}</style>"
Use = tuple[Layout, tuple[int, int], int]


def occupancy_curves(resources: Resources | UnsetType, arch: str) -> list[Curve]:
    """Return occupancy over VGPRs and over LDS, or an empty list if a resource is unknown or impossible.

    AGPRs stay constant. VGPR padding from ``waves_per_eu`` is ignored, because it is a choice and not a requirement
    of the code.
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
            agpr=_or_zero(resources.agpr),
            sgpr=_or_zero(resources.sgpr),
            lds_bytes=lds,
            num_warps=warps,
            wavefront_size=resources.wavefront_size if isinstance(resources.wavefront_size, int) else None,
        )
        return [_curve(demand, "vgpr", vgpr), _curve(demand, "lds", lds)]
    except KprofError:
        # The report may be a document from any source, with register counts that no GPU supports.
        return []


def _curve(demand: OccupancyInput, resource: str, amount: int) -> Curve:
    steps = [CurveStep(p.first, p.last, p.waves_per_simd, p.current) for p in curve(demand, resource)]
    return Curve(resource, amount, steps)


def _or_zero(amount: Any) -> int:
    return 0 if amount is None or amount is UNSET else int(amount)


def ttgir_lines(text: str, module: Module, files: Sequence[SourceFile]) -> list[IrLine]:
    """Return the lines of a module's text, except lines that only define locations.

    Args:
        text: TTGIR text of the module.
        module: the parsed module.
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
    """Return those details of a compiled kernel that are not in its report.

    Args:
        facts: the kernel.
        sources: which source files may be read.
        findings: findings of the kernel's report.
        ttgir: text of the TTGIR that the facts contain in parsed form.
    """
    notes: list[str] = []
    try:
        shares = time_shares(facts)
    except Exception as error:  # noqa: BLE001 - a page without shares is better than no page
        shares = None
        notes.append(f"no time per line: {type(error).__name__}: {error}")
    files, blocks = source_beside_code(facts, shares, sources)
    picture = None
    if len(facts.program.blocks) <= _MOST_BLOCKS:
        picture = Picture("Control flow", control_flow.to_svg(facts.program))
    else:
        notes.append(
            f"control flow not drawn: {len(facts.program.blocks)} blocks; kprof draw flow TARGET -o FILE.svg draws it"
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
    """Return the details that can be computed from a kernel's report alone, without its code."""
    note = "source and instructions are not in a saved report: pass the kernel itself to see them"
    return Details(curves=occupancy_curves(kernel.resources, kernel.arch), notes=[note])


def layout_pictures(facts: KernelFacts) -> tuple[list[Picture], list[str]]:
    """Draw the layouts of 2-D tensors and LDS buffers, most used first; also return notes on layouts not drawn."""
    if facts.ttgir is None:
        return [], []
    names = {layout: alias for alias, layout in facts.ttgir.layouts.items()}
    uses: Counter[Use] = Counter()
    for operation in facts.ttgir.operations:
        for kind in operation.types:
            if isinstance(kind, TensorType | MemDesc) and kind.layout is not None and isinstance(kind.element, Scalar):
                shape = kind.shape[-2:]
                if len(shape) == 2 and len(kind.shape) <= (3 if isinstance(kind, MemDesc) else 2):
                    uses[kind.layout, (shape[0], shape[1]), kind.element.bits or 32] += 1
    found: list[Picture] = []
    left: list[str] = []
    seen: set[Layout] = set()
    for (layout, shape, bits), _ in sorted(uses.items(), key=lambda use: (-use[1], str(use[0]))):
        if layout in seen:
            continue
        seen.add(layout)
        name = names.get(layout) or type(layout).__name__
        picture = _picture(facts, (layout, shape, bits), name) if len(found) < _MOST_PICTURES else None
        if picture is None:
            left.append(name)
        else:
            found.append(picture)
    note = f"layouts not drawn: {', '.join(left)}; kprof draw layout --module FILE.ttgir draws them"
    return found, [note] if left else []


def _picture(facts: KernelFacts, use: Use, name: str) -> Picture | None:
    layout, shape, bits = use
    tile = _tile(layout, shape)
    try:
        svg = draw(layout, tile, facts.arch, bits)
    except (KprofError, ValueError):
        return None
    svg = _shortened(svg)
    if len(svg) > _MOST_BYTES:
        return None
    whole = "x".join(map(str, shape))
    part = "" if tile == shape else f"; the picture shows the repeating tile of {'x'.join(map(str, tile))}"
    return Picture(f"{name}: {type(layout).__name__}", svg, f"used for {whole} elements of {bits} bits{part}")


def _shortened(svg: str) -> str:
    svg = _HINT.sub("", svg)
    for long, short in _SHORTER:
        svg = svg.replace(long, short)
    head, _, rest = svg.partition("\n")
    return f"{head}{_STYLE}\n{rest}"


def _tile(layout: Layout, shape: tuple[int, int]) -> tuple[int, int]:
    """Return the shape to draw: the smallest tile in which each register of each lane has exactly one element.

    If this tile is too large to be legible, the largest legible one is returned.
    """
    sides = [[s for s in _SIDES if s < size] + [size] for size in shape]
    candidates = sorted(product(*sides), key=lambda tile: (tile[0] * tile[1], tile))
    fitting = [(rows, columns) for rows, columns in candidates if rows * columns <= _MOST_CELLS]
    for tile in fitting:
        try:
            held = linear(layout, tile)
        except (UnknownLayoutError, ValueError):
            return min((64, 64), shape)
        if held.size(REGISTER) * held.size(LANE) * held.size(WARP) == tile[0] * tile[1]:
            return tile
    return fitting[-1] if fitting else shape
