"""CSV outputs of rocprofv3."""

from run import COPY, COUNTS, GEMM, RUN, line, quoted, write

TIMES = ["Start_Timestamp", "End_Timestamp"]
# Columns between queue and kernel, whether registers are written, and whether rocpd made the file.
KERNEL_TRACES: dict[str, tuple[list[str], bool, bool]] = {
    "1_plain": ([], False, False),
    "2_threads": (["Thread_Id", "Dispatch_Id"], False, False),
    "3_streams": (["Stream_Id", "Thread_Id", "Dispatch_Id"], False, False),
    "4_registers": (["Stream_Id", "Thread_Id", "Dispatch_Id"], True, False),
    "5_rocpd": (["Stream_Id", "Thread_Id", "Dispatch_Id"], True, True),
}
# Whether kernel ids, times and AGPRs are written.
COLLECTIONS = {
    "1": (False, False, False),
    "2": (True, False, False),
    "3": (True, True, False),
    "4": (True, True, True),
}
GUID = "0000ddb5-8903-7903-b269-cd8d3745bb8a"


def v3_traces() -> None:
    """The five kernel_trace headings, and the other traces."""
    for variant, (extra, registers, rocpd) in KERNEL_TRACES.items():
        write(f"v3/kernel_trace_{variant}.csv", kernel_trace(extra, registers=registers, rocpd=rocpd))
    api_traces()
    memory_traces()
    summaries()


def kernel_trace(extra: list[str], *, registers: bool, rocpd: bool) -> str:
    """One variant of kernel_trace."""
    sizes = ["LDS_Block_Size", "Scratch_Size", "VGPR_Count", "Accum_VGPR_Count", "SGPR_Count"]
    heads = ["Kind", "Agent_Id", "Queue_Id", *extra, "Kernel_Id", "Kernel_Name", "Correlation_Id", *TIMES]
    heads += sizes if registers else ["Private_Segment_Size", "Group_Segment_Size"]
    heads += [f"{what}_{axis}" for what in ("Workgroup_Size", "Grid_Size") for axis in "XYZ"]
    text = quoted(*(["Guid", *(head.title() for head in heads)] if rocpd else heads))
    agent = "Agent 4" if len(extra) > 2 else 1
    for name, number, start, end, grid, group, lds, vgprs, agprs, sgprs in RUN:
        ids = {"Stream_Id": 5, "Thread_Id": 77, "Dispatch_Id": number}
        cells = ["KERNEL_DISPATCH", agent, 1, *(ids[each] for each in extra), 10 + len(name), name, number * 10]
        cells += [start, end, *([lds, 0, vgprs, agprs, sgprs] if registers else [0, lds]), group, 1, 1, *grid]
        text += quoted(*([GUID, *cells] if rocpd else cells))
    return text


def api_traces() -> None:
    """Calls of HIP, markers, RCCL."""
    calls = quoted("Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", *TIMES)
    write(
        "v3/hip_api_trace.csv",
        calls
        + quoted("HIP_RUNTIME_API_EXT", "hipLaunchKernel", 77, 77, 10, 999000, 999800)
        + quoted("HIP_RUNTIME_API_EXT", "hipMemcpyAsync", 77, 77, 11, 1080000, 1080900),
    )
    write("v3/marker_api_trace.csv", calls + quoted("MARKER_CORE_API", "step(rows=4, cols=5)", 77, 77, 1, 5000, 5000))
    write("v3/rccl_trace.csv", calls + quoted("RCCL_API", "ncclAllReduce", 77, 77, 12, 90000, 91000))


