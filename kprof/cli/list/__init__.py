"""``kprof list``: list bundled kernels, GPUs or rules. Each module of this package is one list."""

from kprof.cli._groups import folder

HELP = "List the bundled kernels, the GPUs or the rules, or show one of them in detail."

app = folder(__name__)
