"""Coverage-guided fuzzing of the readers, with Google's Atheris (libFuzzer).

Inputs that reach new code are kept in ``build/fuzz/NAME`` and are where the next run begins; what fails is written to
``build/fuzz/failures``, one file an input, and named. An exception other than :class:`kprof.errors.KprofError`, two
answers where an oracle wants one, 10 seconds, or 1 GiB beyond what the process takes to begin with is a failure. An
input that failed belongs into ``tests/fuzz/failures`` once it is mended, where the tests read it for ever.

Run: ``python -m validation.fuzz.run [--seconds 60 | --hours 8 | --fixed] [--jobs 2] [READER ...]``, or ``make fuzz
HOURS=8``. ``--fixed`` is for CI: every seed, then a fixed number of inputs from a fixed start, the same ones each time
for the same code. It finds what a change broke; older faults are for ``make fuzz`` to find.

Without Atheris (``pip install kprof[fuzz]``; Linux and macOS) it says so and ends with 3.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from validation.fuzz import readers
from validation.fuzz.damaging import MEMORY, SECONDS
from validation.fuzz.mutations import damaged
from validation.fuzz.target import CORPUS, LARGEST, ROOT, scratch_folder, seeds

BUILD = ROOT / "build" / "fuzz"
NO_ATHERIS = 3
SEED = 1
"""Of a fixed run."""
_BASE_MIB = 400


@dataclass(frozen=True)
class Outcome:
    """Of one reader.

    Attributes:
        executed: inputs.
        kept: inputs that reached something new.
        failures: files that make it fail.
        words: the fuzzer's last lines, where it ended without either.
    """

    executed: int
    kept: int
    failures: tuple[Path, ...]
    words: str = ""


def dictionary(words: Sequence[str]) -> str:
    """Tokens as libFuzzer reads them."""
    return "".join(
        '"' + "".join(c if c.isalnum() else f"\\x{b:02x}" for b in word.encode("latin-1") for c in (chr(b),)) + '"\n'
        for word in words
    )


def fuzz(name: str, seconds: float, *, fixed: bool = False) -> Outcome:
    """Fuzz one reader in a process of its own; it ends at the first failure.

    Args:
        name: the reader.
        seconds: for how long; at most, where ``fixed``.
        fixed: the reader's own number of inputs, always the same ones, without what earlier runs kept.
    """
    failures = BUILD / "failures"
    failures.mkdir(parents=True, exist_ok=True)
    before = set(failures.glob(f"{name}-*"))
    with scratch_folder() as scratch:
        own = Path(scratch) / name if fixed else BUILD / name
        own.mkdir(parents=True, exist_ok=True)
        kept = len(list(own.iterdir()))
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "validation.fuzz.run",
                "--inside",
                name,
                "--seconds",
                str(seconds),
                "--keep",
                str(own),
            ]
            + ["--fixed"] * fixed,
            cwd=ROOT,
            capture_output=True,
            check=False,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers")]),
                **({"PYTHONHASHSEED": "0"} if fixed else {}),
            },
        )
        kept = len(list(own.iterdir())) - kept
    said = ran.stderr.decode(errors="replace").splitlines()
    executed = [int(line.split()[1]) for line in said if line.startswith("stat::number_of_executed_units:")]
    found = tuple(sorted(set(failures.glob(f"{name}-*")) - before))
    words = "" if ran.returncode == 0 or found else "\n".join(said[-5:])
    return Outcome(executed[0] if executed else 0, kept, found, words)


def inside(name: str, seconds: float, own: Path, *, fixed: bool) -> None:
    """Be the fuzzer of one reader; never returns."""
    import atheris

    with scratch_folder() as scratch, tempfile.NamedTemporaryFile("w", suffix=".dict") as words:
        os.environ.update(KPROF_CACHE_DIR=str(Path(scratch) / "cache"), NO_COLOR="1")
        # By a short name: one that is made up anew each time would be told to the fuzzer wherever it is compared.
        os.chdir(scratch)
        folder = Path("in")
        folder.mkdir()
        # What is imported by a function, when it first runs, has to be seen, too.
        with atheris.instrument_imports(
            include=["kprof", "kprof_analyzers", "kprof_servers"], enable_loader_override=False
        ):
            target = readers.target(name)

            def one(data: bytes) -> None:
                from kprof.errors import KprofError

                try:
                    target.read(data, folder)
                except KprofError:
                    return

            def mutated(data: bytes, size: int, seed: int) -> bytes:
                chance = random.Random(seed)
                if chance.random() < 0.5:
                    return bytes(atheris.Mutate(data, size))
                return damaged(chance, data, Path(scratch))[:size]

            # What is imported on the way, pandas for one, takes no input's time.
            for path in seeds(name):
                one(path.read_bytes())
            words.write(dictionary(target.words))
            words.flush()
            options = [
                f"-max_total_time={max(1, round(seconds))}",
                f"-timeout={SECONDS}",
                f"-rss_limit_mb={_BASE_MIB + (MEMORY >> 20)}",
                f"-max_len={LARGEST}",
                f"-artifact_prefix={BUILD / 'failures' / name}-",
                "-print_final_stats=1",
                *([f"-dict={words.name}"] if target.words else []),
                *([f"-runs={target.runs}", f"-seed={SEED}"] if fixed else []),
            ]
            atheris.Setup([sys.argv[0], *options, str(own), str(CORPUS / name)], one, custom_mutator=mutated)
            atheris.Fuzz()


def main() -> int:
    """Fuzz readers, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", default=readers.names(), metavar="READER")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each reader")
    parser.add_argument("--hours", type=float, help="for all readers together, instead")
    parser.add_argument("--fixed", action="store_true", help="always the same inputs; SECONDS are a limit")
    parser.add_argument("--jobs", type=int, default=1, help="readers at a time")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        inside(options.inside, options.seconds, options.keep, fixed=options.fixed)
    unknown = set(options.readers) - set(readers.names())
    if unknown:
        parser.error(f"no reader {', '.join(sorted(unknown))}; there are {', '.join(readers.names())}")
    if find_spec("atheris") is None:
        print("Atheris is not installed: pip install kprof[fuzz]", file=sys.stderr)
        return NO_ATHERIS
    if options.hours is not None:
        options.seconds = options.hours * 3600 * options.jobs / len(options.readers)
    began, bad, executed = time.monotonic(), 0, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = pool.map(lambda name: fuzz(name, options.seconds, fixed=options.fixed), options.readers)
        for name, outcome in zip(options.readers, outcomes, strict=True):
            print(f"{name}: {outcome.executed:,} inputs, {outcome.kept:,} of them new", flush=True)
            for path in outcome.failures:
                print(f"    fails: {path.relative_to(ROOT)}", flush=True)
            if outcome.words:
                print("    the fuzzer did not end well:\n" + outcome.words, flush=True)
            bad += bool(outcome.failures or outcome.words)
            executed += outcome.executed
    print(f"{executed:,} inputs in {time.monotonic() - began:.0f} s; {bad} of {len(options.readers)} readers failed")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
