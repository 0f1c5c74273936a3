"""Compare kprof's reader of CSV files with pyarrow's bare CSV reader, on the same file in the same run.

kprof's side ends with the normalised tables and all checks; pyarrow's ends with an Arrow table of inferred types. A
wide file has one column per counter; its normalised form has one row of eight columns per value. Run: ``python
validation/benchmarks/rocprof_csv.py [FILE ...] [--records 1000000]``.
"""

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

BUDGET = 1.5
SAMPLES = Path(__file__).resolve().parents[3] / "shared/samples"
ARTIFACTS = Path(__file__).resolve().parent.parent.parent / "tests/artifacts/rocprof"


def race(actions: list[Callable[[], object]], repeats: int) -> list[list[tuple[float, float]]]:
    """Return wall and CPU time of each action in seconds; actions alternate, so that other load affects all equally."""
    times: list[list[tuple[float, float]]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, found in zip(actions, times, strict=True):
            gc.collect()
            start, used = time.perf_counter(), time.process_time()
            action()
            found.append((time.perf_counter() - start, time.process_time() - used))
    return times


def generate(kind: str, records: int, folder: Path) -> Path:
    """Write a file of the given kind from the fixture's heading and changing records."""
    fixture = {"trace": "kernel_trace_4_registers.csv", "counters": "counter_collection_4.csv"}[kind]
    heading = (ARTIFACTS / "v3" / fixture).read_text(encoding="utf-8").split("\n", 1)[0]
    names = [f"void kernel_{n}<float, {n}>(float const*, float*, int)" for n in range(200)]
    path = folder / f"{kind}.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write(heading + "\n")
        for n in range(records):
            start = 10**15 + (n if kind == "trace" else n // 8) * 5000
            if kind == "trace":
                file.write(
                    f'"KERNEL_DISPATCH","Agent {4 + n % 8}",1,0,77,{n},{n % 200},"{names[n % 200]}",{n},{start},'
                    f"{start + 1000 + n % 997},0,0,{8 + n % 100},0,32,256,1,1,{256 * (1 + n % 300)},1,1\n"
                )
            else:
                at = n // 8
                file.write(
                    f'{at},{at},"Agent 4",1,77,77,{256 * (1 + at % 300)},{at % 200},"{names[at % 200]}",256,0,0,8,0,'
                    f'16,"COUNTER_{n % 8}",{n}.000000,{start},{start + 900}\n'
                )
    return path


def generate_wide(records: int, folder: Path, counters: int = 60) -> Path:
    """Write Rocprof v1's counter file: one record per dispatch, one column per counter with ten decimals."""
    heading = "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size"
    path = folder / "wide.csv"
    with path.open("w", encoding="utf-8") as file:
        file.write(heading + "," + ",".join(f"SQ_COUNTER_{n}_sum" for n in range(counters)) + "\n")
        for at in range(records):
            values = ",".join(f"{at * (n + 3) % 1_000_003}.0000000000" for n in range(counters))
            file.write(
                f'{at},"void kernel_{at % 200}<float, {at % 200}>(float const*, float*, int) [clone .kd]",4,0,{at},77,'
                f"77,{4096 * (1 + at % 300)},256,0,0,{8 + at % 100},4,32,64,{values}\n"
            )
    return path


def measure(path: Path, repeats: int) -> tuple[float, float]:
    """Print one line; return the ratios of wall and CPU time."""
    from pyarrow import csv as arrow

    from kprof.inputs import rocprof

    def ours() -> object:
        data = rocprof.read(path)
        return [data.table(name) for name in ("dispatches", "counters")]

    theirs, own = race([lambda: arrow.read_csv(path), ours], repeats)
    # Use the median of the ratios of each turn, because minimum times of the sides may be from different load
    # conditions.
    wall, cpu = (median(mine[i] / its[i] for its, mine in zip(theirs, own, strict=True)) for i in (0, 1))
    size = path.stat().st_size / 1e6
    fastest = [min(wall for wall, _ in found) for found in (theirs, own)]
    print(f"{path.name:24} {size:7.1f} MB   pyarrow {fastest[0]:6.3f} s   kprof {fastest[1]:6.3f} s, "
          f"{size / fastest[1]:4.0f} MB/s   wall {wall:4.2f}   CPU {cpu:4.2f}")  # fmt: skip
    return wall, cpu


def main() -> int:
    """Measure the generated files, and any named file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    turns = f"{options.repeats} turns: the best times and the median of the ratios"
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {turns}")
    with tempfile.TemporaryDirectory() as folder:
        generated = [generate(kind, options.records, Path(folder)) for kind in ("trace", "counters")]
        generated.append(generate_wide(options.records // 15, Path(folder)))
        ratios = [measure(path, options.repeats) for path in generated]
    for path in options.files:
        measure(path, options.repeats)
    wall, cpu = (max(one) for one in zip(*ratios, strict=True))
    print(f"worst ratio {wall:.2f} of wall time, {cpu:.2f} of CPU time; budget {BUDGET} of wall time")
    if os.getloadavg()[0] > (os.cpu_count() or 1) + 0.5:
        print("the machine is busy: wall time depends on what else runs")
    return int(wall > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
