"""``kprof trace``: questions to PyTorch profiler traces. One command a file; this folder is the list."""

from kprof.cli._groups import Folder, group

HELP = "PyTorch traces: where the GPU's time goes, gaps, ranks, two traces compared."


class TraceFolder(Folder):
    """The commands of this package."""

    package = __name__


app = group(TraceFolder)


@app.callback()
def _group() -> None:
    """Questions to PyTorch profiler traces: .json, .json.gz, Proton's .hatchet, or what kprof ingest trace wrote."""
