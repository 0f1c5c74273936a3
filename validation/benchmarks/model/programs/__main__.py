"""Draw, record, predict and judge: ``python -m validation.benchmarks.model.programs``."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import get_args

ROOT = Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

from validation.benchmarks.model import programs  # noqa: E402  # the path comes first
from validation.benchmarks.model.programs import page, scored  # noqa: E402
from validation.benchmarks.model.programs.chosen import SIZES, By, half_of, jobs_of, sample, torch_jobs  # noqa: E402
from validation.benchmarks.model.programs.recorded import prepare, record  # noqa: E402

TIMED: Mapping[By, str] = {"agents": "flushed-dirty", "eager": "flushed", "compiled": "flushed"}
"""Condition of the harness by author: it writes 512 MB before each run of an agent's program, with events around it."""


def main() -> None:
    """Run all steps; existing recordings are used again."""
    options = _options()
    from kprof.condition import CONDITIONS

    named = (options.conditions or f"{TIMED[options.by]},warm").split(",")
    if unknown := [name for name in named if name not in CONDITIONS]:
        raise SystemExit(f"no such condition: {', '.join(unknown)}; there are {', '.join(CONDITIONS)}")
    if options.by == "agents":
        jobs = jobs_of(options.data, options.mirror, options.sizes.split(","))
    else:
        jobs = torch_jobs(options.data, options.mirror, options.by)
    jobs = [job for job in jobs if options.half in {"all", half_of(job.problem)}]
    jobs = sample(jobs, options.rows, options.seed)
    problems = {job.problem for job in jobs}
    print(f"{len(jobs)} rows of {len(problems)} problems, seed {options.seed}, {options.half} of the problems")
    prepare(options.work, options.mirror, jobs)
    files = {job.id: f"{job.blob or job.problem}.py" for job in jobs}
    found: dict[str, dict[int, scored.Predicted]] = {name: {} for name in named}
    refused: dict[str, str] = {}
    for capture, told in record(options.work, jobs, options.arch, options.triton_path, options.timeout):
        refused |= {number: said for number, said in told.items() if said != "ok"}
        if (capture / "journal").is_dir():
            for name in named:
                found[name] |= scored.predictions(capture, options.arch, CONDITIONS[name], files)
        print(f"{capture.name}: {sum(said == 'ok' for said in told.values())} of {len(told)} ran", flush=True)
    rows = scored.counted(jobs, found[named[0]])
    print(f"\n{len(rows)} of {len(jobs)} rows count: {len(refused)} did not run, the others have calls without"
          " a time, or operators of torch's")  # fmt: skip
    print(scored.table(rows, found) if rows else "nothing to judge")
    if options.write:
        page.keep(options.by, options.write, jobs, found[named[0]], refused)
    if options.details:
        details = [
            asdict(job) | {name: asdict(answers[job.id]) for name, answers in found.items() if job.id in answers}
            for job in jobs
        ]
        Path(options.details).write_text(json.dumps({"rows": details, "refused": refused}, indent=1), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=programs.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with sol_execbench_rocm_*.csv.gz")
    parser.add_argument("--mirror", type=Path, required=True, help="bare mirror of williamqwu/sol-execbench-rocm")
    parser.add_argument("--work", type=Path, required=True, help="folder for recordings, which are used again")
    parser.add_argument("--arch", default="MI350X", help="the GPU that was measured: MI355X for torch's")
    parser.add_argument("--triton-path", default="", help="folder with the Triton that was measured, 3.5.1, unpacked")
    parser.add_argument("--by", choices=get_args(By), default="agents", help="who wrote the programs")
    parser.add_argument("--half", choices=("constants", "judge", "all"), default="all", help="of the problems")
    parser.add_argument("--sizes", default=",".join(SIZES), help="of each problem")
    parser.add_argument("--rows", type=int, default=0, help="so many, whole problems at a time; 0: all")
    parser.add_argument("--seed", type=int, default=0, help="of the order in which problems are drawn")
    parser.add_argument("--conditions", default="", help="to predict under; the first one counts")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for a batch of recordings")
    parser.add_argument("--write", metavar="RELEASE", help="write the page, with Triton's release that compiled")
    parser.add_argument("--details", help="file for every prediction, as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
