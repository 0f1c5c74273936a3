"""``stats`` files: kernels, HIP, HSA, copies and domains of rocprof v1 to v3."""

from kprof.inputs.rocprof.columns import STATS
from kprof.inputs.rocprof.format import CsvContent, CsvFormat
from kprof.inputs.rocprof.frames import renamed
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.names import normalise


def _finish(content: CsvContent, part: FileTables) -> None:
    columns: Columns = dict(content.columns)
    columns["kernel_name"] = renamed(columns["name"], normalise)
    part.tables["stats"] = columns


FORMAT = CsvFormat(
    name="stats",
    tool="rocprof",
    role="summary",
    vocabulary=STATS,
    signature=frozenset({"name", "calls", "totaldurationns", "averagens", "percentage"}),
    required=frozenset({"name", "calls", "totaldurationns"}),
    finish=_finish,
)
