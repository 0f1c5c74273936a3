"""``kprof draw``: draw pictures of a compiled kernel. Each module of this package draws one kind of picture."""

from kprof.cli._groups import folder

HELP = "Draw a kernel's control flow, or a layout: which lane holds which element."

app = folder(__name__)
