"""``kprof occupancy``: compute the wavefronts per SIMD, and what to reduce for more."""

from typing import TYPE_CHECKING, Annotated

import typer

from kprof.cli._arguments import targets
from kprof.cli._options import takes_options
from kprof.options.kernels import OccupancyOptions
from kprof.output.writing import print_styled
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.occupancy import Occupancies

HELP = "Wavefronts per SIMD, what limits them, and what to reduce for more."

CANNOT_LAUNCH = 1


@takes_options("occupancy", compiles=True)
def command(
    options: OccupancyOptions,
    outputs: Outputs,
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]",
            help="A bundled kernel, FILE.py::FUNCTION, an .amdgcn or .s file, a .hsaco or .co file. "
            "Numbers given as options replace the target's.",
            autocompletion=targets,
        ),
    ] = None,
) -> None:
    """Compute the wavefronts per SIMD from numbers or for a kernel, their limit, and what to reduce for more.

    kprof occupancy --arch gfx942,gfx950 --vgpr 128 --lds 32K --num-warps 4

    Exits with 1 if the kernel cannot be launched at all.
    """
    from kprof.api.occupancy import occupancy

    found = occupancy(target, options=options)
    outputs.write(found.document, lambda: _show(found, outputs))
    if not found.ok:
        raise typer.Exit(CANNOT_LAUNCH)


def _show(found: "Occupancies", outputs: Outputs) -> None:
    from kprof.reporters import occupancy as text

    entries = found.entries()
    style = text.Style(no_color=outputs.no_color)
    shown = [] if outputs.quiet else text.single(entries[0], style) if len(entries) == 1 else text.table(entries, style)
    print_styled("\n".join([*shown, found.summary, ""]))
