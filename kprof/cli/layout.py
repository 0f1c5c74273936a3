"""``kprof layout``: a layout as a picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli.common import ArchOption
from kprof.errors import KprofError, near
from kprof.inputs.assignments import listed
from kprof.output.writing import write_output

if TYPE_CHECKING:
    from kprof.inputs.mlir.layouts import Layout

HELP = "Draw a layout: which lane holds which element, or LDS and its banks."

_KINDS = {
    "blocked": "ttg.blocked",
    "mfma": "ttg.amd_mfma",
    "wmma": "ttg.amd_wmma",
    "linear": "ttg.linear",
    "swizzled": "ttg.swizzled_shared",
    "rotating": "ttg.amd_rotating_shared",
    "padded": "ttg.padded_shared",
}

# Fields that --set leaves out. A shared layout without swizzling, a product of one tile a wavefront and instruction.
_FIELDS = {
    "blocked": {"sizePerThread": "1x1", "threadsPerWarp": "8x8", "warpsPerCTA": "4x1", "order": "1x0"},
    "mfma": {"version": "3", "warpsPerCTA": "2x2", "instrShape": "16x16x16", "isTransposed": "true"},
    "wmma": {"version": "1", "warpsPerCTA": "2x2"},
    "swizzled": {"vec": "1", "perPhase": "1", "maxPhase": "1", "order": "1x0"},
    "rotating": {"vec": "1", "perPhase": "1", "maxPhase": "1", "order": "1x0"},
}

# Fields that have no usual value.
_FURTHER = {"mfma": ("tilesPerWarp", "elementBitWidth"), "wmma": ("instrShape", "isTransposed", "tilesPerWarp")}


def command(
    layout: Annotated[
        str,
        typer.Argument(
            metavar="LAYOUT",
            help="An attribute ('#ttg.blocked<{...}>'), an alias of --module ('#mma'), or a kind that --set describes: "
            "blocked, mfma, wmma, swizzled, rotating.",
        ),
    ],
    shape: Annotated[str, typer.Option("--shape", help="Elements along each axis: 64x64.")] = "64x64",
    output: Annotated[str, typer.Option("--output", "-o", help="SVG file; - prints it.")] = "-",
    settings: Annotated[
        list[str],
        typer.Option(
            "--set", metavar="K=V", help="A field of the kind: sizePerThread=1x8, version=3; others stay usual."
        ),
    ] = [],
    operand: Annotated[
        int | None, typer.Option("--operand", help="Draw operand 0 or 1 of the product with this result.", min=0, max=1)
    ] = None,
    k_width: Annotated[int, typer.Option("--k-width", help="Neighbours along K in a lane, of an operand.")] = 4,
    bits: Annotated[int, typer.Option("--bits", help="Size of an element in bits, for the banks of LDS.")] = 16,
    module: Annotated[Path | None, typer.Option("--module", help="A TTGIR file whose aliases may be used.")] = None,
    arch: ArchOption = "",
) -> None:
    """Draw a layout: which lane holds which element, or LDS and its banks.

    Example:  kprof layout mfma --set warpsPerCTA=2x2 --shape 64x64 -o layout.svg
    """
    from kprof.hardware.machine import load
    from kprof_analyzers.pictures.layouts import draw

    names = listed(arch) or ["gfx942"]
    if bits not in {4, 8, 16, 32, 64}:
        raise KprofError(f"--bits takes 4, 8, 16, 32 or 64, not {bits}")
    text = _text(layout, settings)
    if operand is not None:
        text = f"#ttg.dot_op<{{opIdx = {operand}, parent = {text}, kWidth = {k_width}}}>"
    found = _read(text, module)
    write_output(output, draw(found, _sizes(shape), load(names[0]), bits))
    if output != "-":
        print(f"{type(found).__name__.lower()} {shape} drawn in {output}")


def _text(layout: str, settings: list[str]) -> str:
    """The attribute that a kind and its fields stand for; an attribute itself is left as it is."""
    if layout.startswith("#"):
        if settings:
            raise KprofError("--set goes with a kind of layout, not with an attribute")
        return layout
    if layout not in _KINDS:
        raise KprofError(f"no kind of layout {layout!r}{near(layout, list(_KINDS))}", hint=f"{', '.join(_KINDS)}")
    known = dict(_FIELDS.get(layout, {}))
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not value:
            raise KprofError(f"--set takes NAME=VALUE, got {setting!r}")
        names = [*_FIELDS.get(layout, {}), *_FURTHER.get(layout, ())]
        if names and name not in names:
            raise KprofError(f"a {layout} layout has no field {name!r}{near(name, names)}", hint=", ".join(names))
        if name != "order" and "0" in value.split("x"):
            raise KprofError(f"--set {setting}: {name} cannot be 0")
        known[name] = value
    fields = (f"{n} = [{v.replace('x', ', ')}]" if "x" in v else f"{n} = {v}" for n, v in known.items())
    return f"#{_KINDS[layout]}<{{{', '.join(fields)}}}>"


def _read(text: str, module: Path | None) -> "Layout":
    from kprof.inputs import boundary
    from kprof.inputs.mlir import parse
    from kprof.inputs.mlir.layout_text import Scope
    from kprof.inputs.mlir.layouts import RawLayout

    aliases = {}
    if module is not None:
        aliases = dict(parse(boundary.read_text(module, most=boundary.LIMIT), str(module)).aliases)
    found = Scope(aliases).layout(text)
    if isinstance(found, RawLayout):
        hint = None if module or "<" in text else "An alias needs the file that defines it: --module FILE.ttgir."
        if found.why:
            raise KprofError(
                f"this layout cannot be: {found.why}", place=str(module) if module else None, hint=found.text[:200]
            )
        raise KprofError(f"not a layout that can be drawn: {text}", hint=hint)
    return found


def _sizes(shape: str) -> tuple[int, ...]:
    parts = shape.lower().split("x")
    if not all(part.isdecimal() and len(part) < 7 for part in parts):
        raise KprofError(f"--shape takes sizes such as 64x64, got {shape!r}")
    return tuple(int(part) for part in parts)
