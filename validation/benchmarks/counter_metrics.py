"""Compare ``kprof counters metrics`` for 3,000 kernels with pandas reading the same file and averaging it by kernel.

Both sides are complete processes that alternate. The file is rocprofv3's wide counter table: one record per
dispatch, one column per counter. Run: ``python validation/benchmarks/counter_metrics.py [FILE] [--kernels 3000]``.
Budget: one second of kprof's wall time.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = 9
COUNTERS = (
    "GRBM_GUI_ACTIVE", "SQ_BUSY_CU_CYCLES", "SQ_INSTS_LDS", "SQ_INSTS_MFMA", "SQ_INSTS_SALU", "SQ_INSTS_VALU",
    "SQ_INSTS_VMEM_RD", "SQ_INSTS_VMEM_WR", "SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE", "SQ_VALU_MFMA_BUSY_CYCLES",
    "SQ_WAIT_ANY", "SQ_WAVES_sum", "SQ_WAVE_CYCLES", "TCC_BUBBLE_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_EA0_RDREQ_sum",
    "TCC_EA0_WRREQ_64B_sum", "TCC_EA0_WRREQ_sum", "TCC_HIT", "TCC_MISS", "TCC_REQ_sum", "TCP_TCC_READ_REQ_sum",
    "TCP_TOTAL_CACHE_ACCESSES_sum",
)  # fmt: skip
HEADING = (
    "Dispatch_Id", "Agent_Id", "Grid_Size", "Kernel_Name", "LDS_Block_Size", "Queue_Id", "SGPR_Count", "Scratch_Size",
    "VGPR_Count", "Workgroup_Size", *COUNTERS,
)  # fmt: skip
PANDAS = """
import pandas, sys
table = pandas.read_csv(sys.argv[1])
print(len(table.groupby(["Kernel_Name", "Grid_Size"]).mean(numeric_only=True)))
"""


def generate(path: Path, kernels: int) -> None:
    """Write one dispatch per kernel with different counter values; counters in denominators are never 0."""
    with path.open("w", encoding="utf-8") as file:
        file.write(",".join(HEADING) + "\n")
        for at in range(kernels):
            values = ",".join(f"{1000 + at * (place + 7) % 100_003}.0" for place in range(len(COUNTERS)))
            file.write(f'{at},Agent 2,{65536 + 256 * (at % 50)},"_Z6kernelILi{at}EEvPf",6656,1,112,0,56,256,{values}\n')


def cost(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return wall and processor seconds of one process."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, os.times()
    return wall, after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Measure and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--kernels", type=int, default=3000)
    asked = parser.parse_args()
    paths = os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])
    environment = {**os.environ, "PYTHONPATH": paths}
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "counter_collection.csv"
        if asked.file is None:
            generate(made, asked.kernels)
        file = asked.file or str(made)
        ours = [sys.executable, "-m", "kprof", "counters", "metrics", file, "--arch", "MI300X"]
        theirs = [sys.executable, "-c", PANDAS, file]
        pairs = [(cost(ours, environment), cost(theirs, environment)) for _ in range(ROUNDS)]
    wall, used = (median(mine[place] for mine, _ in pairs) for place in (0, 1))
    rival = median(other[1] for _, other in pairs)
    ratio = median(mine[1] / other[1] for mine, other in pairs)
    print(
        f"kprof counters metrics: {wall:.2f} s, {used:.2f} s of processor time; pandas {rival:.2f} s; ratio {ratio:.2f}"
    )


if __name__ == "__main__":
    main()
