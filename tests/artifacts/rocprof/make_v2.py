"""The CSV of rocprofv2."""

from run import COUNTS, RUN, line, write

HEADS = [
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


def v2() -> None:
    """rocprofv2."""
    text = line(*HEADS, *COUNTS)
    for at, (name, _, start, end, grid, group, lds, vgprs, agprs, sgprs) in enumerate(RUN):
        ids = (at, 2, 1, 77, 77)
        resources = (grid[0] * grid[1], group, lds, 0, vgprs, agprs, sgprs, 64)
        text += line(*ids, *resources, f"{name} (.kd)", start, end, 0, *(values[at] for values in COUNTS.values()))
    write("v2/results_77.csv", text)
