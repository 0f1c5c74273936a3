"""``kprof list``: what kprof knows. Each module here is one list."""

from kprof.cli._groups import folder

HELP = "The bundled kernels, the GPUs or the rules: all of them, or one with everything about it."

app = folder(__name__)
