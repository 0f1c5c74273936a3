"""Truncate every sample at every thousandth byte and read the rest: no traceback, and no record lost silently.

Each cut has one of these outcomes: ``flagged`` (read, with an issue that the complete file does not have),
``message`` (rejected with a message), ``whole`` (no record is missing), ``silent`` (records are missing without an
issue) or ``traceback``. The last two fail the sweep. A text file cut at the end of a line is a valid shorter file,
so this is counted as ``line-end``. Files larger than ``--largest`` get as many cuts as a file of that size, evenly
spread. Run: ``python validation/cut_sweep.py [--seconds 600] [--largest 200000] [FOLDER ...]``.
"""

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

STEP = 1000
SAMPLES = Path(__file__).resolve().parents[2] / "shared/samples"
OUTCOMES = ("flagged", "message", "whole", "line-end", "silent", "traceback")


def places(size: int, largest: int, step: int = STEP) -> range:
    """Return the positions at which a file of this size is cut."""
    return range(step, size, step if size <= largest else max(step, size // max(1, largest // step)))


Found = tuple[int, Counter[str]]


def _measurements(path: Path) -> Found:
    from kprof.inputs import rocprof

    data = rocprof.read(path)
    for name in data.names():
        data.table(name)
    return sum(source.rows for source in data.sources), Counter(issue.kind for issue in data.issues)


def _trace(path: Path) -> Found:
    from kprof_analyzers.profiles.timeline.streaming import summarise

    summary = summarise(path)
    return summary.info.events, Counter({issue.kind: issue.count for issue in summary.issues})


def _proton(path: Path) -> Found:
    from kprof.inputs.torch_profiler.proton import load_proton

    profile = load_proton(path)
    return len(profile.rows), Counter({issue.kind: issue.count for issue in profile.issues})


def _thread_trace(path: Path) -> Found:
    from kprof.inputs import thread_trace

    trace = thread_trace.read(path)
    return len(trace.instructions), _words(trace.issues)


def _timeline(path: Path) -> Found:
    from kprof.errors import KprofError
    from kprof.inputs.thread_trace import companion_files, wave_json

    if path.match(wave_json.PATTERN):
        wave, odd = wave_json.read(path)
        return wave.issued, _words(odd)
    if path.match(companion_files.STATES_PATTERN):
        state, odd = companion_files.read_states(path)
        return state.cycles, _words(odd)
    if path.name == companion_files.RESIDENT:
        occupancy, odd = companion_files.read_occupancy(path)
        return sum(one.begun for one in occupancy), _words(odd)
    raise KprofError("no timeline of a thread trace", path=str(path))


def _tunableop(path: Path) -> Found:
    from kprof.inputs import tunableop

    results = tunableop.read(path)
    return len(results.solutions), _words(results.issues)


def _words(issues: tuple[str, ...]) -> Counter[str]:
    return Counter("no-final-line-end" if "has no line end" in issue else issue for issue in issues)


READERS: tuple[Callable[[Path], Found], ...] = (_measurements, _trace, _proton, _thread_trace, _timeline, _tunableop)


def reader_of(path: Path) -> tuple[Callable[[Path], Found], Found] | None:
    """Return the first reader that accepts the file, the number of records, and the issues by kind."""
    from kprof.errors import KprofError

    for reader in READERS:
        try:
            return reader, reader(path)
        except KprofError:
            continue
    return None


def outcome(reader: Callable[[Path], Found], path: Path, whole: Found, *, at_line_end: bool) -> str:
    """Return the outcome of reading a cut file, compared with the records and issues of the complete file."""
    from kprof.errors import KprofError

    try:
        found, issues = reader(path)
    except KprofError:
        return "message"
    except Exception:  # noqa: BLE001 - finding them is what this is for
        traceback.print_exc()
        return "traceback"
    # Some published files do not end with a line end, so their own note must not count as detecting the cut.
    known = whole[1] - Counter({"no-final-line-end": 1})
    if issues - known:
        return "flagged"
    return "whole" if found >= whole[0] else "line-end" if at_line_end else "silent"


def sweep(file: Path, scratch: Path, largest: int, deadline: float = float("inf"), step: int = STEP) -> Iterator[str]:
    """Return the outcome of every cut of one file; none for a file that no reader accepts."""
    known = reader_of(file)
    if known is None:
        return
    content = file.read_bytes()
    cut = scratch / file.name
    for at in places(len(content), largest, step):
        if time.monotonic() > deadline:
            return
        cut.write_bytes(content[:at])
        at_line_end = b"\n" in content[at - 1 : at + 1]
        result = outcome(known[0], cut, known[1], at_line_end=at_line_end)
        if result in {"silent", "traceback"}:
            print(f"{result}: {file} cut at {at}", flush=True)
        yield result


def main() -> int:
    """Run the sweep, and print a line per folder and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, default=[SAMPLES])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--largest", type=int, default=200_000)
    options = parser.parse_args()
    deadline = time.monotonic() + options.seconds
    files = sorted(
        (p for folder in options.folders for p in (folder.rglob("*") if folder.is_dir() else [folder]) if p.is_file()),
        key=lambda p: p.stat().st_size,
    )
    total: Counter[str] = Counter()
    swept = 0
    with tempfile.TemporaryDirectory() as scratch:
        for file in files:
            if time.monotonic() > deadline:
                break
            found = Counter(sweep(file, Path(scratch), options.largest, deadline))
            swept += bool(found)
            total += found
            if found:
                tally = ", ".join(f"{found[name]} {name}" for name in OUTCOMES if found[name])
                print(f"{file.name} ({file.stat().st_size:,} bytes): {tally}", flush=True)
    print(f"{swept} files of {len(files)}, {sum(total.values()):,} cuts: "
          + ", ".join(f"{total[name]:,} {name}" for name in OUTCOMES))  # fmt: skip
    return int(bool(total["silent"] or total["traceback"]))


if __name__ == "__main__":
    sys.exit(main())
