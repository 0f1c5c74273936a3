"""``kprof counters``: what hardware counters say about kernels. Each view in ``kprof/api/counters`` is a command."""

from kprof.cli._groups import group
from kprof.cli._views import ViewFolder

HELP = "Bandwidth, hit rates, utilisation and roofline from hardware counters."


class CountersFolder(ViewFolder):
    """The commands of this group."""

    package = __name__
    views = "counters"


app = group(CountersFolder)


@app.callback()
def _group() -> None:
    """What hardware counters say about kernels."""
