"""``kprof cache``: what is kept from one run to the next, and removing it."""

from pathlib import Path
from typing import Annotated

import typer

from kprof.cli._groups import group
from kprof.errors import KprofError

HELP = "Show what kprof keeps from one run to the next, or remove it."

app = group()


@app.command("info")
def info() -> None:
    """Where the cache is, how large it is and may become, and what is in it."""
    from kprof.cache import inventory, limits, location

    root = _root()
    print(root)
    found = inventory.parts(root)
    for part in found:
        limit = f" of {_words(limits.size_limit())}" if root / part.name == location.entries(root) else ""
        print(f"  {part.name:20} {part.files:>7,} files  {_words(part.size)}{limit}")
        for kind, (files, size) in part.kinds.items():
            print(f"    {kind:18} {files:>7,} files  {_words(size)}")
    if not found:
        print("  nothing is kept")
    reason = location.trouble(root) if root.exists() else None
    if reason is not None:
        print(f"  it is not used: {reason}")


@app.command("clear")
def clear(
    everything: Annotated[
        bool, typer.Option("--all", help="Also what searches found, and the Tritons that were fetched.")
    ] = False,
) -> None:
    """Remove what is made again by itself. There is never a need to: what is out of date is not found."""
    from kprof.cache import inventory

    root = _root()
    names = inventory.QUICK + (inventory.SLOW if everything else ())
    try:
        files, size = inventory.clear(root, names)
    except OSError as error:
        where = str(error.filename or root)
        raise KprofError(f"cannot be removed: {error.strerror or error}", path=where) from error
    print(f"removed {files:,} files, {_words(size)}, from {root}")
    kept = [part.name for part in inventory.parts(root)]
    if kept:
        print(f"kept {', '.join(kept)}; --all removes that too")


def _root() -> Path:
    from kprof.cache import location

    root = location.root()
    if root is None:
        raise KprofError("this user has no home folder, so there is no cache", hint=f"Set {location.VARIABLE}.")
    return root


def _words(size: int) -> str:
    """``452 kB``, in units of 1000."""
    for unit, one in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size} B"
