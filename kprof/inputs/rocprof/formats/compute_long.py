"""rocprof-compute 3.x ``pmc_perf.csv`` made from rocpd databases: a row a counter value."""

from kprof.inputs.rocprof.columns import DISPATCH
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import long

FORMAT = CsvFormat(
    name="workload counters, long",
    tool="rocprof-compute",
    role="counters",
    vocabulary=DISPATCH,
    signature=frozenset(
        {
            "gpuid",
            "dispatchid",
            "gridsize",
            "workgroupsize",
            "ldsperworkgroup",
            "kernelname",
            "countername",
            "countervalue",
        }
    ),
    required=frozenset({"dispatchid", "kernelname", "countername", "countervalue"}),
    finish=long,
    long=True,
)
