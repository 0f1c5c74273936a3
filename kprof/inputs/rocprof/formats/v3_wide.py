"""rocprofv3 counters that somebody pivoted to a row a dispatch."""

from kprof.inputs.rocprof.columns import DISPATCH
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import wide

FORMAT = CsvFormat(
    name="counter collection, pivoted",
    tool="rocprofv3",
    role="counters",
    vocabulary=DISPATCH,
    signature=frozenset(
        {
            "dispatchid",
            "agentid",
            "gridsize",
            "kernelname",
            "ldsblocksize",
            "workgroupsize",
            "vgprcount",
        }
    ),
    required=frozenset({"dispatchid", "kernelname"}),
    forbidden=frozenset({"countername", "countervalue", "gridsizex"}),
    finish=wide,
    wide=True,
)
