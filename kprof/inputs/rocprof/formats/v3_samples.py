"""rocprofv3 PC sampling, host trap and stochastic."""

from kprof.inputs.rocprof.columns import SAMPLE
from kprof.inputs.rocprof.format import CsvContent, CsvFormat
from kprof.inputs.rocprof.frames import renamed
from kprof.inputs.rocprof.model import Columns, FileTables

TYPE_PREFIX = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_"
NOT_ISSUED_PREFIX = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"


def _finish(content: CsvContent, part: FileTables) -> None:
    columns: Columns = dict(content.columns)
    for name, prefix in zip(("instruction_type", "stall_reason"), (TYPE_PREFIX, NOT_ISSUED_PREFIX), strict=True):
        if name in columns:
            columns[name] = renamed(columns[name], lambda text, p=prefix: text.removeprefix(p).lower())
    part.tables["samples"] = columns


FORMAT = CsvFormat(
    name="PC samples",
    tool="rocprofv3",
    role="trace",
    vocabulary=SAMPLE,
    signature=frozenset({"sampletimestamp", "execmask", "dispatchid", "instruction", "correlationid"}),
    required=frozenset({"instruction", "execmask"}),
    finish=_finish,
)
