"""rocprofv3 ``agent_info.csv``."""

from kprof.inputs.rocprof.columns import AGENT
from kprof.inputs.rocprof.format import CsvContent, CsvFormat
from kprof.inputs.rocprof.model import Columns, FileTables


def _finish(content: CsvContent, part: FileTables) -> None:
    columns: Columns = dict(content.columns)
    # Traces name agents by the logical node; a file without that column is of the time when they used the node.
    columns["agent"] = columns.get("logical_node_id", columns["node_id"])
    if "lds_kib" in columns:
        columns["lds_bytes_per_cu"] = columns.pop("lds_kib") * 1024
    part.tables["agents"] = columns


FORMAT = CsvFormat(
    name="agent info",
    tool="rocprofv3",
    role="system",
    vocabulary=AGENT,
    signature=frozenset({"nodeid", "agenttype", "cucount", "simdcount", "wavefrontsize"}),
    required=frozenset({"nodeid"}),
    finish=_finish,
)
