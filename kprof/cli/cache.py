"""``kprof cache``: what is kept from one run to the next, and removing it."""

from typing import Annotated

import typer

from kprof.cli._groups import group
from kprof.output.sizes import decimal_bytes

HELP = "Show what kprof keeps from one run to the next, or remove it."

app = group()


@app.command("info")
def info() -> None:
    """Where the cache is, how large it is and may become, and what is in it."""
    from kprof.api.cache import cached

    found = cached()
    print(found.root)
    for part in found.parts:
        limit = f" of {decimal_bytes(found.limits[part.name])}" if part.name in found.limits else ""
        print(f"  {part.name:20} {part.files:>7,} files  {decimal_bytes(part.size)}{limit}")
        for kind, (files, size) in part.kinds.items():
            print(f"    {kind:18} {files:>7,} files  {decimal_bytes(size)}")
    if not found.parts:
        print("  nothing is kept")
    if found.trouble is not None:
        print(f"  it is not used: {found.trouble}")


@app.command("clear")
def clear(
    everything: Annotated[
        bool, typer.Option("--all", help="Also what searches found, and the Tritons that were fetched.")
    ] = False,
) -> None:
    """Remove what kprof can make again. There is never a need to: what is out of date is not found."""
    from kprof.api import cache

    files, size = cache.clear(everything=everything)
    found = cache.cached()
    print(f"removed {files:,} files, {decimal_bytes(size)}, from {found.root}")
    kept = [part.name for part in found.parts]
    if kept:
        print(f"kept {', '.join(kept)}; --all removes that too")
