"""CSV formats of rocprof v1 to v3 and of rocprof-compute: their headings and the conversion of their columns."""

from functools import partial

from kprof.inputs.rocprof import counting, dispatching
from kprof.inputs.rocprof.columns import AGENT, ALLOCATION, CALL, COPY, DISPATCH, SAMPLE, STATS
from kprof.inputs.rocprof.format import CsvContent, CsvFormat
from kprof.inputs.rocprof.frames import agent_numbers, length, renamed
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.names import normalise

TYPE_PREFIX = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_"
NOT_ISSUED_PREFIX = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"


def _convert_wide(content: CsvContent, part: FileTables) -> None:
    """Convert a file with one row per dispatch, in which unknown columns are counters."""
    table = dispatching.dispatches(content.columns, part, rounded=content.rounded)
    dispatching.complain_about_repeats(table, part)
    part.tables["dispatches"] = table
    if content.counters:
        part.tables["counters"] = counting.from_wide(content.counters, table)
        missing = sum(map(len, content.counters.values())) - length(part.tables["counters"])
        if missing:
            words = f"missing counter values (empty or nan), not included in any sum: {missing:,}"
            part.complain("missing-values", "note", words, count=missing)
        part.distinct = True
        part.describe(role="counters")


def _convert_long(content: CsvContent, part: FileTables) -> None:
    """Convert a file with one row per counter value."""
    import pandas as pd

    columns = content.columns
    if isinstance(columns.get("agent"), pd.Categorical):
        columns["agent"] = agent_numbers(columns["agent"])
    own, counters = counting.from_long(columns, part)
    table = dispatching.dispatches(own, part, rounded=content.rounded)
    part.tables["dispatches"] = table
    if "kernel_name" in columns and content.table.rows:
        counters["kernel_name"] = renamed(columns["kernel_name"], normalise)
    part.tables["counters"] = counters


def _timed(name: str, content: CsvContent, part: FileTables) -> None:
    """Convert rows with a start and an end: calls, copies or allocations."""
    import pandas as pd

    columns: Columns = dict(content.columns)
    for column in ("agent", "source_agent", "destination_agent"):
        if isinstance(columns.get(column), pd.Categorical):
            columns[column] = agent_numbers(columns[column])
    if "start_ns" in columns and "end_ns" in columns:
        columns["duration_ns"] = dispatching.trusted_durations(
            columns, part, rounded=content.rounded, what=name.replace("_", " ")
        )
    part.tables[name] = columns


def _stats(content: CsvContent, part: FileTables) -> None:
    columns: Columns = dict(content.columns)
    columns["kernel_name"] = renamed(columns["name"], normalise)
    part.tables["stats"] = columns


def _agents(content: CsvContent, part: FileTables) -> None:
    columns: Columns = dict(content.columns)
    # Traces identify agents by logical node. Versions that do not write the column ``logical_node_id`` use the node id.
    columns["agent"] = columns.get("logical_node_id", columns["node_id"])
    if "lds_kib" in columns:
        columns["lds_bytes_per_cu"] = columns.pop("lds_kib") * 1024
    part.tables["agents"] = columns


def _samples(content: CsvContent, part: FileTables) -> None:
    columns: Columns = dict(content.columns)
    for name, prefix in zip(("instruction_type", "stall_reason"), (TYPE_PREFIX, NOT_ISSUED_PREFIX), strict=True):
        if name in columns:
            columns[name] = renamed(columns[name], lambda text, p=prefix: text.removeprefix(p).lower())
    part.tables["samples"] = columns


def _keys(words: str) -> frozenset[str]:
    return frozenset(words.split())


