"""Run every bundled kernel on the GPU of this machine: all cases and checks against the reference, then the times.

Correctness is checked first, several kernels at a time, each in its own process. Then the full cases are timed one by
one. Writes a JSON document and a Markdown table; the exit code is 1 when a result is wrong or a kernel failed, 2
without a GPU.

    python validation/check_kernels_on_device.py --json device.json --markdown device.md
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import msgspec

from kprof.bench.document import BenchTask, Device, Measurement
from kprof.bench.pool import Runner
from kprof.errors import KprofError
from kprof.kernel_spec import resolve_fp8
from kprof.targets import library as kernel_library


def tasks_of(name: str, device: Device, *, full: bool, checks: bool) -> list[BenchTask]:
    """Return every case and check of a kernel, cases first."""
    kernel = kernel_library.load(name)
    found = []
    if full:
        found += [BenchTask(name, case, kernel.problem(device.arch, case), "triton") for case in kernel.shapes]
    if checks:
        for check, what in kernel.checks.items():
            shape = resolve_fp8(what.shape, device.arch)
            found.append(BenchTask(name, f"check:{check}", shape, "triton", config=dict(what.config)))
    return [msgspec.structs.replace(task, device=device, rep_ms=40.0, warmup_ms=10.0) for task in found]


def check(tasks: Iterable[BenchTask], deadline: float) -> list[Measurement]:
    """Compare each task with its reference, in one process unless that process dies."""
    results = []
    with Runner(timeout=240) as runner:
        for task in tasks:
            if time.monotonic() > deadline:
                lost = Measurement(task.target, task.case, task.shape, task.provider, "timeout", message="no time left")
                results.append(lost)
                continue
            results.append(runner.measure(msgspec.structs.replace(task, check_only=True)))
            print(line(results[-1]), flush=True)
    return results


def line(found: Measurement) -> str:
    """Return one result as one line."""
    worst = max((e.worst_ratio or 0.0 for e in found.errors), default=None)
    timing = f" {found.timing.median:.4f} ms" if found.timing else ""
    error = "" if worst is None else f" {worst:.3g} of the tolerance"
    percent = f" {found.percent:.0f} % of {found.bound}" if found.percent is not None else ""
    message = f": {found.message[:400]}" if found.message else ""
    return f"{found.status:13s} {found.kernel} {found.case}{error}{timing}{percent}{message}"


def table(device: Device, checked: list[Measurement], timed: list[Measurement]) -> str:
    """Return a Markdown table of errors and times."""
    times = {(m.kernel, m.case): m for m in timed}
    versions = ", ".join(f"{k} {v}" for k, v in device.versions.items())
    rows = [
        f"{device.name}, {versions}\n",
        "| kernel | case | shape | result | largest error | of the tolerance | ms | TFLOP/s | GB/s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for found in checked:
        worst = max(found.errors, key=lambda e: e.worst_ratio or 0.0, default=None)
        time_of = times.get((found.kernel, found.case))
        shape = " ".join(f"{k}={v}" for k, v in found.shape.items())
        cells = [found.kernel, found.case, shape, found.status.replace("_", " ")]
        cells.append(f"{worst.max_absolute:.2g}" if worst and worst.max_absolute is not None else "")
        cells.append(f"{worst.worst_ratio:.2f}" if worst and worst.worst_ratio is not None else "")
        timing = time_of.timing if time_of else None
        cells.append(f"{timing.median:.4f}" if timing else "")
        cells.append(f"{time_of.tflops:.1f}" if time_of and time_of.tflops and timing else "")
        cells.append(f"{time_of.gbs:,.0f}" if time_of and time_of.gbs and timing else "")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def main() -> int:
    """Check and time the kernels, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("kernels", nargs="*", help="default: all")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--jobs", type=int, default=6, help="kernels checked at a time")
    parser.add_argument("--no-full", action="store_true", help="the small checks only")
    parser.add_argument("--no-checks", action="store_true", help="the full cases only")
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after this time")
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    try:
        with Runner() as runner:
            device = runner.describe({}, measure=not arguments.no_times)
    except KprofError as error:
        print(error, file=sys.stderr)
        return 2
    names = arguments.kernels or list(kernel_library.bundled())
    groups = [tasks_of(name, device, full=not arguments.no_full, checks=not arguments.no_checks) for name in names]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        checked = [m for results in pool.map(lambda group: check(group, deadline), groups) for m in results]
    right = {(m.kernel, m.case) for m in checked if m.status == "ok" and not m.case.startswith("check:")}
    timed: list[Measurement] = []

    def write() -> None:
        document = {"device": device, "checked": checked, "timed": timed}
        if arguments.json:
            arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=1))
        if arguments.markdown:
            arguments.markdown.write_text(table(device, checked, timed), encoding="utf-8")

    write()
    with Runner(timeout=240) as runner:
        for task in (t for group in groups for t in group):
            if arguments.no_times or time.monotonic() > deadline or (Path(task.target).stem, task.case) not in right:
                continue
            timed.append(runner.measure(task))
            print(line(timed[-1]), flush=True)
    write()
    counts = json.dumps({s: sum(m.status == s for m in checked) for s in dict.fromkeys(m.status for m in checked)})
    print(f"{len(checked)} results of {len(names)} kernels: {counts}; {len(timed)} timed")
    return 1 if any(m.status not in {"ok", "unsupported", "unchecked"} for m in checked) else 0


if __name__ == "__main__":
    sys.exit(main())
