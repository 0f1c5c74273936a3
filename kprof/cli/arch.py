"""``kprof arch``: the GPU architectures, and every figure that kprof works with."""

import sys
from typing import Annotated

import typer

from kprof.cli._groups import group
from kprof.cli.common import JsonOption, VerboseOption
from kprof.output.writing import write_document

HELP = "The GPU architectures: list them, or show one with its sources."

app = group()


@app.command("list")
def list_architectures(json: JsonOption = None) -> None:
    """Every architecture with its products."""
    from kprof.api.architectures import architectures

    found = architectures()
    if json:
        rows = [{"name": a.name, "family": a.family, "products": list(a.products)} for a in found]
        write_document(json, "kprof.architectures/1", {"architectures": rows})
    if json == "-":
        return
    import shutil

    from kprof.reporters.architecture import listing

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print("\n".join(listing(found, width)))
    print(f"{len(found)} architectures; kprof arch show {found[0].name} tells more about one")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Architecture or product: gfx942 or MI300X.")],
    json: JsonOption = None,
    verbose: VerboseOption = 0,
) -> None:
    """Occupancy rules, LDS, rates, memory, products and matrix instructions of one architecture.

    Figures marked ? are not firmly sourced, and no verdict rests on them.
    """
    from kprof.api.architectures import architecture, document, product_of
    from kprof.reporters.architecture import sheet

    arch = architecture(name)
    if json:
        write_document(json, "kprof.architecture/1", document(arch))
    if json == "-":
        return
    print("\n".join(sheet(arch, product_of(name), verbose)))
