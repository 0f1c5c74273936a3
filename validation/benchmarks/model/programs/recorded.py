"""Record programs with ``kprof capture``, in batches; existing batches are not recorded again."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from validation.benchmarks.model.programs.chosen import Job, problems_of, sources_of, written

BATCH = 14
_CHILD = Path(__file__).with_name("child.py")


def prepare(work: Path, mirror: Path, jobs: Sequence[Job]) -> None:
    """Write the input of the recorded processes: definitions, reference programs, and the programs."""
    problems = problems_of(mirror)
    chosen = {job.problem: problems[job.problem] for job in jobs}
    for folder in ("references", "programs", "captures"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    (work / "problems.json").write_text(json.dumps(chosen), encoding="utf-8")
    for name, problem in chosen.items():
        (work / "references" / f"{name}.py").write_text(problem["reference"], encoding="utf-8")
    for blob, text in sources_of(mirror, [job.blob for job in jobs if job.blob]).items():
        (work / "programs" / f"{blob}.py").write_text(text, encoding="utf-8")


def record(work: Path, jobs: Sequence[Job], arch: str, triton: str, seconds: float) -> Iterator[tuple[Path, Any]]:
    """Yield each batch's capture with the results of its jobs, by their numbers as text.

    Args:
        work: folder that :func:`prepare` filled.
        jobs: jobs to record.
        arch: the GPU.
        triton: folder with the Triton that was measured, put before the installed one; empty: the installed one.
        seconds: time limit of a batch.
    """
    for first in range(0, len(jobs), BATCH):
        some = jobs[first : first + BATCH]
        name = arch if some[0].by == "agents" else f"{arch}-{some[0].by}"
        capture = work / "captures" / f"{name}-{some[0].id}-{some[-1].id}-{len(some)}"
        listed, told = capture.with_suffix(".json"), capture.with_suffix(".told")
        if not (capture / "journal").is_dir():
            listed.write_text(written(some), encoding="utf-8")
            _capture(capture, [sys.executable, str(_CHILD), str(listed), str(work)], arch, triton, seconds)
        yield capture, json.loads(told.read_text(encoding="utf-8")) if told.is_file() else {}


def _capture(capture: Path, program: Sequence[str], arch: str, triton: str, seconds: float) -> None:
    path = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH", ""), triton)))
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": path}
    command = [
        sys.executable,
        "-m",
        "kprof",
        "capture",
        "--arch",
        arch,
        "--operators",
        "-o",
        str(capture),
        "--force",
        "-q",
    ]
    try:
        subprocess.run([*command, "--", *program], env=environment, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        print(f"{capture.name}: not done within {seconds:g} s", file=sys.stderr)
