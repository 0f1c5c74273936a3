"""``kprof draw layout``: draw a layout."""

from typing import Annotated

import typer

from kprof.cli._options import takes_options
from kprof.options.tools import LayoutPictureOptions
from kprof.output.writing import write_output
from kprof.reporters.outputs import Outputs

HELP = "Draw a layout: which lane holds which element, or LDS and its banks."


@takes_options()
def command(
    layout: Annotated[
        str,
        typer.Argument(
            metavar="LAYOUT",
            help="An attribute ('#ttg.blocked<{...}>'), an alias of --module ('#mma'), or a kind that --setting "
            "describes: blocked, mfma, wmma, swizzled, rotating.",
        ),
    ],
    options: LayoutPictureOptions,
    outputs: Outputs,
) -> None:
    """Draw a layout: which lane holds which element, or LDS and its banks.

    Example:  kprof draw layout mfma --setting warpsPerCTA=2x2 --size 64x64 -o layout.svg
    """
    from kprof.api.draw_layout import draw_layout

    found = draw_layout(layout, options=options)
    output = options.output or "-"
    write_output(output, found.svg)
    if output != "-":
        size = "x".join(map(str, options.size))
        words = f"{type(found.layout).__name__.lower()} {size}"
        print(words if outputs.quiet else f"{words} drawn in {output}")
