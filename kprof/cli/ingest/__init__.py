"""``kprof ingest``: read what was measured. One command a file; this folder is the list."""

from kprof.cli._groups import Folder, group

HELP = "Read measurements: counters, traces, thread traces, tuning results."


class IngestFolder(Folder):
    """The commands of this package."""

    package = __name__


app = group(IngestFolder)


@app.callback()
def _group() -> None:
    """Read what was measured, tell what is in it and what cannot be trusted, and write it as tables."""
