"""``kprof list``: what kprof knows. Each module here is one list."""

from kprof.cli._groups import Folder, group

HELP = "The bundled kernels, the GPUs or the rules: all of them, or one with everything about it."


class ListFolder(Folder):
    """The commands of this group."""

    package = __name__


app = group(ListFolder)


@app.callback()
def _group() -> None:
    """The bundled kernels, the GPUs or the rules: all of them, or one with everything about it."""
