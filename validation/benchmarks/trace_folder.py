"""Time queries of a folder of traces with one process, two processes, and a Dask cluster with a killed worker.

    python validation/benchmarks/trace_folder.py [--traces 300] [--megabytes 1] [--from FOLDER]

Prints wall seconds of each command and whether its document is that of one process, byte by byte. The cluster is a
scheduler and two worker processes on this machine. A worker is killed by SIGKILL after a third of the time of an
undisturbed run.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

QUESTIONS = ("breakdown", "top", "gaps", "ops", "steps", "tree", "ranks")
_START = "from distributed.cli.dask_{what} import main; main()"


def traces(folder: Path, many: int, megabytes: float, given: Path | None) -> list[Path]:
    """Create the traces: generated ones, or repeated links to the given ones until there are enough."""
    if given is None:
        made = folder / "generated.json"
        here = Path(__file__).parent / "trace_generate.py"
        subprocess.run([sys.executable, str(here), str(megabytes), str(made)], check=True, capture_output=True)
        sources = [made]
    else:
        sources = sorted(p for p in given.rglob("*") if p.name.endswith((".json", ".json.gz")))
    (folder / "traces").mkdir()
    found = []
    for number in range(many):
        source = sources[number % len(sources)]
        place = folder / "traces" / f"{number:04}_{source.name}"
        place.symlink_to(source.resolve())
        found.append(place)
    return found


def asked(
    question: str, folder: Path, *options: str, kill_after: float | None = None, victim: int = 0
) -> tuple[float, bytes, str]:
    """Return wall seconds, the document, and standard error; a worker is killed after some seconds."""
    command = [sys.executable, "-m", "kprof", "trace", question, str(folder), "--json", "-", *options]
    start = time.monotonic()
    ran = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if kill_after is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            ran.wait(kill_after)
        victim = victim or next(iter(workers_of(ran.pid)), 0)
        if not victim:
            raise SystemExit(f"{question}: there was no worker to kill after {kill_after:.1f} s")
        os.kill(victim, signal.SIGKILL)
    out, err = ran.communicate()
    if ran.returncode:
        raise SystemExit(f"{' '.join(command)}: {err.decode()}")
    return time.monotonic() - start, out, err.decode()


def workers_of(process: int) -> list[int]:
    """Return the Python processes that it started for reading: those with most processor time."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                spawned = b"spawn_main" in (folder / "cmdline").read_bytes()
                if spawned and int(fields[1]) == process:
                    found.append((int(fields[11]), int(folder.name)))
    return [pid for _, pid in sorted(found, reverse=True)]


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers, each a process; return the scheduler's address."""
    address, nowhere = folder / "scheduler.json", subprocess.DEVNULL
    start = [sys.executable, "-c", _START.format(what="scheduler"), "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*start, "--scheduler-file", str(address)], stdout=nowhere, stderr=nowhere)
    begin = [sys.executable, "-c", _START.format(what="worker"), "--scheduler-file", str(address), "--no-dashboard"]
    one = [*begin, "--nthreads", "1", "--nworkers", "1"]
    while not address.exists() or not address.read_text().endswith("}"):
        time.sleep(0.1)
    workers = [subprocess.Popen(one, stdout=nowhere, stderr=nowhere) for _ in range(2)]
    try:
        yield json.loads(address.read_text())["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.terminate()
            process.wait()


def row(question: str, folder: Path, where: str, workers: list[subprocess.Popen[bytes]]) -> str:
    """Run one query in all configurations."""
    alone, known, _ = asked(question, folder, "-j", "1")
    cells = [f"{alone:.1f}"]
    two, found, _ = asked(question, folder, "-j", "2")
    cells.append(f"{two:.1f} {same(found, known)}")
    seconds, found, err = asked(question, folder, "-j", "2", kill_after=1 + two / 3)
    told = "" if "worker process died" in err else " (not noticed)"
    cells.append(f"{seconds:.1f} {same(found, known)}{told}")
    dask, found, _ = asked(question, folder, "--scheduler", where)
    cells.append(f"{dask:.1f} {same(found, known)}")
    # Each worker is a nanny and the working process, which the nanny restarts.
    victim = workers_of(workers[0].pid)[0]
    seconds, found, _ = asked(question, folder, "--scheduler", where, kill_after=1 + dask / 3, victim=victim)
    cells.append(f"{seconds:.1f} {same(found, known)}")
    return f"| {question} | " + " | ".join(cells) + " |"


def same(found: bytes, known: bytes) -> str:
    """Return in words whether two documents are equal."""
    return "equal" if found == known else "OTHER"


def main() -> None:
    """Run all queries in all configurations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=300)
    parser.add_argument("--megabytes", type=float, default=1)
    parser.add_argument("--from", dest="given", type=Path)
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp())
    try:
        files = traces(work, options.traces, options.megabytes, options.given)
        size = sum(file.stat().st_size for file in files) / 1e6
        print(f"{len(files):,} traces, {size:,.0f} MB\n")
        print("| question | one process | two | two, one killed | Dask, two workers | Dask, one killed |")
        print("|---|---|---|---|---|---|")
        with cluster(work) as (where, workers):
            for question in QUESTIONS:
                print(row(question, work / "traces", where, workers), flush=True)
    finally:
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
