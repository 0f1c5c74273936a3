"""Outputs of rocprofv3: CSV and JSON."""

import json

from run import COPY, COUNTS, GEMM, RUN, line, quoted, write


def v3_traces() -> None:
    """The five kernel_trace headings, and the other traces."""
    variants = {
        "1_plain": ([], [], False),
        "2_threads": (["Thread_Id", "Dispatch_Id"], [], False),
        "3_streams": (["Stream_Id", "Thread_Id", "Dispatch_Id"], [], False),
        "4_registers": (["Stream_Id", "Thread_Id", "Dispatch_Id"], ["registers"], False),
        "5_rocpd": (["Stream_Id", "Thread_Id", "Dispatch_Id"], ["registers"], True),
    }
    for variant, (extra, registers, rocpd) in variants.items():
        sizes = ["LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count"]
        heads = [
            "Kind",
            "Agent_Id",
            "Queue_Id",
            *extra,
            "Kernel_Id",
            "Kernel_Name",
            "Correlation_Id",
            "Start_Timestamp",
            "End_Timestamp",
            *(sizes if registers else ["Private_Segment_Size", "Group_Segment_Size"]),
            *(f"{what}_{axis}" for what in ("Workgroup_Size", "Grid_Size") for axis in "XYZ"),
        ]
        if rocpd:
            heads = ["Guid", *(h.title() for h in heads)]
        text = quoted(*heads)
        for name, number, start, end, grid, group, lds, vgprs, agprs, sgprs in RUN:
            ids = {"Stream_Id": 5, "Thread_Id": 77, "Dispatch_Id": number}
            agent: object = "Agent 4" if len(extra) > 2 else 1
            cells = [
                "KERNEL_DISPATCH",
                agent,
                1,
                *(ids[e] for e in extra),
                10 + len(name),
                name,
                number * 10,
                start,
                end,
                *([lds, 0, vgprs, agprs, sgprs] if registers else [0, lds]),
                group,
                1,
                1,
                *grid,
            ]
            text += quoted(*(["0000ddb5-8903-7903-b269-cd8d3745bb8a", *cells] if rocpd else cells))
        write(f"v3/kernel_trace_{variant}.csv", text)
    calls = quoted(
        "Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"
    )
    write(
        "v3/hip_api_trace.csv",
        calls
        + quoted("HIP_RUNTIME_API_EXT", "hipLaunchKernel", 77, 77, 10, 999000, 999800)
        + quoted("HIP_RUNTIME_API_EXT", "hipMemcpyAsync", 77, 77, 11, 1080000, 1080900),
    )
    write("v3/marker_api_trace.csv", calls + quoted("MARKER_CORE_API", "step(rows=4, cols=5)", 77, 77, 1, 5000, 5000))
    write("v3/rccl_trace.csv", calls + quoted("RCCL_API", "ncclAllReduce", 77, 77, 12, 90000, 91000))
    write(
        "v3/memory_copy_trace_old.csv",
        quoted(
            "Kind",
            "Direction",
            "Source_Agent_Id",
            "Destination_Agent_Id",
            "Correlation_Id",
            "Start_Timestamp",
            "End_Timestamp",
        )
        + quoted("MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE", 0, 1, 3, 700000, 700400),
    )
    write(
        "v3/memory_copy_trace.csv",
        quoted(
            "Kind",
            "Direction",
            "Stream_Id",
            "Source_Agent_Id",
            "Destination_Agent_Id",
            "Correlation_Id",
            "Start_Timestamp",
            "End_Timestamp",
        )
        + quoted("MEMORY_COPY", "MEMORY_COPY_DEVICE_TO_HOST", 0, "Agent 4", "Agent 0", 3, 700000, 700500),
    )
    write(
        "v3/memory_allocation_trace.csv",
        quoted(
            "Kind",
            "Operation",
            "Agent_Id",
            "Allocation_Size",
            "Address",
            "Correlation_Id",
            "Start_Timestamp",
            "End_Timestamp",
        )
        + quoted(
            "MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE", "Agent 0", 1024, "0x00007ffb26354000", 1, 8000, 8050
        ),
    )
    write(
        "v3/scratch_memory_trace.csv",
        quoted(
            "Kind", "Operation", "Agent_Id", "Queue_Id", "Thread_Id", "Alloc_Flags", "Start_Timestamp", "End_Timestamp"
        )
        + quoted("SCRATCH_MEMORY", "SCRATCH_MEMORY_ALLOC", "Agent 4", 1, 113, 0, 100, 200),
    )
    write(
        "v3/agent_info.csv",
        quoted(
            "Node_Id",
            "Logical_Node_Id",
            "Agent_Type",
            "Cu_Count",
            "Simd_Count",
            "Wave_Front_Size",
            "Num_Xcc",
            "Name",
            "Product_Name",
        )
        + quoted(0, 0, "CPU", 64, 0, 0, 1, "AMD EPYC", "AMD EPYC")
        + quoted(6, 4, "GPU", 304, 1216, 64, 8, "gfx942", "AMD Instinct MI300X"),
    )
    write(
        "v3/kernel_stats.csv",
        quoted("Name", "Calls", "TotalDurationNs", "AverageNs", "Percentage", "MinNs", "MaxNs", "StdDev")
        + f'"{GEMM}",1,40000,40000.000000,67.80,40000,40000,0.00000000e+00\n'
        f'"{COPY}",2,19000,9500.000000,32.20,9000,10000,707.106781\n',
    )


