"""rocprofv3 ``counter_collection.csv``: a row a counter value, all header variants."""

from kprof.inputs.rocprof.columns import DISPATCH
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import long

FORMAT = CsvFormat(
    name="counter collection",
    tool="rocprofv3",
    role="counters",
    vocabulary=DISPATCH,
    signature=frozenset(
        {
            "dispatchid",
            "agentid",
            "queueid",
            "gridsize",
            "kernelname",
            "workgroupsize",
            "ldsblocksize",
            "countername",
            "countervalue",
        }
    ),
    required=frozenset({"dispatchid", "kernelname", "countername", "countervalue"}),
    forbidden=frozenset({"gpuid"}),
    finish=long,
    long=True,
)
