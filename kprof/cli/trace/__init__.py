"""``kprof trace``: questions to timelines. Each view in ``kprof/api/trace`` is a command."""

import os

from kprof.cli._groups import folder
from kprof.cli._views import ViewFolder

HELP = "Timelines: where the GPU's time goes, gaps, ranks, a report, two traces compared."

app = folder(__name__, ViewFolder, views="trace")

# Links are found with numpy, which would start a thread a core for matrix products: half of what loading it takes.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
