"""Outputs of rocprof (v1): CSV, Chrome JSON, sqlite."""

import json

from run import COPY, COUNTS, GEMM, RUN, fresh, insert, quoted, write

HEADS = [
    "Index",
    "KernelName",
    "gpu-id",
    "queue-id",
    "queue-index",
    "pid",
    "tid",
    "grd",
    "wgr",
    "lds",
    "scr",
    "arch_vgpr",
    "accum_vgpr",
    "sgpr",
    "wave_size",
    "sig",
    "obj",
]
TIMES = ["DispatchNs", "BeginNs", "EndNs", "CompleteNs", "DurationNs"]


def rows() -> list[tuple[object, ...]]:
    """A row for each dispatch, under HEADS and TIMES."""
    found: list[tuple[object, ...]] = []
    for at, (name, _, start, end, grid, group, lds, vgprs, agprs, sgprs) in enumerate(RUN):
        ids = (at, f"{name} [clone .kd]", 4, 0, at, 77, 77)
        resources = (grid[0] * grid[1], group, lds, 0, vgprs, agprs, sgprs, 64, "0x0", "0x7f00")
        found.append((*ids, *resources, start - 500, start, end, end + 500, end - start))
    return found


def v1() -> None:
    """Rocprof v1."""
    write("v1/results.csv", quoted(*HEADS, *TIMES) + "".join(quoted(*row) for row in rows()))
    write("v1/counters/counters.csv", counters())
    events = ["," + json.dumps(event(row)) + "\n" for row in rows()]
    write("v1/results.json", "".join(['{ "traceEvents":[{}\n', *events]) + "]}\n")
    write("v1/fragment/results.json", "".join(events))
    stats = quoted("Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage")
    hip = stats + quoted("hipMalloc", 3, 900, 300, 100.0)
    stats += quoted(f"{GEMM} [clone .kd]", 1, 40000, 40000, 67.79) + quoted(f"{COPY} [clone .kd]", 2, 19000, 9500, 32.2)
    write("v1/results.stats.csv", stats)
    write("v1/results.hip_stats.csv", hip)
    database = fresh("v1/results.db")
    insert(database, "KERN", [*HEADS, *TIMES], [(row[0], f'"{row[1]}"', *row[2:]) for row in rows()])
    database.commit()
    database.close()


def counters() -> str:
    """The CSV of a run with counters and without times."""
    text = ",".join([*HEADS, *COUNTS]) + "\n"
    for at, row in enumerate(rows()):
        cells = ",".join(map(str, row[2 : len(HEADS)]))
        text += f'{at},"{row[1]}",{cells},' + ",".join(f"{values[at]:.10f}" for values in COUNTS.values()) + "\n"
    return text


def event(row: tuple[object, ...]) -> dict[str, object]:
    """A dispatch as an event of Chrome's trace format, all numbers as text."""
    cells = dict(zip([*HEADS, *TIMES], row, strict=True))
    return {
        "ph": "X",
        "name": cells["KernelName"],
        "pid": 8,
        "tid": "77",
        "ts": str(int(str(cells["BeginNs"])) // 1000),
        "dur": str(int(str(cells["DurationNs"])) // 1000),
        "args": {key: str(value) for key, value in cells.items() if key != "Index"},
    }


def v1_trace() -> None:
    """The database of ``rocprof --sys-trace``: calls, copies and HIP's view of the dispatches, and no KERN."""
    api = ["BeginNs", "EndNs", "pid", "tid", "Name", "args", "Index", "Data", "__section", "__lane"]
    ops = ["BeginNs", "EndNs", "dev-id", "queue-id", "Name", "pid", "tid", "roctx-range", "stream-id", "Index", "Data"]
    copy = ["BeginNs", "EndNs", "Name", "pid", "tid", "Index", "Data", "__section", "__lane"]
    marker = ["BeginNs", "EndNs", "pid", "tid", "Name", "Index", "__section", "__lane"]
    tables: dict[str, tuple[list[str], list[tuple[object, ...]]]] = {
        "rocTX": (marker, [(990_000, 1_090_000, 77, 78, '"training, step 1"', 0, 0, 78)]),
        "HSA": (api, [(991_000, 991_500, 77, 78, "hsa_queue_create", "(agent(1) size(64))", 1, "", 3, 78)]),
        "HIP": (
            api,
            [
                (992_000, 992_800, 77, 78, "hipMalloc", "( ptr(0x7f) size(16384))", 1, "", 2, 78),
                (993_000, 996_000, 77, 78, "hipMemcpy", "( kind(1) sizeBytes(16384))", 2, "", 2, 78),
                *((start - 2000, start - 1500, 77, 78, "hipLaunchKernel", f"( kernel({name}) stream(0))", 2 + number,
                   "", 2, 78) for name, number, start, *_ in RUN),
            ],
        ),
        "COPY": (copy, [(993_500, 995_500, "CopyHostToDevice", 77, 78, 2, "", 1, 78)]),
        "OPS": (
            [*ops, "__section", "__lane"],
            [
                *((start, end, 0, 0, f'"{name}"', 77, 78, name, 0, 2 + number, "", 6, 0)
                  for name, number, start, end, *_ in RUN),
                (1_080_000, 1_080_100, 0, 0, '"<barrier packet>"', 77, 78, "", 0, 9, "", 518, 0),
            ],
        ),
    }  # fmt: skip
    database = fresh("v1/trace/results.db")
    for name, (heads, rows) in tables.items():
        timed = [(*row, int(str(row[1])) - int(str(row[0]))) for row in rows]
        insert(database, name, [*heads, "DurationNs"], timed)
    database.commit()
    database.close()
