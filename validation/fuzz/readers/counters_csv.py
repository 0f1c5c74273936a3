"""Counter files in CSV and text: rocprof v1 to v3, Omniperf and rocprof-compute."""

from validation.fuzz.readers._counters import read_named
from validation.fuzz.target import Target

TARGET = Target(
    lambda data, folder: read_named(data, folder, "c.csv"),
    ("rocprof/**/*.csv", "rocprof/**/*.txt"),
    words=(
        "Dispatch_ID", "GPU_ID", "Kernel_Name", "Counter_Name", "Counter_Value", "Start_Timestamp", "End_Timestamp",
        "Grid_Size", "Workgroup_Size", "LDS_Per_Workgroup", "Arch_VGPR", "SQ_WAVES", "TCC_HIT[0]", "KernelName", "Index",
        "Agent_Id", "Correlation_Id", ",", '"', "NaN", "0x7fffffffffffffff",
    ), runs=120)  # fmt: skip
