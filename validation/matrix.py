"""Run ``make demo`` and quick tests with several Pythons, in environments that break programs with hidden assumptions.

For each interpreter, the checkout is copied to a folder whose name has blanks, accents and Chinese letters. ``make
demo`` installs it there, followed by the packages that the tests need. Then the demonstration and the tests run again
without network, with a read-only checkout and without a home folder. For interpreters named by ``--whole``, all of
``make test`` runs too. The copy and one environment per interpreter are kept in ``--environments`` for the next run.

Run: ``python validation/matrix.py --python 3.10=/path/to/python ... [--write]``; ``--write`` puts their rows into the
page ``docs/validation/interpreters.md``. Linux, with ``unshare``; installing needs a network.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation" / "interpreters.md"
ODD = Path("pä th", "用户", "k prof é")
TESTS = (
    "tests/hardware",
    "tests/inputs/test_source_path.py",
    "tests/inputs/test_repeated_keys.py",
    "tests/cache/test_entries.py",
    "tests/cache/test_folders.py",
    "tests/rules/test_literate.py",
    "tests/importing",
    "tests/targets/test_in_memory.py",
    "tests/gate/test_judge.py",
    "tests/cli/test_without_posix.py",
)
SKIPPED = "not slow"
MINUTES = 15
WHOLE_MINUTES = 120
SEALED = ("unshare", "-r", "-m", "-n", "sh", "-c")
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'


@dataclass(frozen=True)
class Outcome:
    """Result of a command.

    Attributes:
        what: the step, named as the page's column.
        code: exit status; None if the command took too long.
        seconds: wall time.
        last: the lines with numbers of tests, else the last printed line.
    """

    what: str
    code: int | None
    seconds: float
    last: str

    @property
    def cell(self) -> str:
        """Return the result as a cell of the table."""
        if self.code == 0:
            return f"ok, {self.seconds:.0f} s"
        return f"**{'too long' if self.code is None else f'exit {self.code}'}**: {self.last[:80]}"


def run(what: str, command: list[str], folder: Path, environment: dict[str, str], minutes: int = MINUTES) -> Outcome:
    """Run a command and keep its last line; if it fails, print its output to standard error."""
    begun = time.monotonic()
    try:
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60 * minutes, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(what, None, time.monotonic() - begun, "")
    lines = (ended.stdout + ended.stderr).strip().splitlines()
    if ended.returncode:
        failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
        print("\n".join([*failed, *lines[-30:]]), file=sys.stderr)
    counts = [line.strip("= ") for line in lines if re.search(r"\d+ passed", line)]
    last = "; ".join(counts) or (lines[-1] if lines else "")
    return Outcome(what, ended.returncode, time.monotonic() - begun, last)


def copied(folder: Path) -> Path:
    """Copy the checkout's files that git tracks to a folder with an unusual name, which is the same for each run.

    Kept environments have kprof installed from this folder.
    """
    target = folder / ODD
    shutil.rmtree(target, ignore_errors=True)
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, names):
        source, place = ROOT / name, target / name
        if source.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place)
    return target


def tried(python: str, checkout: Path, environments: Path, name: str, whole: bool) -> list[Outcome]:
    """Run the steps with one interpreter; steps after a failed installation are skipped."""
    venv = environments / f"venv-{name}"
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "KPROF_"))}
    plain["TMPDIR"] = str(environments)
    demo = ["make", "demo", f"VENV={venv}", f"PYTHON={python}"]
    found = [run("make demo", demo, checkout, plain)]
    if found[0].code != 0:
        return found
    homeless = {**plain, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    nothing_set = {key: value for key, value in homeless.items() if key != "HOME"}
    sealed = [*SEALED, READ_ONLY, str(checkout)]
    found.append(run("make demo, sealed", [*sealed, *demo], checkout, homeless))
    own = [str(venv / "bin" / "python"), "-m"]
    installed = run("tests, sealed", [*own, "pip", "install", "--quiet", "-e", ".[test]"], checkout, plain)
    if installed.code != 0:
        return [*found, installed]
    pytest = [*own, "pytest", "-q", "-p", "no:cacheprovider", "-m", SKIPPED]
    found.append(run("tests, sealed", [*sealed, *pytest, *TESTS], checkout, nothing_set))
    if whole:
        test = ["make", "test", f"VENV={venv}", f"PYTHON={python}"]
        found.append(run("make test", test, checkout, plain, WHOLE_MINUTES))
    return found


def version_of(venv: Path, package: str) -> str:
    """Return the installed version of a package."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    ended = subprocess.run([venv / "bin" / "python", "-c", code], capture_output=True, text=True, check=False)
    return ended.stdout.strip() or "none"


def row(name: str, triton: str, outcomes: list[Outcome]) -> str:
    """Return an interpreter's row of the table, with the commit of the checkout."""
    head = ["git", "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    cells = [outcome.cell for outcome in outcomes] + ["not run"] * (4 - len(outcomes))
    counted = [outcome.last for outcome in outcomes[2:]] + [""] * 2
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return f"| {' | '.join([name, triton, *cells[:3], counted[0], cells[3], counted[1], f'{commit}, {day}'])} |"


def page(rows: dict[str, str]) -> str:
    """Return the page with the last run of each interpreter."""
    lines = [
        "# Interpreters and machines",
        "",
        "`python validation/matrix.py --write`, on a machine that was shared by many. The checkout stands in",
        f"`{ODD.as_posix()}`, below a temporary folder. *Sealed* is without network (a network namespace), with the",
        "checkout mounted read-only and without a home: `HOME` is `/nonexistent` for the demonstration, and is not set",
        "for the tests.",
        "",
        "| Python | Triton | `make demo` | sealed | tests, sealed | counted | `make test` | counted | commit |",
        "|---|---|---|---|---|---|---|---|---|",
        *(rows[name] for name in sorted(rows, key=lambda name: [int(part) for part in name.split(".")])),
    ]
    lines += ["", f"Sealed tests, with `.[test]` installed and without torch: `pytest -m '{SKIPPED}'` of", ""]
    lines += [f"- `{name}`" for name in TESTS] + [""]
    lines += [
        "Python 3.14 has no wheel of a Triton below 3.5; 3.10 has none of 3.9, and takes 3.8. On macOS and Windows",
        "what only reads works (`tests/cli/test_without_posix.py` takes away what those systems lack); compiling,",
        "recording and the containment of candidates need Linux.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    """Run the matrix, print it, and write the page if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--python", nargs="+", required=True, metavar="NAME=PATH", help="an interpreter; no PATH: absent"
    )
    parser.add_argument("--environments", type=Path, default=Path(tempfile.gettempdir()) / "kprof-matrix")
    parser.add_argument("--whole", nargs="*", default=[], metavar="NAME", help="interpreters for all of make test")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.environments.mkdir(parents=True, exist_ok=True)
    # Keep the rows of interpreters that do not run now.
    rows = {line.split()[1]: line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| 3.")}
    failed = False
    checkout = copied(options.environments)
    for given in options.python:
        name, _, python = given.partition("=")
        if not python:
            rows[name] = f"| {name} | | no such interpreter here | | | | | | |"
            continue
        outcomes = tried(python, checkout, options.environments, name, name in options.whole)
        triton = version_of(options.environments / f"venv-{name}", "triton")
        rows[name] = row(name, triton, outcomes)
        failed |= any(outcome.code != 0 for outcome in outcomes)
        print(name, triton, *(f"{one.what}: {one.cell}" for one in outcomes), sep="; ", flush=True)
        if options.write:
            # Write after each interpreter, because a run takes long.
            PAGE.write_text(page(rows), encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
