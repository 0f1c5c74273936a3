"""Record the Triton tasks of AMD's AgentKernelArena without a GPU, and write docs/validation/agents.md.

Usage: ``python validation/record_tasks.py CHECKOUT [--write] [-j 2] [--subset] [TASK ...]``

Each task defines a benchmark and a test. Its unmodified benchmark is recorded; if the benchmark launches no kernel,
its test is recorded instead. The test compares results and ends at the first comparison, because kernels do not run
here.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation" / "agents.md"
KIND = "triton2triton"
COMMANDS = ("performance_command", "correctness_command")
SECONDS = 240
_ERROR = re.compile(r"(?:E +)?(?:\w+\.)*\w*(?:Error|Exception): .*")

HEAD = """# Tasks for agents

{which} of AMD's public AgentKernelArena at commit {commit}, recorded
unmodified on a simulated MI300X by `validation/record_tasks.py`, with Triton {triton}, torch {torch} and no GPU. A
task's own benchmark is run (its test where the benchmark launches nothing), and every kernel that it launches is
compiled. Kernels do not run: a test that compares results ends at the first comparison, and launches less.

{summary}

| tasks | launch kernels | all of them compile | launches | specialisations | compiled |
|---|---:|---:|---:|---:|---:|
"""


@dataclass(frozen=True)
class Task:
    """Result of a task.

    Attributes:
        name: the task's folder below ``tasks``.
        launches: number of recorded launches.
        kernels: names of the kernels.
        compiled, specialisations: number of compiled specialisations, and number of all.
        why: reason why it launched nothing or a kernel did not compile; empty if there is none.
    """

    name: str
    launches: int = 0
    kernels: tuple[str, ...] = ()
    compiled: int = 0
    specialisations: int = 0
    why: str = ""


def tasks(checkout: Path) -> list[Path]:
    """Return the folders of the tasks whose starting point is a Triton kernel."""
    return sorted(file.parent for file in (checkout / "tasks" / KIND).rglob("config.yaml") if file.is_file())


def subset(checkout: Path) -> list[str]:
    """Return the tasks that the arena recommends for a short run."""
    text = (checkout / "tasks" / KIND / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^- ({KIND}/\S+)$", text, re.MULTILINE)


def recorded(folder: Path, name: str) -> Task:
    """Record a task by its benchmark, or else by its test."""
    settings = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    found = Task(name, why="has neither a benchmark nor a test")
    for command in COMMANDS:
        lines = settings.get(command) or []
        if not lines:
            continue
        now = _capture(folder, " && ".join([lines] if isinstance(lines, str) else lines), name)
        if now.launches or not found.launches:
            found = now
        if found.launches:
            break
    return found


def _capture(folder: Path, command: str, name: str) -> Task:
    with tempfile.TemporaryDirectory() as place:
        work = Path(place) / "task"
        shutil.copytree(folder, work)
        summary = Path(place) / "summary.json"
        start = [sys.executable, "-m", "kprof", "capture", "--arch", "MI300X", "-o", f"{place}/capture", "-j", "1"]
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        try:
            ran = subprocess.run(
                [*start, "--json", str(summary), "--", "bash", "-c", command],
                cwd=work,
                env={**os.environ, "PATH": path},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Task(name, why=f"did not end in {SECONDS} s")
        found: dict[str, Any] = {"kernels": [], "launches": 0}
        if summary.is_file():
            found = json.loads(summary.read_text(encoding="utf-8"))
    kernels = found["kernels"]
    bad = [f"{kernel['name']}: {kernel['error']}" for kernel in kernels if kernel["status"] != "ok"]
    why = bad[0] if bad else "" if kernels else _said(ran.stdout, place)
    return Task(
        name, found["launches"], tuple(sorted({kernel["name"] for kernel in kernels})), len(kernels) - len(bad),
        len(kernels), " ".join(why.split())[:200],
    )  # fmt: skip


def _said(printed: str, place: str) -> str:
    """Return the program's last error, or its last line, without kprof's own output after it."""
    lines = [line.strip() for line in printed.partition(f"{place}/capture: ")[0].splitlines() if line.strip()]
    errors = [line.removeprefix("E ").strip() for line in lines if _ERROR.match(line)]
    return (errors or lines or ["it printed nothing"])[-1]


def _launches(count: int) -> str:
    return "1 launch" if count == 1 else f"{count:,} launches"


def page(found: Sequence[Task], commit: str, which: str) -> str:
    """Return the page: a row for each group of tasks, then every task with the reason for missing launches."""
    from importlib import metadata

    launching = [task for task in found if task.launches]
    good = [task for task in launching if task.compiled == task.specialisations]
    summary = (
        f"**{len(launching)} of {len(found)} tasks launch kernels, and of {len(good)} all compile.** What "
        "keeps the\nothers back stands below, in their own words. Tasks whose kernel an agent writes have none yet."
    )
    versions = {"triton": metadata.version("triton"), "torch": metadata.version("torch").partition("+")[0]}
    lines = [HEAD.format(commit=commit, which=which, summary=summary, **versions).rstrip("\n")]
    groups = sorted({task.name.rpartition("/")[0] for task in found})
    for group in groups:
        mine = [task for task in found if task.name.rpartition("/")[0] == group]
        own = [task for task in mine if task.launches]
        cells = [
            len(own), sum(task.compiled == task.specialisations for task in own), sum(task.launches for task in mine),
            sum(task.specialisations for task in mine), sum(task.compiled for task in mine),
        ]  # fmt: skip
        lines.append(f"| {group}, {len(mine)} | " + " | ".join(f"{cell:,}" for cell in cells) + " |")
    lines += ["", "## What kept tasks back", "", "| task | launches | compiled | why |", "|---|---:|---:|---|"]
    for task in found:
        if task.why:
            why = task.why.replace("|", "\\|").replace("<", "&lt;")
            lines.append(f"| {task.name} | {task.launches:,} | {task.compiled} of {task.specialisations} | {why} |")
    lines += ["", "## Tasks whose kernels all compile", ""]
    lines += [f"- {task.name}: {', '.join(task.kernels)}; {_launches(task.launches)}" for task in good if not task.why]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Record the tasks, and print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("names", nargs="*", metavar="TASK", help="tasks whose name has this; all by default")
    parser.add_argument("--subset", action="store_true", help="those that the arena recommends for a short run")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    asked = parser.parse_args()
    folders = {str(folder.relative_to(asked.checkout / "tasks")): folder for folder in tasks(asked.checkout)}
    names = [*asked.names, *(subset(asked.checkout) if asked.subset else ())]
    chosen = {name: folder for name, folder in folders.items() if not names or any(part in name for part in names)}
    if not chosen:
        parser.error(f"{asked.checkout} has no such Triton task below tasks/")
    command = ["git", "-C", str(asked.checkout), "rev-parse", "--short=9", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    found = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        for task in pool.map(recorded, chosen.values(), chosen):
            found.append(task)
            print(
                f"{task.name}: {task.launches} launches, {task.compiled} of {task.specialisations}. {task.why}",
                flush=True,
            )
    which = "The Triton tasks"
    if names:
        which = f"{len(chosen)} of the {len(folders)} Triton tasks"
    if asked.subset:
        which += " (with all that it recommends for a short run)"
    text = page(found, commit, which)
    if asked.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