def v3_counters() -> None:
    """The four counter_collection headings, a pivoted one, and PC samples."""
    for variant, (kernel_id, times, agprs_too) in {
        "1": (False, False, False),
        "2": (True, False, False),
        "3": (True, True, False),
        "4": (True, True, True),
    }.items():
        heads = [
            "Correlation_Id",
            "Dispatch_Id",
            "Agent_Id",
            "Queue_Id",
            "Process_Id",
            "Thread_Id",
            "Grid_Size",
            *(["Kernel_Id"] if kernel_id else []),
            "Kernel_Name",
            "Workgroup_Size",
            "LDS_Block_Size",
            "Scratch_Size",
            "VGPR_Count",
            *(["Accum_VGPR_Count"] if agprs_too else []),
            "SGPR_Count",
            "Counter_Name",
            "Counter_Value",
            *(["Start_Timestamp", "End_Timestamp"] if times else []),
        ]
        text = quoted(*heads)
        for at, (name, number, start, end, grid, group, lds, vgprs, agprs, sgprs) in enumerate(RUN):
            for counter, values in COUNTS.items():
                value = f"{values[at]:.6f}" if times else str(values[at])
                text += quoted(
                    number,
                    number,
                    "Agent 4" if times else 1,
                    1,
                    77,
                    77,
                    grid[0] * grid[1],
                    *([12] if kernel_id else []),
                    name,
                    group,
                    lds,
                    0,
                    vgprs,
                    *([agprs] if agprs_too else []),
                    sgprs,
                    counter,
                ).rstrip("\n")
                text += f",{value}" + (f",{start},{end}" if times else "") + "\n"
        write(f"v3/counter_collection_{variant}.csv", text)
    text = line(
        "Dispatch_Id",
        "Agent_Id",
        "Grid_Size",
        "Kernel_Name",
        "LDS_Block_Size",
        "Queue_Id",
        "SGPR_Count",
        "Scratch_Size",
        "VGPR_Count",
        "Workgroup_Size",
        *COUNTS,
    )
    for at, (name, number, _, _, grid, group, lds, vgprs, _, sgprs) in enumerate(RUN):
        text += line(
            number,
            "Agent 4",
            grid[0] * grid[1],
            name,
            lds,
            1,
            sgprs,
            0,
            vgprs,
            group,
            *(float(v[at]) for v in COUNTS.values()),
        )
    write("v3/pivoted.csv", text)
    samples = ["Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment", "Correlation_Id"]
    write(
        "v3/pc_sampling_host_trap.csv",
        quoted(*samples) + quoted(500, 18446744073709551615, 1, "v_add_f32 v0, v1, v2", "copy.hip:7", 1),
    )
    extra = ["Wave_Issued_Instruction", "Instruction_Type", "Stall_Reason", "Wave_Count"]
    write(
        "v3/pc_sampling_stochastic.csv",
        quoted(*samples, *extra)
        + quoted(
            500,
            65535,
            2,
            "s_waitcnt vmcnt(0)",
            "gemm.py:9",
            2,
            0,
            "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_NO_INST",
            "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT",
            4,
        ),
    )


