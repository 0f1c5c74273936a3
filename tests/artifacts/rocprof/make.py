"""Write the small profiler outputs that the tests read. Run it from this folder to make them again.

All of them tell about one made-up run: a vector copy that runs twice and a matrix product that runs once on an
imaginary MI300X. Headings and number formats are those of the real tools; names, times and counts are invented.
"""

import json

from make_v3 import v3_counters, v3_json, v3_traces
from run import COPY, COUNTS, GEMM, RUN, fresh, line, quoted, write


def v1() -> None:
    """Rocprof v1."""
    heads = [
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
    times = ["DispatchNs", "BeginNs", "EndNs", "CompleteNs", "DurationNs"]
    text, counted = quoted(*heads, *times), ",".join([*heads, *COUNTS]) + "\n"
    events = ['{ "traceEvents":[{}\n']
    rows = []
    for at, (name, _, start, end, grid, group, lds, vgprs, agprs, sgprs) in enumerate(RUN):
        work = grid[0] * grid[1]
        base = (
            at,
            f"{name} [clone .kd]",
            4,
            0,
            at,
            77,
            77,
            work,
            group,
            lds,
            0,
            vgprs,
            agprs,
            sgprs,
            64,
            "0x0",
            "0x7f00",
        )
        moments = (start - 500, start, end, end + 500, end - start)
        text += quoted(*base, *moments)
        plain = f'{at},"{base[1]}",' + ",".join(map(str, base[2:]))
        counted += plain + "," + ",".join(f"{values[at]:.10f}" for values in COUNTS.values()) + "\n"
        rows.append((*base, *moments))
        args = {
            key: str(value) for key, value in zip([*heads, *times], (*base, *moments), strict=True) if key != "Index"
        }
        event = {
            "ph": "X",
            "name": base[1],
            "pid": 8,
            "tid": "77",
            "ts": str(start // 1000),
            "dur": str((end - start) // 1000),
            "args": args,
        }
        events.append("," + json.dumps(event) + "\n")
    write("v1/results.csv", text)
    write("v1/counters/counters.csv", counted)
    write("v1/results.json", "".join(events) + "]}\n")
    write("v1/fragment/results.json", "".join(events[1:]))
    stats = quoted("Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage")
    stats += quoted(f"{GEMM} [clone .kd]", 1, 40000, 40000, 67.79) + quoted(f"{COPY} [clone .kd]", 2, 19000, 9500, 32.2)
    write("v1/results.stats.csv", stats)
    hip = quoted("Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage") + quoted(
        "hipMalloc", 3, 900, 300, 100.0
    )
    write("v1/results.hip_stats.csv", hip)
    database = fresh("v1/results.db")
    columns = ", ".join(f'"{h}"' for h in [*heads, *times])
    database.execute(f"CREATE TABLE KERN ({columns})")
    marks = ", ".join("?" * len(rows[0]))
    database.executemany(f"INSERT INTO KERN VALUES ({marks})", [(r[0], f'"{r[1]}"', *r[2:]) for r in rows])
    database.commit()
    database.close()


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
        columns = ", ".join(f'"{head}"' for head in [*heads, "DurationNs"])
        database.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" * (len(heads) + 1))
        timed = [(*row, int(str(row[1])) - int(str(row[0]))) for row in rows]
        database.executemany(f"INSERT INTO {name} VALUES ({marks})", timed)
    database.commit()
    database.close()


def v2() -> None:
    """rocprofv2."""
    heads = [
        "Dispatch_ID",
        "GPU_ID",
        "Queue_ID",
        "PID",
        "TID",
        "Grid_Size",
        "Workgroup_Size",
        "LDS_Per_Workgroup",
        "Scratch_Per_Workitem",
        "Arch_VGPR",
        "Accum_VGPR",
        "SGPR",
        "Wave_Size",
        "Kernel_Name",
        "Start_Timestamp",
        "End_Timestamp",
        "Correlation_ID",
    ]
    text = line(*heads, *COUNTS)
    for at, (name, _, start, end, grid, group, lds, vgprs, agprs, sgprs) in enumerate(RUN):
        text += line(
            at,
            2,
            1,
            77,
            77,
            grid[0] * grid[1],
            group,
            lds,
            0,
            vgprs,
            agprs,
            sgprs,
            64,
            f"{name} (.kd)",
            start,
            end,
            0,
            *(v[at] for v in COUNTS.values()),
        )
    write("v2/results_77.csv", text)


def rocpd() -> None:
    """A rocpd database: schema 3, one run."""
    guid = "00000a10_7bc0_7bc0_a1ef_6b94d43555c0"
    db = fresh("rocpd/run.db")
    tables = {
        "metadata": "id INTEGER PRIMARY KEY, tag, value",
        "string": "id INTEGER PRIMARY KEY, guid, string",
        "info_node": "id INTEGER PRIMARY KEY, hostname, system_name, release",
        "info_process": "id INTEGER PRIMARY KEY, pid, command, environment",
        "info_agent": "id INTEGER PRIMARY KEY, type, absolute_index INTEGER, logical_index INTEGER, name, product_name",
        "info_kernel_symbol": "id INTEGER PRIMARY KEY, kernel_name, display_name, sgpr_count INTEGER, "
        "arch_vgpr_count INTEGER, accum_vgpr_count INTEGER",
        "info_pmc": "id INTEGER PRIMARY KEY, name",
        "pmc_event": "id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL",
        "event": "id INTEGER PRIMARY KEY, category_id INTEGER, correlation_id INTEGER",
        "region": 'id INTEGER PRIMARY KEY, pid, tid, start BIGINT, "end" BIGINT, name_id INTEGER, event_id INTEGER',
        "memory_copy": 'id INTEGER PRIMARY KEY, pid, tid, start BIGINT, "end" BIGINT, name_id INTEGER, '
        "src_agent_id INTEGER, dst_agent_id INTEGER, size INTEGER",
        "memory_allocate": 'id INTEGER PRIMARY KEY, pid, tid, start BIGINT, "end" BIGINT, type, level, '
        "agent_id INTEGER, "
        "size INTEGER",
        "kernel_dispatch": "id INTEGER PRIMARY KEY, pid, tid, agent_id INTEGER, kernel_id INTEGER, "
        "dispatch_id INTEGER, "
        'queue_id INTEGER, stream_id INTEGER, start BIGINT, "end" BIGINT, private_segment_size INTEGER, '
        "group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, "
        "grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER",
    }
    for name, columns in tables.items():
        db.execute(f"CREATE TABLE rocpd_{name}_{guid} ({columns})")
        db.execute(f"CREATE VIEW rocpd_{name} AS SELECT * FROM rocpd_{name}_{guid}")
    rows = {
        "metadata": [(1, "schema_version", "3")],
        "string": [(1, "g", "HIP_RUNTIME_API"), (2, "g", "hipLaunchKernel"), (3, "g", "MEMORY_COPY_HOST_TO_DEVICE")],
        "info_node": [(1, "host", "Linux", "6.14")],
        "info_process": [(1, 77, "./copy", '{"TOKEN": "hush"}')],
        "info_agent": [(11, "CPU", 0, 0, "AMD EPYC", "AMD EPYC"), (12, "GPU", 4, 4, "gfx942", "AMD Instinct MI300X")],
        "info_kernel_symbol": [(len(n), f"{n}.kd", n, s, v, a) for n, *_, v, a, s in RUN[:2]],
        "info_pmc": [(n, name) for n, name in enumerate(COUNTS)],
        "event": [(n, 1, n) for n in range(1, 5)],
        "region": [(1, 77, 77, 999000, 999800, 2, 4)],
        "memory_copy": [(1, 77, 77, 5000, 5400, 3, 11, 12, 4096)],
        "memory_allocate": [(1, 77, 77, 100, 150, "ALLOC", "REAL", 12, 1024)],
        "kernel_dispatch": [
            (at, 77, 77, 12, len(name), number, 1, 5, start, end, 0, lds, group, 1, 1, *grid, at + 1)
            for at, (name, number, start, end, grid, group, lds, *_) in enumerate(RUN)
        ],
        "pmc_event": [
            (None, at + 1, n, values[at] / 2)
            for n, values in enumerate(COUNTS.values())
            for at in range(3)
            for _half in (0, 1)
        ],
    }
    for name, records in rows.items():
        db.executemany(f"INSERT INTO rocpd_{name}_{guid} VALUES ({', '.join('?' * len(records[0]))})", records)
    db.commit()
    db.close()


def compute() -> None:
    """An Omniperf workload (wide) and a rocprof-compute one made from rocpd (long)."""
    system = [
        "workload_name",
        "command",
        "ip_blocks",
        "timestamp",
        "version",
        "gpu_model",
        "gpu_arch",
        "cu_per_gpu",
        "wave_size",
        "max_sclk",
        "max_mclk",
        "num_xcd",
        "rocm_version",
    ]
    write(
        "omniperf/sysinfo.csv",
        line(*system)
        + line("copy", "./copy", "SQ|TCC", "Thu", 2, "MI300X_A1", "gfx942", 304, 64, 2100, "", 8, "6.0.2"),
    )
    meta = [
        "Dispatch_ID",
        "GPU_ID",
        "Grid_Size",
        "Workgroup_Size",
        "LDS_Per_Workgroup",
        "Scratch_Per_Workitem",
        "Arch_VGPR",
        "Accum_VGPR",
        "SGPR",
        "Wave_Size",
        "Kernel_Name",
    ]
    counters = ["GRBM_GUI_ACTIVE", "TCC_REQ[0]", "TCC_REQ[1]", "Wave_Size_1", "TCC_REQ_sum", "SQC_DCACHE_REQ_READ_1"]
    perf, waves, times = line(*meta, *counters), "", ""
    waves = line(*meta, "Start_Timestamp", "End_Timestamp", "GRBM_GUI_ACTIVE", "SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES")
    times = line(*meta, "Start_Timestamp", "End_Timestamp")
    for at, (name, _, start, end, grid, group, lds, vgprs, agprs, sgprs) in enumerate(RUN):
        base = (at, 2, grid[0] * grid[1], group, lds, 0, vgprs, agprs, sgprs, 64, f"{name} [clone .kd]")
        perf += line(*base, 160000 + at, 400, 401, 64, 803, 7)
        waves += line(*base, "8.1097E+14", "8.1097E+14", 190000, 0, 5000000)
        times += line(*base, start, end)
    write("omniperf/pmc_perf.csv", "\ufeff" + perf.replace("\n", "\r\n"))
    write("omniperf/SQ_LEVEL_WAVES.csv", waves)
    write("omniperf/timestamps.csv", times)
    write("omniperf/perfmon/pmc_perf_0.txt", "pmc: GRBM_GUI_ACTIVE TCC_REQ_sum\n\ngpu:\nrange:\nkernel:\n")
    write("omniperf/log.txt", "made up\n")
    write(
        "omniperf/roofline.csv",
        line("device", "HBMBw", "HBMBwLow", "HBMBwHigh", "L2Bw", "MFMAF16Flops")
        + line(0, 4000.5, 3999.0, 4001.0, 9000, 500000.0),
    )
    write(
        "omniperf/analyze/2.1_Speed-of-Light.csv",
        "Metric,Avg,Unit,Peak,Pct of Peak\nL2 Cache Hit Rate,37.22,Pct,100.0,37.2\n",
    )
    write(
        "compute_rocpd/sysinfo.csv",
        line(*system) + line("copy", "./copy", "SQ|TCC", "Thu", 3, "MI300X_A1", "gfx942", 304, 64, 0, "", 8, "7.0.0"),
    )
    text = line(
        "GPU_ID",
        "Dispatch_ID",
        "Grid_Size",
        "Workgroup_Size",
        "LDS_Per_Workgroup",
        "Scratch_Per_Workitem",
        "Arch_VGPR",
        "Accum_VGPR",
        "SGPR",
        "Kernel_Name",
        "Start_Timestamp",
        "End_Timestamp",
        "Kernel_ID",
        "Counter_Name",
        "Counter_Value",
    )
    for name, number, start, end, grid, group, lds, vgprs, agprs, sgprs in RUN:
        base = (2, number, grid[0] * grid[1], group, lds, 0, vgprs, agprs, sgprs, name)
        for run, (counter, value) in enumerate([("TCC_REQ_sum", 803.0), ("TCC_REQ[0]", 400.0), ("TCC_REQ[10]", 401.0)]):
            text += line(*base, start + run * 10**9, end + run * 10**9, 12, counter, value)
    write("compute_rocpd/pmc_perf.csv", text)


def main() -> None:
    """Write everything."""
    for make in (v1, v1_trace, v2, v3_traces, v3_counters, v3_json, rocpd, compute):
        make()


if __name__ == "__main__":
    main()

if __name__ == "__main__":
    main()
