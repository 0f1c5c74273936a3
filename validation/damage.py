"""Damage files that kprof reads and run its commands on them: no traceback, no hang, limited memory.

Each input is an artefact of the tests (or a published sample next to the checkout) that
:mod:`validation.fuzz.mutations` changed. The command runs in a worker process as ``main()`` runs it. An error that
would be exit code 70 counts as a traceback. A worker has 10 seconds and 1 GiB for an input, in addition to the time and
memory that it starts with. The same seed gives the same inputs: ``--reader NAME --seed N --first I --count 1`` repeats
one.

Run: ``python validation/damage.py [--count 1000] [--seed 1] [--reader NAME ...] [--samples]``; counts are for each
reader.
"""

import argparse
import io
import json
import os
import random
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from damage_readers import ARTEFACTS, CONFIG, READERS, ROOT, SAMPLES, TRACE, Reader

from validation.fuzz.mutations import damaged

SECONDS = 10
MEMORY = 1 << 30
LARGEST = 200_000
OUTCOMES = ("read", "refused", "traceback", "hang", "memory", "killed", "differs")


def _written(content: str) -> bytes:
    """Return the content of a file for readers without an artefact; some of it is written by kprof itself."""
    if content == "=trace":
        return TRACE.encode()
    if content == "=config":
        return CONFIG.encode()
    if content in {"=report", "=baseline"}:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "k.amdgcn"
            shutil.copy(ARTEFACTS / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn", target)
            (Path(folder) / "pyproject.toml").write_text(CONFIG)
            out = Path(folder) / "out.json"
            arguments = ["analyze", "kernel", str(target), "--json", str(out)]
            if content == "=baseline":
                arguments = [
                    "check",
                    "--config-file",
                    f"{folder}/pyproject.toml",
                    "--baseline",
                    str(out),
                    "--update-baseline",
                ]
            _main(arguments)
            return out.read_bytes()
    return content.encode()


def sources(reader: Reader, *, samples: bool) -> list[tuple[str, bytes]]:
    """Return name and content of every file to damage for a reader; large files are skipped."""
    found = [(reader.name or f"made{i}", _written(text)) for i, text in enumerate(reader.made)]
    patterns = [(ARTEFACTS, p) for p in reader.files] + ([(SAMPLES, p) for p in reader.samples] if samples else [])
    for folder, pattern in patterns:
        found += [
            (path.name, path.read_bytes())
            for path in sorted(folder.glob(pattern))
            if path.is_file() and 0 < path.stat().st_size <= LARGEST
        ]
    return found


def _main(arguments: list[str]) -> tuple[int, str]:
    """Run the program in this process; return its exit code, and the place of a traceback."""
    from kprof.cli import app

    place = ""

    def report(error: BaseException) -> str:
        nonlocal place
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "kprof" in f.filename]
        last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno} {type(error).__name__}: {str(error)[:100]!r}"
        return place

    app.report = report
    sys.argv = ["kprof", *arguments]
    out, err = sys.stdout, sys.stderr
    sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        app.main()
    except SystemExit as stop:
        return (stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1), place
    finally:
        sys.stdout, sys.stderr = out, err
    return 0, place


def _agree(path: str) -> str:
    """Check that the two readers of traces compute the same sums, or both reject the file."""
    from kprof.errors import KprofError
    from kprof.inputs.torch_profiler import load
    from kprof_analyzers.profiles.timeline.breakdown import device_times
    from kprof_analyzers.profiles.timeline.categories import load_categories
    from kprof_analyzers.profiles.timeline.streaming import summarise

    found: list[Any] = []
    for streamed in (True, False):
        try:
            if streamed:
                summary = summarise(path)
                kernels = {k.name: (k.count, k.total_ns, k.min_ns, k.max_ns) for k in summary.kernels}
                found.append((kernels, summary.devices))
            else:
                trace = load(path)
                by_name: dict[str, list[int]] = {}
                for row in trace.activities:
                    if row.kind == "kernel":
                        by_name.setdefault(row.name, []).append(row.duration_ns)
                kernels = {n: (len(d), sum(d), min(d), max(d)) for n, d in by_name.items()}
                found.append((kernels, device_times(trace, load_categories())))
        except KprofError as error:
            found.append(error.message)
    return "" if found[0] == found[1] else f"{str(found[0])[:80]} and {str(found[1])[:80]}"


class _Late(BaseException):
    """Raised when an input takes too long."""


def _late(_number: int, _frame: Any) -> None:
    raise _Late


