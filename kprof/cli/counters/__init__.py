"""``kprof counters``: analyse hardware counters of kernels. Each view in ``kprof/api/counters`` is a command."""

from kprof.cli._groups import folder
from kprof.cli._views import ViewFolder

HELP = "Bandwidth, hit rates, utilisation and roofline from hardware counters."

app = folder(__name__, ViewFolder, views="counters")
