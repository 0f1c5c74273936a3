"""rocprofv3 ``scratch_memory_trace.csv``."""

from functools import partial

from kprof.inputs.rocprof.columns import ALLOCATION
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import timed

FORMAT = CsvFormat(
    name="scratch memory trace",
    tool="rocprofv3",
    role="trace",
    vocabulary=ALLOCATION,
    signature=frozenset({"operation", "agentid", "queueid", "allocflags", "starttimestamp", "endtimestamp"}),
    required=frozenset({"operation", "starttimestamp", "endtimestamp"}),
    finish=partial(timed, "scratch"),
)
