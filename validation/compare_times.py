"""Compare the predicted times of a capture's kernels, command by command.

Usage: ``python validation/compare_times.py CAPTURE...``, with captures that ``kprof capture --operators`` wrote.
Analysis, page, gate, profile and the start of a search must name the same kernels with exactly the same time each.
Prints every difference, and exits with 1 if there is one. ``profile`` predicts a launch inside its program. If the
program uses more memory than the caches can hold, that time may be longer than the time of a repeated launch.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import kprof
from kprof.captures.model import Capture, CapturedKernel, CapturedLaunch
from kprof.captures.reader import read
from kprof.deadline import Deadline
from kprof.gate.captured import captured
from kprof.gate.config import KernelEntry
from kprof.hardware.machine import Product, load_gpu
from kprof.targets.captured import analysed
from kprof.targets.recompile import recorded
from kprof.tuning.executors.local import judged
from kprof.tuning.recorded.advise import opened
from kprof.tuning.trials.predicted import FUNCTION, version
from kprof.tuning.work import Judge, TuningTask, task_of
from kprof_analyzers.model.machine import machine_of

Times = Mapping[str, float | None]
"""Identities of kernels to the microseconds of their most frequent launch; ``None``: not known."""


def times_by_command(folder: Path) -> dict[str, Times]:
    """Return the times that each command gives to the kernels that a capture's program launched."""
    capture = read(folder)
    gpu = capture.head.gpu or capture.arch
    compiled = [kernel for kernel in analysed(capture, "", all_configs=False) if kernel.ok]
    launched = [kernel for kernel in compiled if kernel.launches]
    product = load_gpu(gpu)[1]
    return {
        "analyze": _analyzed(folder, compiled, page=False),
        "report": _analyzed(folder, compiled, page=True),
        "check": _gated(folder, gpu, launched),
        "profile": _profiled(folder, gpu, launched),
        "tune": _search_starts(folder, product, launched),
    }


def differences(folder: Path) -> list[str]:
    """Return one sentence for each time that differs from that of ``analyze``."""
    found = times_by_command(folder)
    reference = found["analyze"]
    cached = _fits_the_caches(read(folder))
    said = []
    for command, times in found.items():
        said += [f"{command} lacks {name}" for name in reference if name not in times]
        for name, time in times.items():
            known = reference.get(name)
            slower = command == "profile" and not cached and None not in (time, known) and (time or 0) >= (known or 0)
            if time != known and not slower:
                said.append(f"{name}: {known} µs by analyze, {time} µs by {command}")
    return said


def _analyzed(folder: Path, compiled: list[CapturedKernel], *, page: bool) -> Times:
    found = kprof.report(folder, keep_going=True) if page else kprof.analyze(folder, keep_going=True)
    assert [kernel.name for kernel in found.kernels] == [kernel.name for kernel in compiled]
    return {one.id: kernel.time_us for one, kernel in zip(compiled, found.kernels, strict=True) if one.launches}


def _gated(folder: Path, gpu: str, launched: list[CapturedKernel]) -> Times:
    wanted = {f"{folder}::{kernel.id}": kernel.id for kernel in launched}
    judged = captured(KernelEntry(target="capture"), str(folder), [gpu])
    return {wanted[one.recorded]: one.report.time_us for one in judged if one.recorded in wanted}


def _profiled(folder: Path, gpu: str, launched: list[CapturedKernel]) -> Times:
    grids = {kernel.id: next(iter(kernel.grids), None) for kernel in launched}
    found: dict[str, float | None] = {}
    for call in kprof.profile(folder, arch=[gpu]).calls:
        made = call.made
        if isinstance(made, CapturedLaunch) and grids.get(made.kernel) == made.grid:
            found.setdefault(made.kernel, call.timed.us)
    return found


def _search_starts(folder: Path, product: Product | None, launched: list[CapturedKernel]) -> Times:
    wanted = {kernel.id for kernel in launched}
    judge = Judge(FUNCTION, version())
    tasks: dict[str, TuningTask] = {}
    for each in recorded(str(folder))[0]:
        if each.kernel.id in wanted:
            with opened(each, product, run=False) as (subject, _):
                (job,) = subject.jobs(subject.problems[0], subject.knobs)
                target = (subject.product or subject.arch).name
                tasks[each.kernel.id] = task_of(job, subject.knobs, target, judge, subject.dependencies())
    answers = judged(tasks.values(), judge, Deadline(None))
    return {name: answers[task.key].time_us for name, task in tasks.items()}


def _fits_the_caches(capture: Capture) -> bool:
    arch, product = load_gpu(capture.head.gpu or capture.arch)
    peak = capture.peak_bytes
    return peak is not None and peak <= machine_of(arch, product, arch.wavefront_size).last_level_bytes


def main() -> int:
    """Print the differences."""
    found = [f"{folder}: {said}" for folder in sys.argv[1:] for said in differences(Path(folder))]
    print("\n".join(found) or "all commands give the same times")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
