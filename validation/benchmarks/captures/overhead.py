"""Measure the additional time of a capture over the bare compiles of the same kernels.

Usage: ``overhead.py [--jobs N] [--rounds N] PROGRAM.py [ARGUMENTS]``.

One program runs five times, each in its own process, with cold caches except for ``again``. The kinds of runs alternate
over several rounds, so that all meet the same load; the minimum of each kind counts:

plain     the program on the simulated GPU, its launches stubbed: nothing is compiled, identified, noted or written
capture   ``kprof capture``
again     ``kprof capture`` with the cache of the run before
bare      as ``plain``, and each kernel that the capture compiled is compiled by ``triton.compile`` in the process
profile   ``kprof profile``: captured, the candidates of autotuners ranked, costs and what would pay

Costs are CPU seconds of the process and its children, user and system, because they vary less than wall time on a
shared machine. Wall seconds are also printed.
"""

import argparse
import contextlib
import os
import resource
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ARCH = "gfx942"


def inside(mode: str, program: list[str], folder: str) -> None:
    """Run the program in this process as ``plain`` or ``bare``: on the simulated GPU, without recording anything."""
    from kprof.captures.reader import read
    from kprof.compiler import environment as switches
    from kprof.recording import jobs
    from kprof.recording.command import RecordOptions, prepare
    from kprof.recording.files_read import Reads
    from kprof.recording.recorder import Recorder
    from kprof.recording.session import RecordingSession
    from kprof.recording.stub import RecordedKernel
    from kprof.recording.ticket import Ticket

    os.environ["TRITON_CACHE_DIR"] = f"{folder}/triton-{mode}"
    import triton.compiler

    compile_bare = triton.compiler.compile
    compiled = {kernel.id for kernel in read(Path(folder, "first")).kernels if kernel.ok} if mode == "bare" else set()
    session = RecordingSession(prepare(RecordOptions(ARCH, Path(folder, mode), use_cache=False)))

    def compile_one(self, source, target, options, backend):  # noqa: ANN001, ANN202
        del backend
        set_switches = {name: value for name, value in switches.relevant({}).items() if name != "TRITON_DEBUG"}
        identifier = jobs.identifier(source, target, options, set_switches) if compiled else ""
        if identifier in compiled:
            compiled.remove(identifier)
            with contextlib.suppress(Exception):
                compile_bare(source, target=target, options=options.__dict__)
        ticket = Ticket(str(id(source)), source.fn.fn.__name__, Path(folder))
        kernel = RecordedKernel(source, ticket, {}, lambda *_: None, lambda _: ({}, {}))
        candidate = self._context.candidate
        if candidate is not None:
            candidate.kernel = kernel
        return kernel

    Recorder.compile = compile_one
    Recorder.usable = lambda _self, _kernel: True
    Recorder.number = lambda *_: 0
    Recorder.finish = lambda *_: None
    Reads.watch = lambda _self: None
    session.start()
    sys.argv = program
    sys.path.insert(0, str(Path(program[0]).parent))
    runpy.run_path(program[0], run_name="__main__")
    session.finish()


def measured(command: list[str]) -> tuple[float, float]:
    """Return CPU and wall seconds of a command with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall


def one_round(program: list[str], jobs: int) -> Iterator[tuple[str, tuple[float, float]]]:
    """Run each kind once with its own caches; return name, CPU and wall seconds."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KPROF_CACHE_DIR"] = f"{folder}/cache"
        capture = [sys.executable, "-m", "kprof", "capture", "-q", "-j", str(jobs), "-o"]
        inside_run = [sys.executable, __file__, "--folder", folder, "--inside"]
        profile = [sys.executable, "-m", "kprof", "profile", "-q", "-j", str(jobs), "--arch", ARCH]
        runs = {
            "plain": [*inside_run, "plain", *program],
            "capture": [*capture, f"{folder}/first", "--", sys.executable, *program],
            "again": [*capture, f"{folder}/second", "--", sys.executable, *program],
            "bare": [*inside_run, "bare", *program],
            "profile": [*profile, "--", sys.executable, *program],
        }
        for mode, command in runs.items():
            if mode == "profile":
                os.environ["KPROF_CACHE_DIR"] = f"{folder}/cache-of-profile"
            yield mode, measured(command)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs=argparse.REMAINDER)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--inside", default="")
    parser.add_argument("--folder", default="")
    chosen = parser.parse_args()
    if chosen.inside:
        inside(chosen.inside, chosen.program, chosen.folder)
        return
    # Use one thread for torch's own arithmetic, because its waiting threads would use cores by spinning.
    os.environ["OMP_NUM_THREADS"] = "1"
    cost: dict[str, tuple[float, float]] = {}
    for _ in range(chosen.rounds):
        for mode, spent in one_round(chosen.program, chosen.jobs):
            print(f"{mode:<8} {spent[0]:7.1f} s CPU  {spent[1]:7.1f} s wall", flush=True)
            cost[mode] = min(cost.get(mode, spent), spent)
    plain, bare, recorded, again = (cost[mode][0] for mode in ("plain", "bare", "capture", "again"))
    compiles = bare - plain
    print(f"bare compiles {compiles:.1f} s CPU, captured {recorded - plain:.1f} s CPU:", end=" ")
    print(f"{(recorded - plain) / compiles - 1:+.1%}")
    print(f"again, all in the cache: {again - plain:.1f} s CPU, {(again - plain) / compiles:.1%} of bare compiles")


if __name__ == "__main__":
    main()
