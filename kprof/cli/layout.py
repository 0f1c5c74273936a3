"""``kprof layout``: a layout as a picture."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli.common import ArchOption
from kprof.errors import KprofError
from kprof.output.writing import write_output

HELP = "Draw a layout: which lane holds which element, or LDS and its banks."


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
            "--set",
            metavar="K=V",
            help="A field of the kind: sizePerThread=1x8, version=3; others keep defaults.",
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
    from kprof.api.draw_layout import draw_layout

    found = draw_layout(
        layout,
        shape=_sizes(shape),
        settings=_fields(settings),
        operand=operand,
        k_width=k_width,
        bits=bits,
        module=module,
        arch=arch,
    )
    write_output(output, found.svg)
    if output != "-":
        print(f"{type(found.layout).__name__.lower()} {shape} drawn in {output}")


def _fields(settings: list[str]) -> dict[str, str]:
    """``--set``: field to value.

    Raises:
        KprofError: one has no ``=`` or no value.
    """
    found = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not value:
            raise KprofError(f"--set takes NAME=VALUE, got {setting!r}")
        found[name] = value
    return found


def _sizes(shape: str) -> tuple[int, ...]:
    parts = shape.lower().split("x")
    if not all(part.isdecimal() and len(part) < 7 for part in parts):
        raise KprofError(f"--shape takes sizes such as 64x64, got {shape!r}")
    return tuple(int(part) for part in parts)
