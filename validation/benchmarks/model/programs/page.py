"""Write docs/validation/sol_execbench.md from the results that are kept in sol_execbench.json."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from validation.benchmarks.model.programs import scored
from validation.benchmarks.model.programs.chosen import By, Job

PAGES = Path(__file__).resolve().parents[4] / "docs" / "validation"
NAMES: Mapping[By, str] = {
    "agents": "Programs of Triton kernels that agents wrote",
    "eager": "The problems' own programs in torch, eager",
    "compiled": "The same through torch.compile",
}
WORST = 12
"""Rows of each table that are listed by themselves, the furthest from their time first."""

HEAD = """# Whole programs against SOL-ExecBench-ROCm

Written by `python -m validation.benchmarks.model.programs`. The published times are those of
williamqwu/sol-execbench-rocm at 0f2d867c: programs that agents wrote for its problems, on an MI350X whose clock is
held, and the problems' own torch programs on an MI355X with a free clock. 69 of its problems are used. Each program is
recorded without a GPU and predicted under the condition of its harness: two events around a run, and 512 MB written
before it (`flushed-dirty`). Torch's programs are predicted under `flushed`: programs of one product read weights as
large as the last-level cache at the full bandwidth of the memory, so that their harness leaves no lines to write back.

- *problems*: a problem may set constants, or it only judges, by the hash of its name. **Both halves have been seen by
  now.**
- *rows*: programs on one size. Of agents' programs those count whose time is Triton's to 95 %, and whose calls all have
  a time. Of torch's programs those count whose calls all have a time. A program that reads values that no kernel wrote
  has work without a time. Torch's programs were measured twice; rows whose two times differ by over 25 % are left out.
  These are two eager ones; the rule was made after both had been found far from their predicted times.
- *median*: predicted over measured. *width*: upper over lower end of the range, median.
- *pairs*: programs of one problem and size that were measured over 10 % apart: right, tied, wrong.

"""


def keep(
    by: By, version: str, jobs: Sequence[Job], found: Mapping[int, scored.Predicted], refused: Mapping[str, str]
) -> None:
    """Keep some rows of one table in the JSON file, and write the page.

    Args:
        by: authors of the programs.
        version: Triton release that compiled them.
        jobs: all jobs.
        found: predictions by job.
        refused: reasons why jobs did not run, by job.
    """
    path = PAGES / "sol_execbench.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    rows = [asdict(job) | (asdict(found[job.id]) if job.id in found else {}) for job in jobs]
    before = kept.get(by, {"rows": [], "refused": {}})
    # Numbers change when a row is not drawn any more, so that rows are kept by their problem.
    again = {job.problem for job in jobs}
    others = [row for row in before["rows"] if row["problem"] not in again]
    merged = {row["id"]: row for row in [*others, *rows]}
    numbers = {str(row["id"]) for row in others}
    left = {number: why for number, why in before["refused"].items() if number in numbers}
    kept[by] = {
        "triton": version,
        "rows": [merged[number] for number in sorted(merged)],
        "refused": {**left, **refused},
    }
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (PAGES / "sol_execbench.md").write_text(written(kept), encoding="utf-8")


def written(kept: Mapping[str, Any]) -> str:
    """Return the page as Markdown."""
    return HEAD + "\n".join(_section(by, kept[by]) for by in NAMES if by in kept)


def _section(by: By, table: Mapping[str, Any]) -> str:
    fields = [*Job.__dataclass_fields__]
    jobs = [Job(**{name: row[name] for name in fields if name in row}) for row in table["rows"]]
    found = {
        row["id"]: scored.Predicted(
            **{name: row[name] for name in scored.Predicted.__dataclass_fields__ if name in row}
        )
        for row in table["rows"]
        if "us" in row
    }
    rows = scored.counted(jobs, found)
    lines = [
        f"## {NAMES[by]}",
        "",
        f"Compiled with Triton {table['triton']}. {len(rows)} of {len(jobs)} rows count.",
        "",
    ]
    header, lined = scored.lines(rows, {"": found})
    lines += [_row(header[1:]), f"|---|{'---:|' * (len(header) - 2)}", *(_row(one[1:]) for one in lined)]
    if clocks := scored.clocks(rows, found):
        lines += ["", clocks]
    lines += ["", "Furthest from their time:", "", "| problem | size | measured | predicted | range | ratio |"]
    lines.append("|---|---|---:|---:|---:|---:|")
    for job in sorted(rows, key=lambda job: -abs(math.log(found[job.id].us / job.measured_us)))[:WORST]:
        one = found[job.id]
        inside = f"{one.low_us:,.0f} to {one.high_us:,.0f}"
        ratio = f"{one.us / job.measured_us:.2f}"
        lines.append(_row([job.problem, job.size, f"{job.measured_us:,.1f}", f"{one.us:,.1f}", inside, ratio]))
    left = [f"did not run: {why}" for why in table["refused"].values()]
    left += [f"no time: {why}" for one in found.values() for why in one.unknown]
    counts = sorted({why: left.count(why) for why in left}.items(), key=lambda item: -item[1])
    lines += ["", "Left out:", "", *(f"- {count} x {why}" for why, count in counts)] if counts else []
    return "\n".join([*lines, ""])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