def v3_json() -> None:
    """rocprofv3 JSON."""
    dispatches = [
        {
            "kind": 1,
            "operation": 1,
            "thread_id": 77,
            "correlation_id": {"internal": number},
            "start_timestamp": start,
            "end_timestamp": end,
            "stream_id": {"handle": 5},
            "dispatch_info": {
                "agent_id": {"handle": 900},
                "queue_id": {"handle": 1},
                "kernel_id": len(name),
                "dispatch_id": number,
                "private_segment_size": 0,
                "group_segment_size": lds,
                "workgroup_size": {"x": group, "y": 1, "z": 1},
                "grid_size": dict(zip("xyz", grid, strict=True)),
            },
        }
        for name, number, start, end, grid, group, lds, *_ in RUN
    ]
    counted = [
        {
            "dispatch_data": {"dispatch_info": record["dispatch_info"]},
            "records": [
                {"counter_id": {"handle": 1000 + n}, "value": values[at] / 2}
                for n, values in enumerate(COUNTS.values())
                for _half in (0, 1)
            ],
        }
        for at, record in enumerate(dispatches)
    ]
    process = {
        "metadata": {"pid": 77},
        "agents": [
            {"id": {"handle": 800}, "type": 1, "name": "AMD EPYC", "node_id": 0, "logical_node_id": 0},
            {
                "id": {"handle": 900},
                "type": 2,
                "name": "gfx942",
                "product_name": "AMD Instinct MI300X",
                "node_id": 6,
                "logical_node_id": 4,
                "cu_count": 304,
                "num_xcc": 8,
                "wave_front_size": 64,
                "lds_size_in_kb": 64,
            },
        ],
        "counters": [{"id": {"handle": 1000 + n}, "name": name} for n, name in enumerate(COUNTS)],
        "strings": {
            "buffer_records": [
                {"kind": "NONE", "operations": []},
                {"kind": "KERNEL_DISPATCH", "operations": ["", "COMPLETE"]},
                {"kind": "HIP_RUNTIME_API", "operations": ["hipMalloc", "hipLaunchKernel"]},
                {"kind": "MEMORY_COPY", "operations": ["NONE", "MEMORY_COPY_HOST_TO_DEVICE"]},
            ]
        },
        "kernel_symbols": [
            {
                "kernel_id": len(name),
                "kernel_name": f"{name}.kd",
                "formatted_kernel_name": name,
                "sgpr_count": sgprs,
                "arch_vgpr_count": vgprs,
                "accum_vgpr_count": agprs,
            }
            for name, *_, vgprs, agprs, sgprs in RUN[:2]
        ],
        "callback_records": {"counter_collection": counted},
        "buffer_records": {
            "kernel_dispatch": dispatches,
            "hsa_api": [],
            "hip_api": [
                {
                    "kind": 2,
                    "operation": 1,
                    "thread_id": 77,
                    "correlation_id": {"internal": 1},
                    "start_timestamp": 999000,
                    "end_timestamp": 999800,
                }
            ],
            "memory_copy": [
                {
                    "kind": 3,
                    "operation": 1,
                    "thread_id": 77,
                    "start_timestamp": 5000,
                    "end_timestamp": 5400,
                    "src_agent_id": {"handle": 800},
                    "dst_agent_id": {"handle": 900},
                    "bytes": 4096,
                }
            ],
        },
    }
    write("v3_json/results.json", json.dumps({"rocprofiler-sdk-tool": [process]}))
