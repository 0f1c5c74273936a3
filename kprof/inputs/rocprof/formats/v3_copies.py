"""rocprofv3 ``memory_copy_trace.csv``."""

from functools import partial

from kprof.inputs.rocprof.columns import COPY
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import timed

FORMAT = CsvFormat(
    name="memory copy trace",
    tool="rocprofv3",
    role="trace",
    vocabulary=COPY,
    signature=frozenset({"direction", "sourceagentid", "destinationagentid", "starttimestamp", "endtimestamp"}),
    required=frozenset({"starttimestamp", "endtimestamp"}),
    finish=partial(timed, "copies"),
)