FORMATS = (
    # rocprof-compute 3.x ``pmc_perf.csv``, derived from rocpd databases.
    CsvFormat(
        name="workload counters, long",
        tool="rocprof-compute",
        role="counters",
        vocabulary=DISPATCH,
        signature=_keys("gpuid dispatchid gridsize workgroupsize ldsperworkgroup kernelname countername countervalue"),
        required=_keys("dispatchid kernelname countername countervalue"),
        finish=_convert_long,
        long=True,
    ),
    # ``stats`` files: kernels, HIP, HSA, copies and domains of rocprof v1 to v3.
    CsvFormat(
        name="stats",
        tool="rocprof",
        role="summary",
        vocabulary=STATS,
        signature=_keys("name calls totaldurationns averagens percentage"),
        required=_keys("name calls totaldurationns"),
        finish=_stats,
    ),
    # rocprof v1: ``results.csv`` (timestamps) and counter CSVs.
    CsvFormat(
        name="kernel table",
        tool="rocprof",
        role="trace",
        vocabulary=DISPATCH,
        signature=_keys("index kernelname gpuid queueid queueindex grd wgr archvgpr"),
        required=_keys("index kernelname"),
        finish=_convert_wide,
        wide=True,
    ),
    # rocprofv2 CSVs, and the files of an Omniperf or rocprof-compute workload, which have the same columns.
    CsvFormat(
        name="kernel table",
        tool="rocprofv2",
        role="trace",
        vocabulary=DISPATCH,
        signature=_keys(
            "dispatchid gpuid gridsize workgroupsize ldsperworkgroup scratchperworkitem archvgpr kernelname"
        ),
        required=_keys("dispatchid kernelname"),
        forbidden=_keys("countername countervalue index"),
        finish=_convert_wide,
        wide=True,
    ),
    # rocprofv3 ``agent_info.csv``.
    CsvFormat(
        name="agent info",
        tool="rocprofv3",
        role="system",
        vocabulary=AGENT,
        signature=_keys("nodeid agenttype cucount simdcount wavefrontsize"),
        required=_keys("nodeid"),
        finish=_agents,
    ),
    # rocprofv3 ``memory_allocation_trace.csv``.
    CsvFormat(
        name="memory allocation trace",
        tool="rocprofv3",
        role="trace",
        vocabulary=ALLOCATION,
        signature=_keys("operation allocationsize address starttimestamp endtimestamp"),
        required=_keys("allocationsize starttimestamp endtimestamp"),
        finish=partial(_timed, "allocations"),
    ),
    # HIP, HSA, marker, RCCL, rocDecode and rocJPEG traces of rocprofv3 and rocpd2csv.
    CsvFormat(
        name="API trace",
        tool="rocprofv3",
        role="trace",
        vocabulary=CALL,
        signature=_keys("domain function processid threadid correlationid starttimestamp"),
        required=_keys("function starttimestamp endtimestamp"),
        finish=partial(_timed, "api_calls"),
    ),
    # rocprofv3 ``memory_copy_trace.csv``.
    CsvFormat(
        name="memory copy trace",
        tool="rocprofv3",
        role="trace",
        vocabulary=COPY,
        signature=_keys("direction sourceagentid destinationagentid starttimestamp endtimestamp"),
        required=_keys("starttimestamp endtimestamp"),
        finish=partial(_timed, "copies"),
    ),
    # rocprofv3 ``counter_collection.csv``: all header variants.
    CsvFormat(
        name="counter collection",
        tool="rocprofv3",
        role="counters",
        vocabulary=DISPATCH,
        signature=_keys(
            "dispatchid agentid queueid gridsize kernelname workgroupsize ldsblocksize countername countervalue"
        ),
        required=_keys("dispatchid kernelname countername countervalue"),
        forbidden=_keys("gpuid"),
        finish=_convert_long,
        long=True,
    ),
    # rocprofv3 ``kernel_trace.csv``: all header variants, and rocpd2csv's.
    CsvFormat(
        name="kernel trace",
        tool="rocprofv3",
        role="trace",
        vocabulary=DISPATCH,
        signature=_keys(
            "agentid queueid kernelid kernelname correlationid starttimestamp endtimestamp "
            "workgroupsizex gridsizex gridsizez"
        ),
        required=_keys("kernelname starttimestamp endtimestamp"),
        finish=_convert_wide,
    ),
    # rocprofv3 PC samples of both methods, host trap and stochastic.
    CsvFormat(
        name="PC samples",
        tool="rocprofv3",
        role="trace",
        vocabulary=SAMPLE,
        signature=_keys("sampletimestamp execmask dispatchid instruction correlationid"),
        required=_keys("instruction execmask"),
        finish=_samples,
    ),
    # rocprofv3 ``scratch_memory_trace.csv``.
    CsvFormat(
        name="scratch memory trace",
        tool="rocprofv3",
        role="trace",
        vocabulary=ALLOCATION,
        signature=_keys("operation agentid queueid allocflags starttimestamp endtimestamp"),
        required=_keys("operation starttimestamp endtimestamp"),
        finish=partial(_timed, "scratch"),
    ),
    # rocprofv3 counters that were pivoted to one row per dispatch.
    CsvFormat(
        name="counter collection, pivoted",
        tool="rocprofv3",
        role="counters",
        vocabulary=DISPATCH,
        signature=_keys("dispatchid agentid gridsize kernelname ldsblocksize workgroupsize vgprcount"),
        required=_keys("dispatchid kernelname"),
        forbidden=_keys("countername countervalue gridsizex"),
        finish=_convert_wide,
        wide=True,
    ),
)
