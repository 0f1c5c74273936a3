"""A worker of :mod:`validation.fuzz.sweep`: damaged inputs of one reader, each with a clock and a limit of memory."""

import json
import mmap
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

from kprof.errors import InputError, KprofError
from validation.fuzz.mutations import damaged
from validation.fuzz.readers import target
from validation.fuzz.structural import restructured
from validation.fuzz.target import DiffersError, Target, seeds

SECONDS = 10
"""Of the processor: a machine that is shared by many makes no hang."""
MEMORY = 1 << 30
OUTCOMES = ("read", "refused", "traceback", "hang", "memory", "killed", "differs")
STRUCTURAL = 1000
"""From this seed on inputs are made by :mod:`validation.fuzz.structural`."""
REPORT = 200
"""Inputs between two reports of a worker."""

_FROM_ARTEFACTS = 0.1


class LateError(BaseException):
    """An input took too long; no reader may catch it."""


def _late(_number: int, _frame: Any) -> None:
    raise LateError


def inputs_of(name: str) -> tuple[list[bytes], list[bytes]]:
    """The reader's seeds, and the artefacts of the tests for it, which are larger and taken less often.

    Raises:
        InputError: it has no seeds, so there is nothing to damage.
    """
    small = [path.read_bytes() for path in seeds(name)]
    if not small:
        raise InputError("no seeds", path=f"validation/fuzz/corpus/{name}", hint="Put a small sound file there.")
    return small, [path.read_bytes() for path in target(name).artefacts()]


def damaged_input(name: str, seed: int, number: int, known: tuple[list[bytes], list[bytes]], scratch: Path) -> bytes:
    """One input: the same for the same seed and number, as long as the seeds are the same."""
    chance = random.Random(f"{seed}/{name}/{number}")
    small, large = known
    source = chance.choice(large if large and chance.random() < _FROM_ARTEFACTS else small)
    if seed >= STRUCTURAL:
        return restructured(chance, source, chance.choice([*small, *large]))
    own = target(name).damage
    return damaged(chance, source, scratch) if own is None else own(chance, source)


def place_of(error: BaseException) -> str:
    """Where in kprof, or else in the target, an error came from, and what it says."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if {"kprof", "kprof_analyzers", "kprof_servers"} & {*Path(frame.filename).parts}]
    last = (own or frames)[-1]
    return f"{Path(last.filename).name}:{last.lineno} {type(error).__name__}: {str(error)[:160]!r}"


def one(reader: Target, data: bytes, folder: Path, seconds: float = SECONDS) -> tuple[str, str]:
    """What came of an input, and where what should not have come from."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        reader.read(data, folder)
    except KprofError:
        return "refused", ""
    except LateError as error:
        return "hang", place_of(error)
    except MemoryError as error:
        return "memory", place_of(error)
    except DiffersError as error:
        return "differs", str(error)
    except Exception as error:  # noqa: BLE001 - finding them is what this is for
        return "traceback", place_of(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "read", ""


def limit_memory() -> None:
    """So much more than the process has now, where the system tells that."""
    said = Path("/proc/self/statm")
    if not said.exists():
        return
    pages = int(said.read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def work(name: str, seed: int, numbers: list[int], scratch: Path) -> None:
    """Damage and read inputs of these numbers.

    The number of the one at hand stands in a file, for when it ends this process.
    """
    os.environ.update(KPROF_CACHE_DIR=str(scratch / "cache"), NO_COLOR="1")
    known = inputs_of(name)
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    reader, folder = target(name), scratch / "in"
    folder.mkdir()
    signal.signal(signal.SIGPROF, _late)
    # What sound files take is not the damage's.
    for data in (*known[0], *known[1][:3]):
        one(reader, data, folder, seconds=100)
    limit_memory()
    with (scratch / "number").open("w+b") as file:
        file.write(bytes(8))
        file.flush()
        at = mmap.mmap(file.fileno(), 8)
    outcomes: Counter[str] = Counter()
    slowest = (0.0, 0)
    for number in numbers:
        at[:] = number.to_bytes(8, "little")
        data = damaged_input(name, seed, number, known, scratch)
        began = time.process_time()
        outcome, place = one(reader, data, folder)
        slowest = max(slowest, (time.process_time() - began, number))
        outcomes[outcome] += 1
        if place or sum(outcomes.values()) >= REPORT or number == numbers[-1]:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            print(json.dumps([number, outcomes, outcome, place, *slowest, peak]), file=answers, flush=True)
            outcomes, slowest = Counter(), (0.0, number)


if __name__ == "__main__":
    begin, end, *ended = map(int, sys.argv[3].split(","))
    left = [number for number in range(begin, end) if number not in ended]
    try:
        work(sys.argv[1], int(sys.argv[2]), left, Path(sys.argv[4]))
    except KprofError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
