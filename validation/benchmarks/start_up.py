"""Compare the start-up of the command line with that of an empty typer program.

Both sides run as complete processes that alternate, and the median of the pairwise ratios is printed. Budget: 1.5.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent.parent
ROUNDS = 25
EMPTY = """
import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def one(name: str = "x") -> None:
    \"\"\"Print a name.\"\"\"
    print(name)


@app.command()
def two() -> None:
    \"\"\"Print nothing.\"\"\"


app()
"""
COMMANDS = {
    "kprof --help": (["-m", "kprof", "--help"], ["--help"]),
    "kprof occupancy --vgpr": (
        ["-m", "kprof", "occupancy", "--arch", "gfx942", "--vgpr", "128", "--lds", "32768", "--num-warps", "4"],
        ["one"],
    ),
}


def seconds(command: list[str], environment: dict[str, str]) -> float:
    """Return the wall time of one process."""
    start = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print one line for each command."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    paths = os.pathsep.join([str(ROOT), str(ROOT / "analyzers")])
    environment = {**os.environ, "PYTHONPATH": paths}
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY)
        for name, (ours, theirs) in COMMANDS.items():
            mine, rival = [sys.executable, *ours], [sys.executable, str(empty), *theirs]
            seconds(mine, environment), seconds(rival, environment)
            pairs = [(seconds(mine, environment), seconds(rival, environment)) for _ in range(ROUNDS)]
            ratio = median(a / b for a, b in pairs)
            a, b = (1000 * median(side) for side in zip(*pairs, strict=True))
            print(f"{name:24} {a:6.0f} ms   empty typer program {b:6.0f} ms   ratio {ratio:.2f}   budget 1.50")


if __name__ == "__main__":
    main()
