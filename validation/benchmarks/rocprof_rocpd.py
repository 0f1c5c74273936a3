"""Compare kprof's time by kernel from rocpd databases with the bare SQL query, on the same file in the same run.

Run: ``python validation/benchmarks/rocprof_rocpd.py [--dispatches 2000000] [FILE ...]``.
"""

import argparse
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

BUDGET = 1.5
FIXTURE = Path(__file__).resolve().parent.parent.parent / "tests/artifacts/rocprof/rocpd/run.db"
QUERY = """SELECT s.display_name, k.agent_id, count(*), sum(k."end" - k.start) FROM rocpd_kernel_dispatch k
JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id GROUP BY s.display_name, k.agent_id"""


def race(actions: list[Callable[[], object]], repeats: int = 5) -> list[float]:
    """Return the minimum wall time of each action in seconds; actions alternate under the same load."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, found in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            found.append(time.perf_counter() - start)
    return [min(found) for found in times]


def generate(folder: Path, dispatches: int) -> Path:
    """Write the fixture's database with many dispatches of 200 kernels."""
    path = folder / "large.db"
    shutil.copy(FIXTURE, path)
    connection = sqlite3.connect(path)
    tables = dict(
        connection.execute("SELECT substr(name, 1, length(name) - 37), name FROM sqlite_master WHERE type='table'")
    )
    symbols, rows = tables["rocpd_info_kernel_symbol"], tables["rocpd_kernel_dispatch"]
    connection.execute(f"DELETE FROM {symbols}")
    connection.execute(f"DELETE FROM {rows}")
    connection.execute(f"DELETE FROM {tables['rocpd_pmc_event']}")
    connection.executemany(
        f"INSERT INTO {symbols} VALUES (?, ?, ?, 32, 64, 0)",
        ((n, f"k{n}.kd", f"void kernel_{n}<float, {n}>(float const*, float*, int)") for n in range(200)),
    )
    connection.executemany(
        f"INSERT INTO {rows} VALUES (?,77,77,12,?,?,1,5,?,?,0,0,256,1,1,4096,1,1,?)",
        ((n, n * 7 % 200, n, 10**15 + n * 5000, 10**15 + n * 5000 + 1000 + n % 997, n) for n in range(dispatches)),
    )
    connection.commit()
    connection.close()
    return path


def measure(path: Path) -> float:
    """Print one line; return the ratio."""
    from kprof.inputs import rocprof

    def bare() -> object:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        rows = connection.execute(QUERY).fetchall()
        connection.close()
        return rows

    rocprof.read(path)
    theirs, own = race([bare, lambda: rocprof.read(path).kernels])
    total = sum(row[3] for row in bare())
    assert total == int(rocprof.read(path).kernels["total_ns"].sum()), "the two sides disagree"
    size = path.stat().st_size / 1e6
    print(f"{path.name:24} {size:8.1f} MB   SQL {theirs:7.3f} s   kprof {own:7.3f} s   ratio {own / theirs:5.2f}")
    return own / theirs


def main() -> int:
    """Measure a generated database, and any named file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--dispatches", type=int, default=2_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ratio = measure(generate(Path(folder), options.dispatches))
    for path in options.files:
        measure(path)
    print(f"ratio {ratio:.2f}, budget {BUDGET}")
    return int(ratio > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
