"""Makes measurements of kernels that nobody measured: the numbers are made up, only their relations are plausible.

A launch of 4,096 workgroups of 4 wavefronts that takes 2 ms on an MI300X (304 CUs, 8 XCDs, 2.1 GHz). Counters are those
of all XCDs together, as rocprofv3 writes them in ``counter_collection.csv`` and ``agent_info.csv``.
"""

from pathlib import Path

NANOSECONDS = 2_000_000
CYCLES = 4_200_000
CUS, SIMDS, XCDS = 304, 4, 8
WAVES = 4096 * 4

AGENT = (
    '"Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Simd_Count","Wave_Front_Size","Num_Xcc","Name","Product_Name"\n'
    '0,0,"CPU",64,0,0,1,"AMD EPYC","AMD EPYC"\n'
    '6,4,"GPU",{cus},{simds},64,{xcds},"{arch}","AMD Instinct {product}"\n'
)
HEADS = (
    '"Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name",'
    '"Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name",'
    '"Counter_Value","Start_Timestamp","End_Timestamp"\n'
)


def counted(
    *, waves_per_simd: float = 1.9, wait: float = 0.4, mfma: float = 0.3, valu: float = 0.2, conflicts: float = 0.02
) -> dict[str, float]:
    """Counters of one launch, from the metrics that they are to give: shares are 0 to 1."""
    cycles = WAVES * 100_000.0
    return {
        "GRBM_GUI_ACTIVE": CYCLES * XCDS,
        "SQ_WAVES": WAVES,
        "SQ_LEVEL_WAVES_ACCUM": waves_per_simd * CUS * SIMDS * CYCLES,
        "SQ_WAVE_CYCLES": cycles,
        "SQ_WAIT_ANY": wait * cycles,
        "SQ_VALU_MFMA_BUSY_CYCLES": mfma * CYCLES * CUS * 4,
        "SQ_ACTIVE_INST_VALU": valu * CYCLES * CUS,
        "SQ_LDS_IDX_ACTIVE": (1 + conflicts) * 1e8,
        "SQ_LDS_BANK_CONFLICT": conflicts * 1e8,
    }


def agents(folder: Path, product: str = "MI300X", arch: str = "gfx942") -> Path:
    """Write agent_info.csv."""
    path = folder / "1_agent_info.csv"
    path.write_text(AGENT.format(cus=CUS, simds=CUS * SIMDS, xcds=XCDS, arch=arch, product=product))
    return path


def collection(
    folder: Path,
    counters: dict[str, float],
    *,
    name: str = "flash_attention_kernel",
    warps: int = 4,
    lds: int = 32768,
    scratch: int = 0,
    vgprs: int = 256,
    runs: int = 1,
    first: int = 1,
    file: str = "1_counter_collection.csv",
) -> Path:
    """Write, or extend, counter_collection.csv with some runs of one kernel."""
    path = folder / file
    size = 64 * warps
    rows = [] if path.exists() else [HEADS]
    for run in range(first, first + runs):
        start = run * 10_000_000
        for counter, value in counters.items():
            rows.append(
                f'{run},{run},"Agent 4",1,77,77,{4096 * size},12,"{name}",{size},{lds},{scratch},{vgprs},0,112,'
                f'"{counter}",{value:.6f},{start},{start + NANOSECONDS}\n'
            )
    with path.open("a") as out:
        out.writelines(rows)
    return path
