"""``kprof ingest``: read what was measured. One command a file; this folder is the list."""

from kprof.cli._groups import folder

HELP = "Read measurements: counters, traces, thread traces, tuning results."

app = folder(__name__)
