"""Check that two checkouts give byte-identical answers about the same traces, for changes without visible effect.

Every command of ``kprof trace`` and ``kprof ingest trace`` runs on every trace, with text and with JSON output.

    python validation/compare_trace_answers.py /path/to/other/checkout ../shared/samples/kineto
"""

import argparse
import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

QUESTIONS = (
    ("ingest", "trace"),
    ("trace", "breakdown"),
    ("trace", "breakdown", "--by-name"),
    ("trace", "top"),
    ("trace", "gaps"),
    ("trace", "ops"),
    ("trace", "tree"),
    ("trace", "tree", "--by", "both"),
    ("trace", "steps"),
    ("trace", "path"),
    ("trace", "ranks"),
)
ENDINGS = (".json", ".json.gz")


def traces(folders: list[Path]) -> list[Path]:
    """Return the trace files in the folders."""
    found = {path for folder in folders for path in (folder.rglob("*") if folder.is_dir() else [folder])}
    return sorted(path for path in found if path.name.endswith(ENDINGS))


def answers(files: list[Path]) -> dict[str, str]:
    """Map each command and file to a digest of its output and exit status, computed in this process."""
    from kprof.cli.app import main

    found = {}
    for path in files:
        for question in QUESTIONS:
            for form in ((), ("--json", "-")):
                sys.argv = ["kprof", *question, str(path), *form]
                out, err, end = _stream(), _stream(), "0"
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                    try:
                        main()
                    except SystemExit as stop:
                        end = str(stop.code)
                printed = b"\0".join((_bytes(out), _bytes(err), end.encode()))
                found[" ".join(sys.argv[1:])] = f"{end} {hashlib.sha256(printed).hexdigest()}"
    return found


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _bytes(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    stream.buffer.seek(0)
    return stream.buffer.read()


def of_checkout(checkout: Path, files: list[Path]) -> dict[str, str]:
    """Return the result of :func:`answers` with another checkout's code."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (checkout, checkout / "analyzers")))}
    command = [sys.executable, __file__, "--own", *map(str, files)]
    ran = subprocess.run(command, env=environment, cwd=checkout, check=True, capture_output=True, text=True)
    found: dict[str, str] = json.loads(ran.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Run the command line; the exit code is 1 if answers differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--own", action="store_true", help="print this checkout's digests and compare nothing")
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help="the other checkout, then traces or folders"
    )
    arguments = parser.parse_args()
    if arguments.own:
        print(json.dumps(answers(arguments.paths)))
        return 0
    other, *folders = arguments.paths
    files = [path.resolve() for path in traces(folders)]
    here, there = (of_checkout(each.resolve(), files) for each in (Path(__file__).parent.parent, other))
    different = [question for question, digest in here.items() if digest != there[question]]
    for question in different:
        print(f"differs: kprof {question}: exit {there[question].split()[0]} there, {here[question].split()[0]} here")
    ended = {digest.split()[0] for digest in here.values()}
    print(
        f"{len(here) - len(different)} of {len(here)} answers about {len(files)} traces are equal; exit codes {ended}"
    )
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())
