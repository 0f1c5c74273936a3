"""rocprofv3 ``kernel_trace.csv``: all header variants, and rocpd2csv's."""

from kprof.inputs.rocprof.columns import DISPATCH
from kprof.inputs.rocprof.dispatching import complain_about_repeats, dispatches
from kprof.inputs.rocprof.format import CsvContent, CsvFormat
from kprof.inputs.rocprof.model import FileTables


def _finish(content: CsvContent, part: FileTables) -> None:
    table = dispatches(content.columns, part, rounded=content.rounded)
    complain_about_repeats(table, part)
    part.tables["dispatches"] = table


FORMAT = CsvFormat(
    name="kernel trace",
    tool="rocprofv3",
    role="trace",
    vocabulary=DISPATCH,
    signature=frozenset(
        {
            "agentid",
            "queueid",
            "kernelid",
            "kernelname",
            "correlationid",
            "starttimestamp",
            "endtimestamp",
            "workgroupsizex",
            "gridsizex",
            "gridsizez",
        }
    ),
    required=frozenset({"kernelname", "starttimestamp", "endtimestamp"}),
    finish=_finish,
)
