"""rocprof v1: ``results.csv`` (timestamps) and counter CSVs, a row a dispatch."""

from kprof.inputs.rocprof.columns import DISPATCH
from kprof.inputs.rocprof.format import CsvFormat
from kprof.inputs.rocprof.formats._tables import wide

FORMAT = CsvFormat(
    name="kernel table",
    tool="rocprof",
    role="trace",
    vocabulary=DISPATCH,
    signature=frozenset({"index", "kernelname", "gpuid", "queueid", "queueindex", "grd", "wgr", "archvgpr"}),
    required=frozenset({"index", "kernelname"}),
    finish=wide,
    wide=True,
)
