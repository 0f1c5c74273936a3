"""Record the programs of ``[[tool.kprof.program]]`` for a check, and again only if one of their files has changed."""

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
"""Name of a file in a cached capture, with the hash of the capture's content."""

_OF_THE_RUN = re.compile(
    r"(GITHUB|CI|GITLAB|RUNNER|ACTIONS|AGENT|JENKINS|KPROF|PRE_COMMIT|PYTEST|SSH|XDG|DBUS|LC|LESS|TERM)_\w*"
    # Variables of Jenkins and Azure; BUILD_TYPE is not listed, because it may configure the program.
    r"|BUILD_(ID|NUMBER|URL|TAG|DISPLAY_NAME|(BUILD|SOURCE|REPOSITORY|REASON|REQUESTED|QUEUED|DEFINITION|STAGING)\w*)"
    r"|CI|_|HOSTNAME|LANG|LS_COLORS|OLDPWD|PWD|SHLVL|TERM|COLUMNS|LINES|TMPDIR|INVOCATION_ID|JOURNAL_STREAM|NO_COLOR"
)
"""Matches environment variables that differ between CI jobs with the same work, or that only affect printing."""

_DISTRIBUTIONS = ("triton", "torch", "pytorch-triton-rocm")


def recorded(program: GateProgram, gpus: Sequence[str], folder: Path, jobs: int = 0) -> Iterator[CheckSubject]:
    """Yield a check for every kernel that a program launches on each GPU; failures become *cannot tell*.

    Args:
        program: the program to run.
        gpus: architectures or products.
        folder: the configuration's folder, in which the program runs.
        jobs: number of parallel compiles, 0 for one per core.
    """
    entry = program.entry()
    for gpu in gpus:
        try:
            for one in captured(entry, str(capture_of(program, gpu, folder, jobs)), [gpu]):
                # Drop the remark on inputs that a capture cannot compare, because :func:`_is_up_to_date` compares them
                # before a capture is reused.
                yield replace(one, left_out="")
        except KprofError as error:
            yield failed(entry, load_gpu(gpu)[0].name, str(error), None)


def capture_of(program: GateProgram, gpu: str, folder: Path, jobs: int = 0) -> Path:
    """Return a capture of the program: the last one if none of the program's files has changed since, else a new one.

    Raises:
        KprofError: the program cannot be run or fails, or launches no Triton kernel.
    """
    place = private_folder("programs") / _key(program, gpu, folder)
    if _is_up_to_date(place, root_of(folder)):
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
    # Redirect the program's output, because standard output may receive a document.
    ended = run(prepare(options, command), command, folder=folder, stdout=_STDERR)
    ended.obey()
    name = program.entry().target
    if ended.interrupted:
        raise KeyboardInterrupt
    if ended.status:
        how = f"was ended by signal {-ended.status}" if ended.status < 0 else f"failed with exit status {ended.status}"
        raise TargetError(f"the program {how}", path=name, hint="Its output is above.")
    if not read(output).kernels:
        raise TargetError("the program launched no Triton kernel", path=name)


def _is_up_to_date(place: Path, root: Path) -> bool:
    """Return whether a cached capture is complete and unmodified, and its program's files have not changed."""
    try:
        if not is_capture(place) or not location.trusted(place.stat()):
            return False
        if (place / _CONTENT).read_text(encoding="utf-8") != of_folders([place], remember=False):
            return False
        capture = read(place)
    except (KprofError, OSError, UnicodeDecodeError):
        return False
    # Source paths are relative to the work tree, because the capture was recorded into the cache.
    known = capture.complete and capture.sources is not None and not uncompared(capture)
    return known and not capture.changes(root, follow=True)


def _key(program: GateProgram, gpu: str, folder: Path) -> str:
    """Return a hash of everything that a recording depends on except the program's own files."""
    root = root_of(folder)
    where = [str(root), folder.relative_to(root).as_posix()]
    return derived_key(program.command, gpu, where, _versions(), _installed(), _environment(os.environ))[:32]


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables that may affect a program, but none about the CI job or the terminal."""
    return {name: value for name, value in sorted(variables.items()) if not _OF_THE_RUN.fullmatch(name)}


def _installed() -> list[list[str]]:
    """Return every installed distribution with the hash of its RECORD file, which lists the hashes of its files."""
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
