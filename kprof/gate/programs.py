"""``[[tool.kprof.program]]``: programs that the check itself records, again only when a file of theirs has changed."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kprof.cache import location
from kprof.cache.content import of_folders
from kprof.cache.folders import private_folder
from kprof.cache.own import derived_key
from kprof.captures.layout import is_capture
from kprof.captures.reader import read
from kprof.captures.staleness import digest, root_of
from kprof.errors import KprofError, TargetError
from kprof.gate.captured import captured, uncompared
from kprof.gate.config import GateProgram
from kprof.gate.subject import CheckSubject, failed
from kprof.hardware.machine import load_gpu

_STDERR = 2
_CONTENT = ".content"
"""Besides what a capture has: what stands for the content of its files."""

_OF_THE_RUN = re.compile(
    r"(GITHUB|CI|GITLAB|RUNNER|ACTIONS|AGENT|JENKINS|KPROF|PRE_COMMIT|PYTEST|SSH|XDG|DBUS|LC|LESS|TERM)_\w*"
    # Jenkins and Azure have these; what a program is told by BUILD_TYPE is not among them.
    r"|BUILD_(ID|NUMBER|URL|TAG|DISPLAY_NAME|(BUILD|SOURCE|REPOSITORY|REASON|REQUESTED|QUEUED|DEFINITION|STAGING)\w*)"
    r"|CI|_|HOSTNAME|LANG|LS_COLORS|OLDPWD|PWD|SHLVL|TERM|COLUMNS|LINES|TMPDIR|INVOCATION_ID|JOURNAL_STREAM|NO_COLOR"
)
"""Variables that differ between two jobs of the same work, or that only say how to print."""

_DISTRIBUTIONS = ("triton", "torch", "pytorch-triton-rocm")


def recorded(program: GateProgram, gpus: Sequence[str], folder: Path, jobs: int = 0) -> Iterator[CheckSubject]:
    """Every kernel that a program launches, for each architecture; one that goes wrong is a *cannot tell*.

    Args:
        program: what to run.
        gpus: architectures or products.
        folder: the configuration's, in which it runs.
        jobs: compiles at a time, 0 for one a core.
    """
    entry = program.entry()
    for gpu in gpus:
        try:
            for one in captured(entry, str(capture_of(program, gpu, folder, jobs)), [gpu]):
                # What a capture cannot compare, since it may be moved, is compared before this one is used again.
                yield replace(one, left_out="")
        except KprofError as error:
            yield failed(entry, load_gpu(gpu)[0].name, str(error), None)


def capture_of(program: GateProgram, gpu: str, folder: Path, jobs: int = 0) -> Path:
    """A capture of a program as it is now: the last one when none of its files has changed since, else a new one.

    Raises:
        KprofError: the program cannot be run or fails, or launches no Triton kernel.
    """
    place = private_folder("programs") / _key(program, gpu, folder)
    if _fresh(place, root_of(folder)):
        return place
    made = place.with_name(f"{place.name}.{os.getpid()}")
    shutil.rmtree(made, ignore_errors=True)
    try:
        _record(program, gpu, folder, jobs, made)
        (made / _CONTENT).write_text(of_folders([made], remember=False), encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
        made.rename(place)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return place


def _record(program: GateProgram, gpu: str, folder: Path, jobs: int, output: Path) -> None:
    from kprof.recording.command import RecordOptions, prepare, run

    first, *others = program.command
    command = [sys.executable if first in {"python", "python3"} else first, *others]
    options = RecordOptions(gpu, output, jobs=jobs, execute=False, folder=folder)
    # What the program prints must not get into a document on standard output.
    ended = run(prepare(options, command), command, folder=folder, stdout=_STDERR)
    ended.obey()
    name = program.entry().target
    if ended.interrupted:
        raise KeyboardInterrupt
    if ended.status:
        how = f"was ended by signal {-ended.status}" if ended.status < 0 else f"failed with exit status {ended.status}"
        raise TargetError(f"the program {how}", path=name, hint="What it printed stands above.")
    if not read(output).kernels:
        raise TargetError("the program launched no Triton kernel", path=name)


def _fresh(place: Path, root: Path) -> bool:
    """Whether there is a whole capture there, as it was recorded, whose program's files have not changed."""
    try:
        if not is_capture(place) or not location.trusted(place.stat()):
            return False
        if (place / _CONTENT).read_text(encoding="utf-8") != of_folders([place], remember=False):
            return False
        capture = read(place)
    except (KprofError, OSError, UnicodeDecodeError):
        return False
    # Its names start in the work tree: it was recorded into the cache.
    known = capture.complete and capture.sources is not None and not uncompared(capture)
    return known and not capture.changes(root, follow=True)


def _key(program: GateProgram, gpu: str, folder: Path) -> str:
    """What decides a recording besides the program's own files."""
    root = root_of(folder)
    where = [str(root), folder.relative_to(root).as_posix()]
    return derived_key(program.command, gpu, where, _versions(), _installed(), _environment(os.environ))[:32]


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """What a program may be told by its environment, without what says where and when it runs."""
    return {name: value for name, value in sorted(variables.items()) if not _OF_THE_RUN.fullmatch(name)}


def _installed() -> list[list[str]]:
    """Every installed distribution with a hash of the list of its files, which has their hashes."""
    places = dict.fromkeys(path for path in sys.path if path.endswith("-packages"))
    lists = sorted(path for place in places for path in Path(place).glob("*.dist-info/RECORD"))
    return [[path.parent.name, digest(path) or ""] for path in lists]


def _versions() -> list[str | None]:
    found: list[str | None] = []
    for name in _DISTRIBUTIONS:
        try:
            found.append(version(name))
        except PackageNotFoundError:
            found.append(None)
    return found
