"""``kprof trace``: analyse timelines. Each view in ``kprof/api/trace`` is a command."""

import os

from kprof.cli._groups import folder
from kprof.cli._views import ViewFolder

HELP = "Timelines: where the GPU's time goes, gaps, ranks, a report, two traces compared."

app = folder(__name__, ViewFolder, views="trace")

# Trace readers use numpy, and half of its import time would be spent on starting one OpenBLAS thread per core.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
