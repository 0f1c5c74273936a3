"""``kprof draw``: pictures of a compiled kernel. Each module here is one kind."""

from kprof.cli._groups import Folder, group

HELP = "Draw a kernel's control flow, or a layout: which lane holds which element."


class DrawFolder(Folder):
    """The commands of this group."""

    package = __name__


app = group(DrawFolder)


@app.callback()
def _group() -> None:
    """Draw a kernel's control flow, or a layout: which lane holds which element."""
