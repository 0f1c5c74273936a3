"""Record unmodified public packages, and write the results to docs/validation/programs.md.

Usage: ``python validation/record_programs.py [NAME ...]``, with the packages that ``validation/programs`` import
installed. A package that is not installed is reported as missing. With names, the page's rows of other programs are
kept.
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
HELPERS = {"counted", "absent", "aiter_checkout", "aiter_pairs"}
PAGE = ROOT / "docs" / "validation" / "programs.md"
TIME_LIMIT = 1800

HEAD = """# Programs that were recorded

`python validation/record_programs.py` runs unmodified public packages under `kprof capture --arch MI300X`, without a
GPU, and writes this page. *Counted* is the number of launches that a counter in Triton's own entry saw, put there
before the program starts; it has to be the number in the capture. *Ran* counts calls of operators that the package
registers for the device, *idle* those of them in which nothing was launched, *answered* calls of operators that nothing
ran for, *torch's* those of torch's own operators, which no kernel of Triton's computes. Names are below the table. A
dash: not counted when the row was recorded. Code that torch.compile has made launches past that entry: it is not in
*counted*.

| program | counted | launches | kernels | specialisations | compiled | ran | idle | answered | torch's | status |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|
"""
COLUMNS = 11
SAID = "\nWhat did not run, launch or compile:\n\n"


def recorded(program: Path) -> tuple[dict[str, Any] | None, int | None, str]:
    """Return the capture's summary, the number of counted launches, and the program's output."""
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
        LookupError: the package or the checkout does not exist.
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
    """Return the row of a program, and further remarks on it."""
    about = program.read_text(encoding="utf-8").splitlines()[0].strip('"')
    packages, _, what = about.partition(": ")
    try:
        versions = [version(package) for package in packages.split(", ")]
    except LookupError as missing:
        return f"| {about} {'| ' * (COLUMNS - 1)}{missing.args[0]} |", []
    began = time.monotonic()
    found, counted, printed = recorded(program)
    seconds = time.monotonic() - began
    name = f"{', '.join(versions)}: {what}"
    if found is None:
        last = [f"{program.stem}: {line}" for line in printed.splitlines()[-3:]]
        return f"| {name} {'| ' * (COLUMNS - 1)}nothing recorded |", last
    kernels, operators = found["kernels"], found["operators"]
    unrun = operators["answered_without_running"]
    numbers = [
        "?" if counted is None else counted,
        found["launches"],
        len({kernel["name"] for kernel in kernels}),
        len(kernels),
        sum(kernel["status"] == "ok" for kernel in kernels),
        sum(operators["ran"].values()),
        sum(operators["launched_nothing"].values()),
        sum(operator["calls"] for operator in unrun),
        sum(operators["torch"].values()),
    ]
    status = f"exit status {found['program']['status']}, {seconds:.0f} s"
    said = [f"{program.stem}: {o['name']} answered by {o['how']}, {o['calls']} calls" for o in unrun]
    idle = operators["launched_nothing"].items()
    said += [f"{program.stem}: {operator} launched nothing, {calls} calls" for operator, calls in idle]
    said += [f"{program.stem}: {k['name']}: {k['error']}" for k in kernels if k["error"]]
    said += [f"{program.stem}: {line}" for line in printed.splitlines() if line.startswith("failed ")]
    return f"| {name} | {' | '.join(map(str, numbers))} | {status} |", said


def kept(program: Path) -> tuple[str, list[str]]:
    """Return the page's current row of a program; if there is none, a row that says "not recorded"."""
    about = program.read_text(encoding="utf-8").splitlines()[0].strip('"')
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    what = about.partition(": ")[2]
    rows = [line for line in lines if line.startswith("| ") and f": {what} |" in line]
    said = [line.removeprefix("- ") for line in lines if line.startswith(f"- {program.stem}: ")]
    return rows[0] if rows else f"| {about} {'| ' * (COLUMNS - 1)}not recorded yet |", said


def main() -> None:
    """Record the named programs, or all programs without a name."""
    wanted = set(sys.argv[1:])
    programs = [p for p in sorted(PROGRAMS.glob("*.py")) if p.stem not in HELPERS]
    rows, said = [], []
    for program in programs:
        if wanted and program.stem not in wanted:
            line, more = kept(program)
        else:
            line, more = row(program)
            print(line)
        rows.append(line)
        said += more
    text = HEAD + "\n".join(rows) + "\n"
    if said:
        text += SAID + "\n".join(f"- {line}" for line in dict.fromkeys(said)) + "\n"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
