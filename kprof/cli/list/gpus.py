"""``kprof list gpus``: list the GPU architectures, or show the hardware figures of one."""

import sys
from typing import Annotated

import typer

from kprof.cli._arguments import architectures as completed
from kprof.cli._options import takes_options
from kprof.reporters.outputs import Outputs

HELP = "The GPU architectures with their products, or one with its figures and their sources."


@takes_options("architectures")
def command(
    outputs: Outputs,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[GPU]", help="Architecture or product: gfx942 or MI300X.", autocompletion=completed),
    ] = None,
) -> None:
    """List every architecture with its products, or show one in detail.

    The details are occupancy rules, LDS, rates, memory, products and matrix instructions. Figures marked ? have no
    reliable source, and no verdict depends on them.
    """
    from kprof.api.architectures import architecture, architectures, document, list_document, product_of
    from kprof.output.headline import wrapped
    from kprof.reporters.architecture import listing, sheet

    if name is not None:
        arch = architecture(name)
        lines = sheet(arch, product_of(name), outputs.verbose)
        shown = lines[:1] if outputs.quiet else lines
        outputs.of("architecture").write(document(arch), lambda: print("\n".join(map(wrapped, shown))))
        return
    found = architectures()

    def text() -> None:
        import shutil

        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        if not outputs.quiet:
            print("\n".join(listing(found, width)))
        print(f"{len(found)} architectures; kprof list gpus {found[0].name} says more about one")

    outputs.write(list_document(found), text)
