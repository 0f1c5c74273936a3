"""Read rocprofv3 ``results.json``, whose root ``rocprofiler-sdk-tool`` is a list with one entry per process."""

import re
from collections import Counter
from typing import Any

import msgspec

from kprof.errors import InputError
from kprof.inputs.boundary import JSON_ERRORS
from kprof.inputs.rocprof.dispatching import complain_about_repeats, dispatches, trusted_durations
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.formats._v3_json_types import Document, KernelSymbol, ProfiledProcess, Record, Sample, Strings
from kprof.inputs.rocprof.formats.csv_tables import NOT_ISSUED_PREFIX, TYPE_PREFIX
from kprof.inputs.rocprof.frames import factorised, integers
from kprof.inputs.rocprof.model import Columns, FileTables
from kprof.inputs.rocprof.opening import Opened

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_CALLS = ("hip_api", "hsa_api", "marker_api", "rccl_api", "rocdecode_api", "rocjpeg_api")


def _recognise(opened: Opened) -> float:
    return 1.0 if b'"rocprofiler-sdk-tool"' in opened.head[:4096] else 0.0


def _read(opened: Opened, part: FileTables) -> None:
    document = _document(bytes(opened.body), opened, part)
    if not document.processes:
        raise InputError("no process in the file", path=str(opened.path))
    gathered: dict[str, list[Columns]] = {}
    for process in document.processes:
        for name, columns in _tables(process, part).items():
            gathered.setdefault(name, []).append(columns)
    if len(document.processes) > 1:
        part.complain("several-processes", "note", f"{len(document.processes)} processes in one file")
    for name, pieces in gathered.items():
        part.tables[name] = pieces[0] if len(pieces) == 1 else _stack(pieces)
    part.describe(rows=sum(len(next(iter(t.values()))) for n, t in part.tables.items() if n != "agents"))
    if not part.source.rows:
        part.complain("no-records", "warning", "the file describes the machine but has no records")


def _document(data: bytes, opened: Opened, part: FileTables) -> Document:
    try:
        return msgspec.json.decode(data, type=Document)
    except JSON_ERRORS as error:
        reason = str(error)
    shorter = _repaired(data)
    try:
        document = msgspec.json.decode(shorter, type=Document)
    except JSON_ERRORS:
        raise InputError(f"not readable as rocprofv3 JSON: {reason}", path=str(opened.path)) from None
    share = len(shorter) / len(data)
    part.complain("damaged-json", "error", f"the JSON is cut off or damaged ({reason}); the records in its first "
                  f"{share:.0%} were read")  # fmt: skip
    return document


def _repaired(data: bytes) -> bytes:
    """Cut the data after the last complete object in a list, and close the brackets that are open at that point."""
    stack: list[bytes] = []
    end, open_there = 0, b""
    for token in _TOKEN.finditer(data):
        sign = token[0][:1]
        if sign in b"[{":
            stack.append(sign)
        elif sign in b"]}":
            if not stack:
                break
            stack.pop()
            if sign == b"}" and stack and stack[-1] == b"[":
                end, open_there = token.end(), b"".join(stack)
    return data[:end] + open_there[::-1].translate(bytes.maketrans(b"[{", b"]}"))


def _stack(pieces: list[Columns]) -> Columns:
    import pandas as pd

    whole = pd.concat([pd.DataFrame(piece) for piece in pieces], ignore_index=True)
    return {name: whole[name].astype("category").array if whole[name].dtype == object else whole[name].array
            for name in whole}  # fmt: skip


