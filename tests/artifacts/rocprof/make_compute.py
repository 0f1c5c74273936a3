"""Workloads of Omniperf and rocprof-compute."""

from run import RUN, line, write

SYSTEM = [
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
SIZES = ["Grid_Size", "Workgroup_Size", "LDS_Per_Workgroup", "Scratch_Per_Workitem", "Arch_VGPR", "Accum_VGPR", "SGPR"]
TIMES = ["Start_Timestamp", "End_Timestamp"]


def compute() -> None:
    """An Omniperf workload (wide) and a rocprof-compute one made from rocpd (long)."""
    omniperf()
    omniperf_files()
    rocprof_compute()


def omniperf() -> None:
    """The tables of dispatches: counters, waves, times."""
    meta = ["Dispatch_ID", "GPU_ID", *SIZES, "Wave_Size", "Kernel_Name"]
    counters = ["GRBM_GUI_ACTIVE", "TCC_REQ[0]", "TCC_REQ[1]", "Wave_Size_1", "TCC_REQ_sum", "SQC_DCACHE_REQ_READ_1"]
    perf = line(*meta, *counters)
    waves = line(*meta, *TIMES, "GRBM_GUI_ACTIVE", "SQ_LEVEL_WAVES", "SQ_ACCUM_PREV_HIRES")
    times = line(*meta, *TIMES)
    for at, (name, _, start, end, grid, group, lds, vgprs, agprs, sgprs) in enumerate(RUN):
        base = (at, 2, grid[0] * grid[1], group, lds, 0, vgprs, agprs, sgprs, 64, f"{name} [clone .kd]")
        perf += line(*base, 160000 + at, 400, 401, 64, 803, 7)
        waves += line(*base, "8.1097E+14", "8.1097E+14", 190000, 0, 5000000)
        times += line(*base, start, end)
    write("omniperf/pmc_perf.csv", "\ufeff" + perf.replace("\n", "\r\n"))
    write("omniperf/SQ_LEVEL_WAVES.csv", waves)
    write("omniperf/timestamps.csv", times)


def omniperf_files() -> None:
    """What else is in the folder of a workload."""
    system = ("copy", "./copy", "SQ|TCC", "Thu", 2, "MI300X_A1", "gfx942", 304, 64, 2100, "", 8, "6.0.2")
    write("omniperf/sysinfo.csv", line(*SYSTEM) + line(*system))
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


def rocprof_compute() -> None:
    """A row for each counter of each dispatch, each counter from a run of its own."""
    system = ("copy", "./copy", "SQ|TCC", "Thu", 3, "MI300X_A1", "gfx942", 304, 64, 0, "", 8, "7.0.0")
    write("compute_rocpd/sysinfo.csv", line(*SYSTEM) + line(*system))
    counted = [("TCC_REQ_sum", 803.0), ("TCC_REQ[0]", 400.0), ("TCC_REQ[10]", 401.0)]
    text = line("GPU_ID", "Dispatch_ID", *SIZES, "Kernel_Name", *TIMES, "Kernel_ID", "Counter_Name", "Counter_Value")
    for name, number, start, end, grid, group, lds, vgprs, agprs, sgprs in RUN:
        base = (2, number, grid[0] * grid[1], group, lds, 0, vgprs, agprs, sgprs, name)
        for run, (counter, value) in enumerate(counted):
            text += line(*base, start + run * 10**9, end + run * 10**9, 12, counter, value)
    write("compute_rocpd/pmc_perf.csv", text)