def one(reader: Reader, name: str, data: bytes, folder: Path, seconds: float = SECONDS) -> tuple[str, str]:
    """Return outcome and place for one damaged input."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for beside, artefact in reader.around.items():
        (folder / beside).parent.mkdir(parents=True, exist_ok=True)
        if artefact.startswith("="):
            (folder / beside).write_bytes(_written(artefact))
        elif (ARTEFACTS / artefact).is_file():
            shutil.copy(ARTEFACTS / artefact, folder / beside)
    if reader.name == "=":
        (target,) = [folder / b for b in reader.around if Path(b).name == name]
    else:
        target = folder / (reader.name or name)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    shown = str(folder if reader.around else target)
    arguments = [
        a.replace("@{}", data.decode("utf-8", "replace").replace("\0", "")).replace("{}", shown) for a in reader.command
    ]
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        if arguments[0] == "=agree":
            differs = _agree(shown)
            return ("differs", differs) if differs else ("read", "")
        code, place = _main(arguments)
    except _Late:
        return "hang", "".join(traceback.format_stack(limit=1)).strip()
    except MemoryError:
        return "memory", ""
    except Exception as error:  # noqa: BLE001 - finding them is what this is for
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "kprof" in f.filename]
        return "traceback", f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {error!r:.100}" if frames else repr(
            error
        )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if code == 70:
        return ("memory" if "MemoryError" in place else "traceback"), place
    return ("read" if code in {0, 1} else "refused"), ""


def work(name: str, seed: int, first: int, count: int, *, samples: bool, scratch: Path) -> None:
    """Worker process: print a line of JSON for each input. An input without a line has ended the worker."""
    os.environ.update(KPROF_CACHE_DIR=str(scratch / "cache"), TRITON_CACHE_DIR=str(scratch / "triton"), NO_COLOR="1")
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    reader = READERS[name]
    known = sources(reader, samples=samples)
    signal.signal(signal.SIGALRM, _late)
    # Subtract the time and memory that the undamaged file takes.
    for known_name, data in known[:3]:
        one(reader, known_name, data, scratch / "in", seconds=100)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in range(first, first + count):
        chance = random.Random(f"{seed}/{name}/{number}")
        source, data = chance.choice(known)
        outcome, place = one(reader, source, damaged(chance, data, scratch), scratch / "in")
        print(json.dumps([number, outcome, place]), file=answers, flush=True)


def sweep(name: str, seed: int, first: int, count: int, *, samples: bool = False) -> Iterator[tuple[int, str, str]]:
    """Yield number, outcome and place of every damaged input of one reader; restart a dead worker after the input."""
    at, end = first, first + count
    while at < end:
        with tempfile.TemporaryDirectory() as scratch:
            numbers = ["--seed", str(seed), "--first", str(at), "--count", str(end - at)]
            options = ["--worker", name, *numbers, "--scratch", scratch, *(["--samples"] if samples else [])]
            environment = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers")]),
            }
            with subprocess.Popen(
                [sys.executable, __file__, *options],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            ) as worker:
                try:
                    for answer in _answers(worker, at, end):
                        yield answer
                        at = answer[0] + 1
                finally:
                    worker.kill()


def _answers(worker: "subprocess.Popen[str]", at: int, end: int) -> Iterator[tuple[int, str, str]]:
    """Yield a worker's messages until it ends; an input that is not reported in time has ended it."""
    assert worker.stdout is not None
    selector = selectors.DefaultSelector()
    selector.register(worker.stdout, selectors.EVENT_READ)
    patience = 20 * SECONDS
    while at < end:
        hung = not selector.select(patience)
        line = "" if hung else worker.stdout.readline()
        if not line:
            if hung:
                worker.kill()
            worker.wait()
            yield at, "hang" if hung else "killed", f"exit status {worker.returncode}"
            return
        number, outcome, place = json.loads(line)
        yield number, outcome, place
        at = number + 1
        patience = 2 * SECONDS


def main() -> int:
    """Run the sweep; print a line per reader, every place once, and the totals as in docs/validation/damage.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", nargs="*", default=list(READERS), choices=list(READERS))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each reader")
    parser.add_argument("--samples", action="store_true")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(
            options.worker, options.seed, options.first, options.count, samples=options.samples, scratch=options.scratch
        )
        return 0
    total: Counter[str] = Counter()
    for name in options.reader:
        outcomes: Counter[str] = Counter()
        places: dict[str, list[int]] = {}
        began = float("inf")
        for number, outcome, place in sweep(name, options.seed, options.first, options.count, samples=options.samples):
            outcomes[outcome] += 1
            if outcome not in {"read", "refused"}:
                places.setdefault(f"{outcome}: {place}", []).append(number)
            # The worker sends its first answer when it has started.
            began = min(began, time.monotonic())
            if time.monotonic() - began > options.seconds:
                break
        total += outcomes
        print(
            f"| {name} | {sum(outcomes.values()):,} | " + " | ".join(f"{outcomes[o]:,}" for o in OUTCOMES) + " |",
            flush=True,
        )
        for place, numbers in places.items():
            print(f"    {place}  ({len(numbers)} times, first --first {numbers[0]})", flush=True)
    print(f"| all | {sum(total.values()):,} | " + " | ".join(f"{total[o]:,}" for o in OUTCOMES) + " |")
    return int(any(total[o] for o in OUTCOMES[2:]))


if __name__ == "__main__":
    sys.exit(main())
