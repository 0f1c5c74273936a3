"""rocprofv2 CSVs, and the files of an Omniperf or rocprof-compute workload, which have the same columns."""

from kprof.inputs.rocprof.columns import DISPATCH
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import wide

FORMAT = CsvFormat(
    name="kernel table",
    tool="rocprofv2",
    role="trace",
    vocabulary=DISPATCH,
    signature=frozenset(
        {
            "dispatchid",
            "gpuid",
            "gridsize",
            "workgroupsize",
            "ldsperworkgroup",
            "scratchperworkitem",
            "archvgpr",
            "kernelname",
        }
    ),
    required=frozenset({"dispatchid", "kernelname"}),
    forbidden=frozenset({"countername", "countervalue", "index"}),
    finish=wide,
    wide=True,
)
