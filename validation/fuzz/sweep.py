"""Damage sound files of every reader, by the hundred thousand: no traceback, no hang, no gigabyte, no two answers.

Seeds of ``validation/fuzz/corpus`` and artefacts of the tests are changed by :mod:`validation.fuzz.mutations` and read
in worker processes, one at a time. An input has 10 seconds of the processor, and 1 GiB beyond what the worker takes
with sound files. From seed 1000 on :mod:`validation.fuzz.structural` changes them. Where a reader has an oracle
(``validation/fuzz/readers``), an answer that differs is a failure, too. The same seed makes the same inputs: ``--reader
NAME --seed N --first I --count 1`` repeats one, and ``--save FILE`` keeps it.

Run: ``python -m validation.fuzz.sweep [--count 1000] [--seed 1] [--reader NAME ...] [--record]``; counts are for each
reader. ``--record`` adds the run to ``validation/fuzz/results.json`` and writes the table of
``docs/validation/damage.md`` from it.
"""

import argparse
import json
import os
import selectors
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kprof.errors import KprofError
from validation.fuzz import readers, results
from validation.fuzz.damaging import OUTCOMES, SECONDS, damaged_input, inputs_of
from validation.fuzz.target import ROOT, scratch_folder


@dataclass
class Tally:
    """What came of the inputs of one reader.

    Attributes:
        outcomes: how many of each of :data:`validation.fuzz.damaging.OUTCOMES`.
        places: failures with the numbers of the inputs that met them.
        slowest_s: the longest time an input took.
        slowest: that input's number.
        peak_mib: the most memory the worker had, resident, with all that it imports.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[int]] = field(default_factory=dict)
    slowest_s: float = 0.0
    slowest: int = 0
    peak_mib: int = 0

    @property
    def count(self) -> int:
        """Inputs."""
        return self.outcomes.total()

    def add(self, outcomes: dict[str, int], slowest: tuple[float, int], peak: int) -> None:
        """Add a worker's report."""
        self.outcomes.update(outcomes)
        self.slowest_s, self.slowest = max((self.slowest_s, self.slowest), slowest)
        self.peak_mib = max(self.peak_mib, peak)

    def fail(self, number: int, outcome: str, place: str) -> None:
        """Note a failure that is counted already."""
        self.places.setdefault(f"{outcome}: {place}", []).append(number)


def sweep(name: str, seed: int, first: int, count: int, seconds: float = float("inf")) -> Tally:
    """Damage and read inputs of one reader. A worker that an input ends is started again and goes on without it."""
    tally = Tally()
    at, end = first, first + count
    ended: list[int] = []
    began = time.monotonic()
    while tally.count < count and time.monotonic() - began < seconds:
        with scratch_folder() as scratch:
            numbers = ",".join(map(str, (at, end, *ended)))
            with subprocess.Popen(
                [sys.executable, "-m", "validation.fuzz.damaging", name, str(seed), numbers, scratch],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers")]),
                },
            ) as worker:
                try:
                    for report in _reports(worker, Path(scratch), began + seconds):
                        number, outcomes, outcome, place, slowest_s, slowest, peak, *died = report
                        tally.add(outcomes, (slowest_s, slowest), peak)
                        # What was done since the last report is done again.
                        at = at if died else number + 1
                        ended += [number] if died else []
                        if place:
                            tally.fail(number, outcome, place)
                finally:
                    worker.kill()
    return tally


def _reports(worker: "subprocess.Popen[bytes]", scratch: Path, until: float) -> Iterator[list[Any]]:
    """What a worker says, and how it ended when it did not end well."""
    assert worker.stdout is not None
    selector = selectors.DefaultSelector()
    selector.register(worker.stdout, selectors.EVENT_READ)
    before, since = _number(scratch), time.monotonic()
    while time.monotonic() < until:
        if selector.select(1.0):
            line = worker.stdout.readline()
            if not line:
                if worker.wait():
                    yield _end("killed", scratch, worker.returncode)
                return
            yield json.loads(line)
        now = _number(scratch)
        if now != before:
            before, since = now, time.monotonic()
        # Python's own clock is not heard inside C code; the first inputs wait for what is imported.
        elif time.monotonic() - since > (12 * SECONDS if now is not None else 300):
            yield _end("hang", scratch, None)
            return


def _end(outcome: str, scratch: Path, status: int | None) -> list[Any]:
    """The report of an input that says nothing any more."""
    number = _number(scratch)
    if number is None:
        raise RuntimeError(f"the worker did not begin: exit status {status}")
    words = "inside code that hears no clock" if status is None else f"exit status {status}"
    return [number, {outcome: 1}, outcome, words, 0.0, number, 0, True]


def _number(scratch: Path) -> int | None:
    """The input that a worker is at."""
    try:
        data = (scratch / "number").read_bytes()
    except FileNotFoundError:
        return None
    return int.from_bytes(data, "little") if len(data) == 8 else None


def main() -> int:
    """Sweep, and print a line a reader and every place once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", nargs="*", default=readers.names(), choices=readers.names(), metavar="NAME")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for each reader")
    parser.add_argument("--save", type=Path, help="write the first input there, and read nothing")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    try:
        for name in options.reader:
            inputs_of(name)
    except KprofError as error:
        print(error, file=sys.stderr)
        return 2
    if options.save:
        with scratch_folder() as scratch:
            name = options.reader[0]
            options.save.write_bytes(damaged_input(name, options.seed, options.first, inputs_of(name), Path(scratch)))
        return 0
    failed = 0
    for name in options.reader:
        tally = sweep(name, options.seed, options.first, options.count, options.seconds)
        counts = ", ".join(f"{tally.outcomes[o]:,} {o}" for o in tally.outcomes)
        print(
            f"{name}: {counts}; slowest {tally.slowest_s:.2f} s (--first {tally.slowest}), {tally.peak_mib} MiB",
            flush=True,
        )
        for place, numbers in tally.places.items():
            print(f"    {place}  ({len(numbers)} times, first --first {numbers[0]})", flush=True)
        failed += sum(tally.outcomes[o] for o in OUTCOMES[2:])
        if options.record:
            results.record(name, options.seed, options.first, tally)
    if options.record:
        results.write_page()
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