def _tables(process: ProfiledProcess, part: FileTables) -> dict[str, Columns]:
    tables: dict[str, Columns] = {}
    nodes = {agent.id.handle: agent.logical_node_id for agent in process.agents}
    if process.agents:
        tables["agents"] = _agents(process)
    symbols = {symbol.kernel_id: symbol for symbol in process.kernel_symbols}
    counted = process.callback_records.counter_collection or process.buffer_records.counter_collection
    if process.buffer_records.kernel_dispatch:
        tables["dispatches"] = _dispatches(process.buffer_records.kernel_dispatch, process, symbols, nodes, part)
    if counted:
        # If the file also contains a trace of these dispatches, problems with their times are reported only for it.
        quiet = FileTables(part.source) if "dispatches" in tables else part
        own, counters = _counters(counted, process, symbols, nodes, quiet)
        if "dispatches" not in tables:
            tables["dispatches"] = own
        else:
            _link_counters(tables["dispatches"], own, counters, part)
        tables["counters"] = counters
    sampled = process.buffer_records.pc_sample_host_trap + process.buffer_records.pc_sample_stochastic
    if sampled:
        tables["samples"] = samples(sampled, process.strings, part)
    calls = [(name, record) for name in _CALLS for record in getattr(process.buffer_records, name)]
    if calls:
        tables["api_calls"] = _calls(calls, process, part)
    if process.buffer_records.memory_copy:
        tables["copies"] = _copies(process, nodes, part)
    for table, records in (("allocations", process.buffer_records.memory_allocation),
                           ("scratch", process.buffer_records.scratch_memory)):  # fmt: skip
        if records:
            tables[table] = _memory(records, process, nodes, part, table)
    return tables


def _agents(process: ProfiledProcess) -> Columns:
    rows = process.agents
    columns: Columns = {
        "agent": integers([a.logical_node_id for a in rows]),
        "type": factorised([{1: "CPU", 2: "GPU"}.get(a.type, "?") for a in rows]),
        "name": factorised([a.name for a in rows]),
        "product": factorised([a.product_name for a in rows]),
    }
    for ours, theirs in (("node_id", "node_id"), ("logical_node_id", "logical_node_id"), ("cu_count", "cu_count"),
                         ("simd_count", "simd_count"), ("xcd_count", "num_xcc"), ("wavefront_size", "wave_front_size"),
                         ("max_clock_mhz", "max_engine_clk_fcompute")):  # fmt: skip
        columns[ours] = integers([getattr(a, theirs) for a in rows])
    columns["lds_bytes_per_cu"] = integers([a.lds_size_in_kb * 1024 for a in rows])
    return columns


def _info(
    records: list[Record], process: ProfiledProcess, symbols: dict[int, KernelSymbol], nodes: dict[int, int | None]
) -> Columns:
    infos = [record.info for record in records]
    known = [symbols.get(info.kernel_id) for info in infos]
    names = [
        k.name if k is not None and k.name else f"kernel {info.kernel_id}" for k, info in zip(known, infos, strict=True)
    ]
    columns: Columns = {
        "agent": integers([nodes.get(info.agent_id.handle) for info in infos]),
        "dispatch_id": integers([info.dispatch_id for info in infos]),
        "kernel_name": factorised(names),
        "lds_bytes": integers([info.group_segment_size for info in infos]),
        "scratch_bytes": integers([info.private_segment_size for info in infos]),
        "vgprs": integers([k.arch_vgpr_count if k else None for k in known]),
        "agprs": integers([k.accum_vgpr_count if k else None for k in known]),
        "sgprs": integers([k.sgpr_count if k else None for k in known]),
        "queue_id": integers([info.queue_id.handle for info in infos]),
        "kernel_id": integers([info.kernel_id for info in infos]),
        "process_id": integers([process.metadata.pid] * len(infos)),
        "thread_id": integers([record.thread_id for record in records]),
        "correlation_id": integers([record.correlation_id.internal for record in records]),
        # Counter records may lack times.
        "start_ns": integers([record.start_timestamp or None for record in records]),
        "end_ns": integers([record.end_timestamp or None for record in records]),
    }
    for axis in "xyz":
        columns[f"workgroup_{axis}"] = integers([getattr(info.workgroup_size, axis) for info in infos])
        columns[f"grid_{axis}"] = integers([getattr(info.grid_size, axis) for info in infos])
    return columns


def _dispatch_rows(records: list[Record]) -> list[int]:
    """Return the dispatch row of each execution. Executions with the same agent, kernel and dispatch id share a row."""
    first: dict[tuple[int, int, int], int] = {}
    infos = [(record.info.agent_id.handle, record.info.kernel_id, record.info.dispatch_id) for record in records]
    # Without ids, a replay cannot be distinguished from the next launch.
    return [first.setdefault(info if info[-1] else (-1, -1, -place), len(first)) for place, info in enumerate(infos)]


