"""``kprof ingest``: read measurements. Each module of this package is one command."""

from kprof.cli._groups import folder

HELP = "Read measurements: counters, traces, thread traces, tuning results."

app = folder(__name__)
