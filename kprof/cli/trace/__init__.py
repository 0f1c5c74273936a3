"""``kprof trace``: questions to timelines. Each view in ``kprof/api/trace`` is a command."""

from kprof.cli._groups import group
from kprof.cli._views import ViewFolder

HELP = "Timelines: where the GPU's time goes, gaps, ranks, a report, two traces compared."


class TraceFolder(ViewFolder):
    """The commands of this group."""

    package = __name__
    views = "trace"


app = group(TraceFolder)


@app.callback()
def _group() -> None:
    """Questions to timelines of PyTorch, rocprofv3, rocpd and Proton, and to what kprof ingest trace wrote."""