def _first_executions(records: list[Record], row_of: list[int], part: FileTables, kind: str) -> list[Record]:
    """Return the first execution of each dispatch, and report the number of its replays."""
    first = dict(zip(reversed(row_of), reversed(records), strict=True))
    replays = len(records) - len(first)
    if not replays:
        return records
    part.complain(kind, "note", f"{replays:,} executions are replays of dispatches for further counters: their "
                  "times are ignored, and their counters are kept separate", count=replays)  # fmt: skip
    return [first[row] for row in range(len(first))]


def _dispatches(
    records: list[Record],
    process: ProfiledProcess,
    symbols: dict[int, KernelSymbol],
    nodes: dict[int, int | None],
    part: FileTables,
) -> Columns:
    unknown = sum(record.info.kernel_id not in symbols for record in records)
    if unknown:
        part.complain("unknown-kernel", "warning", f"the file does not name the kernels of {unknown:,} dispatches",
                      count=unknown)  # fmt: skip
    records = _first_executions(records, _dispatch_rows(records), part, "replayed-dispatches")
    columns = _info(records, process, symbols, nodes)
    columns["stream_id"] = integers([record.stream_id.handle for record in records])
    table = dispatches(columns, part)
    complain_about_repeats(table, part)
    return table


def _counters(
    records: list[Record],
    process: ProfiledProcess,
    symbols: dict[int, KernelSymbol],
    nodes: dict[int, int | None],
    part: FileTables,
) -> tuple[Columns, Columns]:
    import numpy as np

    names = {counter.id.handle: counter.name for counter in process.counters}
    flat = [outer.dispatch_data or outer for outer in records]
    row_of = _dispatch_rows(flat)
    flat = _first_executions(flat, row_of, part, "replayed-counters")
    own = dispatches(_info(flat, process, symbols, nodes), part)
    # A counter has one record per instance (XCD, SE, channel); the counter's value is the sum of these records.
    sums: dict[tuple[int, int, str], float] = {}
    executions: Counter[int] = Counter()
    for row, outer in zip(row_of, records, strict=True):
        for value in outer.records:
            name = names.get(value.counter_id.handle, f"counter {value.counter_id.handle}")
            key = row, executions[row], name
            sums[key] = sums.get(key, 0.0) + value.value
        executions[row] += 1
    rows = np.array([row for row, _, _ in sums], dtype=np.int64)
    return own, {
        "dispatch": rows,
        **{name: own[name].take(rows) for name in ("agent", "dispatch_id", "kernel_name")},
        "counter": factorised([name for _, _, name in sums]),
        "instance": np.full(len(rows), -1, dtype=np.int16),
        "pass": np.array([execution for _, execution, _ in sums], dtype=np.int16),
        "value": np.array(list(sums.values()), dtype=np.float64),
    }


def _numbers(column: Any) -> list[int | None]:
    from pandas import isna

    return [None if isna(number) else int(number) for number in column]


def _link_counters(table: Columns, own: Columns, counters: Columns, part: FileTables) -> None:
    import numpy as np

    # Missing ids, which could not be read, never refer to a dispatch.
    place = {number: row for row, number in enumerate(_numbers(table["dispatch_id"])) if number is not None}
    rows = np.array(
        [-1 if number is None else place.get(number, -1) for number in _numbers(own["dispatch_id"])], dtype=np.int64
    )
    counters["dispatch"] = rows[counters["dispatch"]]
    lost = int((counters["dispatch"] < 0).sum())
    if lost:
        part.complain(
            "unknown-dispatch",
            "warning",
            f"{lost:,} counter values belong to dispatches that the file does not list",
            count=lost,
        )


def _operation(process: ProfiledProcess, record: Record) -> tuple[str, str]:
    kinds = process.strings.buffer_records
    if not 0 <= record.kind < len(kinds):
        return "?", str(record.operation)
    operations = kinds[record.kind].operations
    name = operations[record.operation] if 0 <= record.operation < len(operations) else str(record.operation)
    return kinds[record.kind].kind, name


def _calls(calls: list[tuple[str, Record]], process: ProfiledProcess, part: FileTables) -> Columns:
    records = [record for _, record in calls]
    texts = {text.key: text.value for text in process.strings.marker_api}
    named = [_operation(process, record) for record in records]
    named = [
        (domain, texts.get(record.correlation_id.internal, name) if "MARKER" in domain else name)
        for (domain, name), record in zip(named, records, strict=True)
    ]
    columns = _times(records, process)
    columns["domain"] = factorised([domain for domain, _ in named])
    columns["function"] = factorised([function for _, function in named])
    columns["duration_ns"] = trusted_durations(columns, part, what="api_calls")
    return columns


