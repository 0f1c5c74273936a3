"""``kprof serve``: kprof's answers for editors and coding agents. Each module here is one protocol."""

from kprof.cli._groups import Folder, group

HELP = "Serve an editor (lsp) or coding agents (mcp) on standard input and output."


class ServeFolder(Folder):
    """The commands of this group."""

    package = __name__


app = group(ServeFolder)


@app.callback()
def _group() -> None:
    """Serve an editor (lsp) or coding agents (mcp) on standard input and output.

    They start these commands themselves.
    """
