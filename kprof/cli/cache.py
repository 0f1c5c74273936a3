"""``kprof cache``: show or clear the data that kprof keeps between runs."""

from typing import TYPE_CHECKING

from kprof.cli._groups import group
from kprof.cli._options import takes_options
from kprof.options.tools import ClearOptions
from kprof.output.quantities import decimal_bytes
from kprof.reporters.outputs import Outputs

if TYPE_CHECKING:
    from kprof.api.cache import Cached

HELP = "Show the data that kprof keeps between runs, or remove it."

app = group()


@app.command("info")
@takes_options("cache")
def info(outputs: Outputs) -> None:
    """Show the location, size, size limits and contents of the cache."""
    from kprof.api.cache import cached

    found = cached()
    outputs.write(lambda: found.document, lambda: _show(found, outputs))


def _show(found: "Cached", outputs: Outputs) -> None:
    print(found.root)
    for part in () if outputs.quiet else found.parts:
        limit = f" of {decimal_bytes(found.limits[part.name])}" if part.name in found.limits else ""
        print(f"  {part.name:20} {part.files:>7,} files  {decimal_bytes(part.size)}{limit}")
        for kind, (files, size) in part.kinds.items():
            print(f"    {kind:18} {files:>7,} files  {decimal_bytes(size)}")
    if not found.parts:
        print("  nothing is kept")
    if found.trouble is not None:
        print(f"  it is not used: {found.trouble}")


@app.command("clear")
@takes_options("cache")
def clear(options: ClearOptions, outputs: Outputs) -> None:
    """Remove cache entries that kprof can recreate. This is never necessary, because outdated entries are not used."""
    from kprof.api import cache

    files, size = cache.clear(everything=options.all)
    found = cache.cached()

    def text() -> None:
        print(f"removed {files:,} files, {decimal_bytes(size)}, from {found.root}")
        kept = [part.name for part in found.parts]
        if kept and not outputs.quiet:
            print(f"kept {', '.join(kept)}; --all removes that too")

    outputs.write(lambda: {**found.document, "removed": {"files": files, "bytes": size}}, text)