def _times(records: list[Record], process: ProfiledProcess) -> Columns:
    return {
        "process_id": integers([process.metadata.pid] * len(records)),
        "thread_id": integers([record.thread_id for record in records]),
        "correlation_id": integers([record.correlation_id.internal for record in records]),
        "start_ns": integers([record.start_timestamp for record in records]),
        "end_ns": integers([record.end_timestamp for record in records]),
    }


def _copies(process: ProfiledProcess, nodes: dict[int, int | None], part: FileTables) -> Columns:
    records = process.buffer_records.memory_copy
    columns = _times(records, process)
    columns["direction"] = factorised([_operation(process, record)[1] for record in records])
    columns["source_agent"] = integers([nodes.get(record.src_agent_id.handle) for record in records])
    columns["destination_agent"] = integers([nodes.get(record.dst_agent_id.handle) for record in records])
    columns["bytes"] = integers([record.bytes for record in records])
    # Stream 0 means that there is no stream.
    columns["stream_id"] = integers([record.stream_id.handle or None for record in records])
    columns["duration_ns"] = trusted_durations(columns, part, what="copies")
    return columns


def _memory(
    records: list[Record], process: ProfiledProcess, nodes: dict[int, int | None], part: FileTables, what: str
) -> Columns:
    columns = _times(records, process)
    columns["operation"] = factorised([_operation(process, record)[1] for record in records])
    columns["agent"] = integers([nodes.get(record.agent_id.handle) for record in records])
    columns["bytes"] = integers([record.allocation_size for record in records])
    columns["duration_ns"] = trusted_durations(columns, part, what=what)
    return columns


FORMAT = OtherFormat("results JSON", "rocprofv3", "trace", _recognise, _read)


def samples(found: list[Sample], strings: Strings, part: FileTables) -> Columns:
    """Return the samples table of one process, host-trap samples before stochastic ones.

    Columns that only stochastic sampling provides are included if a sample has them.
    """
    records = [sample.record for sample in found]
    columns: Columns = {
        "time_ns": integers([record.timestamp for record in records]),
        "exec_mask": _masks([record.exec_mask for record in records]),
        "dispatch_id": integers([record.dispatch_id for record in records]),
        "instruction": factorised([_word(strings.pc_sample_instructions, sample) for sample in found]),
        "source_line": factorised([_word(strings.pc_sample_comments, sample) for sample in found]),
        "correlation_id": integers([record.correlation for record in records]),
        "code_object_id": integers([record.pc.code_object_id for record in records]),
        "code_object_offset": integers([record.pc.code_object_offset for record in records]),
    }
    if any(record.wave_issued is not None for record in records):
        columns["issued"] = integers([None if r.wave_issued is None else int(r.wave_issued) for r in records])
        columns["instruction_type"] = factorised([_plain(r.inst_type, TYPE_PREFIX) for r in records])
        columns["stall_reason"] = factorised([_plain(r.snapshot.stall_reason, NOT_ISSUED_PREFIX) for r in records])
        columns["wave_count"] = integers([record.wave_count for record in records])
    undecoded = sum(not 0 <= sample.inst_index < len(strings.pc_sample_instructions) for sample in found)
    if undecoded:
        part.complain("undecoded-samples", "warning", f"{undecoded:,} of {len(found):,} PC samples have no "
                      "instruction: the tool could not decode their code object", count=undecoded)  # fmt: skip
    return columns


def _word(words: list[str], sample: Sample) -> str | None:
    return words[sample.inst_index] if 0 <= sample.inst_index < len(words) else None


def _plain(text: str | None, prefix: str) -> str | None:
    return None if text is None else text.removeprefix(prefix).lower()


def _masks(values: list[int | None]) -> Any:
    """Return execution masks as unsigned integers, because they use all 64 bits."""
    import numpy as np
    import pandas as pd

    good = [value if value is not None and 0 <= value < 2**64 else None for value in values]
    return pd.array(good, dtype="UInt64") if None in good else np.array(good, dtype=np.uint64)
