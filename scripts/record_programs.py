"""Record unmodified public packages, and write docs/validation/programs.md from what came of it.

Usage: ``python scripts/record_programs.py [NAME ...]``, with the packages that ``scripts/programs`` import installed.
A package that is not there is said to be missing.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = Path(__file__).with_name("programs")
PAGE = ROOT / "docs" / "validation" / "programs.md"
TIME_LIMIT = 1800

HEAD = """# Programs that were recorded

`python scripts/record_programs.py` runs unmodified public packages under `kprof capture --arch MI300X`, without a GPU,
and writes this page. *Counted* is the number of launches that a counter in Triton's own entry saw, put there before the
program starts; it has to be the number in the capture. *Ran* counts calls of operators that the package registers for
the device, *answered* those that nothing ran for, by name below the table.

| program | counted | launches | kernels | specialisations | compiled | ran | answered | status |
|---|---:|---:|---:|---:|---:|---:|---:|---|
"""


def recorded(program: Path) -> tuple[dict[str, Any] | None, int | None, str]:
    """The capture's summary, the launches counted, and what the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder) / "summary.json"
        start = [sys.executable, "-m", "kprof", "capture", "--arch", "MI300X", "-o", f"{folder}/capture"]
        command = [*start, "--json", str(summary), "--", sys.executable, str(PROGRAMS / "counted.py"), str(program)]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        counted = [line for line in ran.stdout.splitlines() if line.startswith("counted ")]
        found = json.loads(summary.read_text(encoding="utf-8")) if summary.is_file() else None
        return found, int(counted[-1].split()[1]) if counted else None, ran.stdout + ran.stderr


def version(package: str) -> str:
    """A package with its version, or ``NAME ($VARIABLE)``, a checkout whose folder the variable names, with its commit.

    Raises:
        LookupError: it is not there.
    """
    name, _, variable = package.partition(" ($")
    if variable:
        folder = os.environ.get(variable.removesuffix(")"))
        if folder is None:
            raise LookupError(f"{package} is not set")
        command = ["git", "-C", folder, "rev-parse", "--short", "HEAD"]
        return f"{name} {subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()}"
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        raise LookupError(f"{name} is not installed") from None


def row(program: Path) -> tuple[str, list[str]]:
    """The row of a program, and what else has to be said of it."""
    about = program.read_text(encoding="utf-8").splitlines()[0].strip('"')
    packages, _, what = about.partition(": ")
    try:
        versions = [version(package) for package in packages.split(", ")]
    except LookupError as missing:
        return f"| {about} | | | | | | | | {missing.args[0]} |", []
    began = time.monotonic()
    found, counted, printed = recorded(program)
    seconds = time.monotonic() - began
    name = f"{', '.join(versions)}: {what}"
    if found is None:
        return f"| {name} | | | | | | | | nothing recorded |", printed.splitlines()[-3:]
    kernels, operators = found["kernels"], found["operators"]
    unrun = operators["answered_without_running"]
    numbers = [
        "?" if counted is None else counted,
        found["launches"],
        len({kernel["name"] for kernel in kernels}),
        len(kernels),
        sum(kernel["status"] == "ok" for kernel in kernels),
        sum(operators["ran"].values()),
        sum(operator["calls"] for operator in unrun),
    ]
    status = f"exit status {found['program']['status']}, {seconds:.0f} s"
    said = [f"{program.stem}: {o['name']} answered by {o['how']}, {o['calls']} calls" for o in unrun]
    said += [f"{program.stem}: {k['name']}: {k['error']}" for k in kernels if k["error"]]
    said += [f"{program.stem}: {line}" for line in printed.splitlines() if line.startswith("failed ")]
    return f"| {name} | {' | '.join(map(str, numbers))} | {status} |", said


def main() -> None:
    """Record the programs that are named, all of them without a name."""
    wanted = set(sys.argv[1:])
    programs = [
        p
        for p in sorted(PROGRAMS.glob("*.py"))
        if p.name not in {"counted.py", "absent.py"} and (not wanted or p.stem in wanted)
    ]
    rows, said = [], []
    for program in programs:
        line, more = row(program)
        print(line)
        rows.append(line)
        said += more
    text = HEAD + "\n".join(rows) + "\n"
    if said:
        text += "\nWhat did not run or compile:\n\n" + "\n".join(f"- {line}" for line in dict.fromkeys(said)) + "\n"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