def memory_traces() -> None:
    """Copies, allocations, scratch."""
    agents = ["Source_Agent_Id", "Destination_Agent_Id", "Correlation_Id"]
    write(
        "v3/memory_copy_trace_old.csv",
        quoted("Kind", "Direction", *agents, *TIMES)
        + quoted("MEMORY_COPY", "MEMORY_COPY_HOST_TO_DEVICE", 0, 1, 3, 700000, 700400),
    )
    write(
        "v3/memory_copy_trace.csv",
        quoted("Kind", "Direction", "Stream_Id", *agents, *TIMES)
        + quoted("MEMORY_COPY", "MEMORY_COPY_DEVICE_TO_HOST", 0, "Agent 4", "Agent 0", 3, 700000, 700500),
    )
    allocated = ("MEMORY_ALLOCATION", "MEMORY_ALLOCATION_ALLOCATE", "Agent 0", 1024, "0x00007ffb26354000", 1)
    write(
        "v3/memory_allocation_trace.csv",
        quoted("Kind", "Operation", "Agent_Id", "Allocation_Size", "Address", "Correlation_Id", *TIMES)
        + quoted(*allocated, 8000, 8050),
    )
    write(
        "v3/scratch_memory_trace.csv",
        quoted("Kind", "Operation", "Agent_Id", "Queue_Id", "Thread_Id", "Alloc_Flags", *TIMES)
        + quoted("SCRATCH_MEMORY", "SCRATCH_MEMORY_ALLOC", "Agent 4", 1, 113, 0, 100, 200),
    )


def summaries() -> None:
    """The machine's agents, and sums by kernel."""
    heads = [
        "Node_Id",
        "Logical_Node_Id",
        "Agent_Type",
        "Cu_Count",
        "Simd_Count",
        "Wave_Front_Size",
        "Num_Xcc",
        "Name",
        "Product_Name",
    ]
    write(
        "v3/agent_info.csv",
        quoted(*heads)
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
    for variant, (kernel_id, times, agprs) in COLLECTIONS.items():
        text = counter_collection(kernel_id=kernel_id, times=times, agprs=agprs)
        write(f"v3/counter_collection_{variant}.csv", text)
    write("v3/pivoted.csv", pivoted())
    samples()


def counter_collection(*, kernel_id: bool, times: bool, agprs: bool) -> str:
    """One variant of counter_collection: a row for each counter of each dispatch."""
    heads = ["Correlation_Id", "Dispatch_Id", "Agent_Id", "Queue_Id", "Process_Id", "Thread_Id", "Grid_Size"]
    heads += [*(["Kernel_Id"] if kernel_id else []), "Kernel_Name", "Workgroup_Size", "LDS_Block_Size", "Scratch_Size"]
    heads += ["VGPR_Count", *(["Accum_VGPR_Count"] if agprs else []), "SGPR_Count", "Counter_Name", "Counter_Value"]
    text = quoted(*heads, *(TIMES if times else []))
    for at, (name, number, start, end, grid, group, lds, vgprs, accum_vgprs, sgprs) in enumerate(RUN):
        cells = [number, number, "Agent 4" if times else 1, 1, 77, 77, grid[0] * grid[1]]
        cells += [*([12] if kernel_id else []), name, group, lds, 0, vgprs, *([accum_vgprs] if agprs else []), sgprs]
        for counter, values in COUNTS.items():
            value = f"{values[at]:.6f}" if times else str(values[at])
            text += quoted(*cells, counter).rstrip("\n")
            text += f",{value}" + (f",{start},{end}" if times else "") + "\n"
    return text


def pivoted() -> str:
    """A row for each dispatch, a column for each counter."""
    heads = [
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
    ]
    text = line(*heads, *COUNTS)
    for at, (name, number, _, _, grid, group, lds, vgprs, _, sgprs) in enumerate(RUN):
        cells = (number, "Agent 4", grid[0] * grid[1], name, lds, 1, sgprs, 0, vgprs, group)
        text += line(*cells, *(float(values[at]) for values in COUNTS.values()))
    return text


def samples() -> None:
    """PC samples of both methods."""
    heads = ["Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment", "Correlation_Id"]
    write(
        "v3/pc_sampling_host_trap.csv",
        quoted(*heads) + quoted(500, 18446744073709551615, 1, "v_add_f32 v0, v1, v2", "copy.hip:7", 1),
    )
    why = (
        "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_NO_INST",
        "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT",
    )
    write(
        "v3/pc_sampling_stochastic.csv",
        quoted(*heads, "Wave_Issued_Instruction", "Instruction_Type", "Stall_Reason", "Wave_Count")
        + quoted(500, 65535, 2, "s_waitcnt vmcnt(0)", "gemm.py:9", 2, 0, *why, 4),
    )
