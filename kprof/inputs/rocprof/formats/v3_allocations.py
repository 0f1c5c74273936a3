"""rocprofv3 ``memory_allocation_trace.csv``."""

from functools import partial

from kprof.inputs.rocprof.columns import ALLOCATION
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import timed

FORMAT = CsvFormat(
    name="memory allocation trace",
    tool="rocprofv3",
    role="trace",
    vocabulary=ALLOCATION,
    signature=frozenset({"operation", "allocationsize", "address", "starttimestamp", "endtimestamp"}),
    required=frozenset({"allocationsize", "starttimestamp", "endtimestamp"}),
    finish=partial(timed, "allocations"),
)
