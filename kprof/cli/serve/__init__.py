"""``kprof serve``: serve editors and coding agents. Each module of this package is one protocol."""

from kprof.cli._groups import folder

HELP = "Serve an editor (lsp) or coding agents (mcp) on standard input and output."

app = folder(__name__)
