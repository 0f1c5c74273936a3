"""``kprof arch``: the GPU architectures, and every figure that kprof works with."""

import sys
from typing import Annotated

import typer

from kprof.cli._completion import architectures
from kprof.cli._groups import group
from kprof.cli._options import takes_options
from kprof.reporters.outputs import Outputs

HELP = "The GPU architectures: list them, or show one with its sources."

app = group()


@app.command("list")
@takes_options("architectures")
def list_architectures(outputs: Outputs) -> None:
    """Every architecture with its products."""
    from kprof.api.architectures import architectures, list_document

    found = architectures()

    def text() -> None:
        import shutil

        from kprof.reporters.architecture import listing

        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        if not outputs.quiet:
            print("\n".join(listing(found, width)))
        print(f"{len(found)} architectures; kprof arch show {found[0].name} says more about one")

    outputs.write(list_document(found), text)


@app.command()
@takes_options("architecture")
def show(
    name: Annotated[
        str, typer.Argument(help="Architecture or product: gfx942 or MI300X.", autocompletion=architectures)
    ],
    outputs: Outputs,
) -> None:
    """Occupancy rules, LDS, rates, memory, products and matrix instructions of one architecture.

    Figures marked ? are not firmly sourced, and no verdict rests on them.
    """
    from kprof.api.architectures import architecture, document, product_of
    from kprof.output.headline import wrapped
    from kprof.reporters.architecture import sheet

    arch = architecture(name)
    lines = sheet(arch, product_of(name), outputs.verbose)
    outputs.write(document(arch), lambda: print("\n".join(map(wrapped, lines[:1] if outputs.quiet else lines))))
