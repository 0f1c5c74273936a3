"""HIP, HSA, marker, RCCL, rocDecode and rocJPEG traces of rocprofv3 and rocpd2csv."""

from functools import partial

from kprof.inputs.rocprof.columns import CALL
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import timed

FORMAT = CsvFormat(
    name="API trace",
    tool="rocprofv3",
    role="trace",
    vocabulary=CALL,
    signature=frozenset({"domain", "function", "processid", "threadid", "correlationid", "starttimestamp"}),
    required=frozenset({"function", "starttimestamp", "endtimestamp"}),
    finish=partial(timed, "api_calls"),
)
