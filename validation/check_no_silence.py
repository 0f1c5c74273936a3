"""Check that each bundled kernel with a predicted time above twice its limit has a finding.

    nice python validation/check_no_silence.py [--arch MI300X,MI355X,MI250X] [--kernels gemm,softmax] [-j 2]

Every case of every kernel and part is analysed with its own configuration. The time of the launch itself is excluded
from the comparison. The script prints the numbers of analysed and skipped cases with the reasons, the kernels that
could run in half the time, and their first findings. The exit code is 1 if such a kernel has no finding.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers"), str(ROOT / "validation")]
HALF = 2.0


def reports(gpus: list[str], names: list[str], workers: int) -> Iterator[tuple[str, Any]]:
    """Yield each case's description with its analysis, or with the error if it cannot be analysed."""
    from dataclasses import replace

    from survey_rules import jobs

    from kprof.compiler.compile import compile_many
    from kprof.errors import KprofError
    from kprof.hardware.machine import find_product
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import loaded
    from kprof_analyzers.pipeline import analyze

    for gpu in gpus:
        wanted = list(jobs([gpu], names, CompileOptions(), all_cases=True))
        for outcome in compile_many([job.request for job in wanted], workers):
            job = wanted[outcome.index]
            where = f"{job.name} {gpu} {dict(job.problem)}"
            try:
                yield where, analyze(replace(loaded(job, outcome.result()), product=find_product(gpu)), model=True)
            except KprofError as error:
                yield where, error


def could_run_in_half(report: Any) -> bool | None:
    """Return whether the kernel could run in half its time; ``None`` if its time is not predicted."""
    from msgspec import UNSET

    model = report.model
    if model is UNSET or model.time_us is None or not model.speed_of_light_us:
        return None
    return bool(model.time_us * (1 - model.shares.get("launch", 0.0)) >= HALF * model.speed_of_light_us)


def reason(error: Any) -> str:
    """Return the first line of an error, without the addresses that differ between kernels."""
    first = error.message.splitlines()[0]
    return re.sub(r"0x[0-9a-f]+", "0x…", first)[:160]


def main() -> int:
    """Analyse all kernels and print the result."""
    from kprof.errors import KprofError

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="MI300X,MI355X,MI250X")
    parser.add_argument("--kernels", default="")
    parser.add_argument("--jobs", "-j", type=int, default=2)
    options = parser.parse_args()
    counts: Counter[bool | None] = Counter()
    silent: list[str] = []
    first: Counter[str] = Counter()
    left_out: dict[str, list[str]] = {}
    for where, report in reports(options.arch.split(","), list(filter(None, options.kernels.split(","))), options.jobs):
        if isinstance(report, KprofError):
            left_out.setdefault(reason(report), []).append(where)
            continue
        half = could_run_in_half(report)
        counts[half] += 1
        if half and report.findings:
            first[report.findings[0].rule] += 1
        elif half:
            silent.append(where)
    missing = sum(map(len, left_out.values()))
    print(
        f"{sum(counts.values())} looked at, {missing} left out, {counts[None]} without a time, "
        f"{counts[True]} could run in half the time"
    )
    for why, names in sorted(left_out.items(), key=lambda item: -len(item[1])):
        print(f"left out {len(names)}: {why}\n    " + "\n    ".join(names))
    print("what stands first:", ", ".join(f"{rule} {count}" for rule, count in first.most_common()) or "nothing")
    for where in silent:
        print(f"no finding: {where}")
    return 1 if silent else 0


if __name__ == "__main__":
    raise SystemExit(main())
