"""Store the results of compiles, atomically in the capture and in kprof's cache. Imports only the standard library."""

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.cache.entries import CacheSection
from kprof.cache.keys import key
from kprof.cache.own import of_package
from kprof.captures import layout
from kprof.compiler.compiled_cache import MAKERS
from kprof.compiler.wire import pack, unpack
from kprof.errors import KprofError
from kprof.recording.settings import Settings
from kprof.recording.ticket import Ticket

if TYPE_CHECKING:
    from kprof.compiler.request import Compiled
    from kprof.recording.journal import CaptureJournal

Blobs = Mapping[str, str | bytes]

_CAPTURED = CacheSection("captured")
_KEPT_STAGES = (*layout.STAGES, "hsaco")
_LOG_LIMIT = 1 << 16


def fetch(settings: Settings, identifier: str) -> tuple[dict[str, Any], dict[str, str | bytes]] | None:
    """Return a kernel's result and metadata, and its stages by name, from kprof's cache; ``None`` if not cached."""
    if settings.cache is None:
        return None
    data = _CAPTURED.read(_key(identifier), Path(settings.cache))
    return None if data is None else unpack(bytearray(data))


def from_cache(settings: Settings, identifier: str, folder: Path) -> bool:
    """Copy a kernel from kprof's cache into the capture; return False if it is not cached."""
    frame = fetch(settings, identifier)
    if frame is None:
        return False
    head, blobs = frame
    place(folder, {**head["result"], "cached": True}, head["metadata"], blobs)
    return True


def write(
    settings: Settings,
    ticket: Ticket,
    make: Callable[[Callable[[str], None]], "Compiled"],
    progress: Callable[[str], None],
    log: int,
) -> None:
    """Compile a kernel, and store the result in the capture and the cache."""
    from kprof.compiler.failures import RefusedError, from_diagnostics

    try:
        compiled = make(progress)
    except KprofError as error:
        diagnosed = from_diagnostics(error, _printed(log)) if isinstance(error, RefusedError) else error
        stages = diagnosed.stages if isinstance(diagnosed, RefusedError) else {}
        place(ticket.folder, _failure(diagnosed), {}, stages)
        return
    result = {
        "status": "ok",
        "seconds": compiled.seconds,
        "triton": compiled.triton_version,
        "diagnostics": "\n".join(filter(None, (compiled.diagnostics, _printed(log).strip()))),
        "stage_seconds": dict(compiled.stage_seconds),
        "missing": dict(compiled.missing),
    }
    blobs = {stage: compiled.stages[stage] for stage in _KEPT_STAGES if stage in compiled.stages}
    if settings.cache is not None:
        head = {"result": result, "metadata": dict(compiled.metadata)}
        _CAPTURED.write(_key(ticket.id), pack(head, blobs), Path(settings.cache))
    place(ticket.folder, result, compiled.metadata, blobs)


def write_accident(settings: Settings, ticket: Ticket, error: BaseException) -> None:
    """Store an unexpected exception as the reason why this kernel's compile failed."""
    del settings
    text = f"{type(error).__name__}: {error}".splitlines()[0][:500]
    place(ticket.folder, {"status": "failed", "error": f"does not compile: {text}"}, {}, {})


def write_death(settings: Settings, ticket: Ticket, status: int, stage: str | None) -> None:
    """Store a compiling process's crash or timeout as this kernel's result."""
    result: dict[str, Any] = {"status": "crashed", "stage": stage}
    while_making = f" while making {stage}" if stage else ""
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        result |= {"status": "timeout", "error": f"took longer than {settings.timeout:g} s{while_making}"}
    elif os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        known = {s.value: s.name for s in signal.Signals}
        result["error"] = f"crashed: signal {number} ({known.get(number, 'unknown')}){while_making}"
    else:
        result["error"] = f"crashed: exit status {os.WEXITSTATUS(status)}{while_making}"
    log = log_path(ticket.folder, ticket.pid)
    with contextlib.suppress(OSError):
        printed = log.read_bytes()[-_LOG_LIMIT:].decode(errors="replace")
        said = [x for x in printed.splitlines() if x.startswith("LLVM ERROR") or "Assertion" in x]
        result |= {"diagnostics": printed, "hint": said[-1][:500] if said else None}
    with contextlib.suppress(OSError):
        place(ticket.folder, result, {}, {}, ticket.pid)


def log_path(folder: Path, pid: int) -> Path:
    """Return the path of the log that a compiling process writes."""
    return folder.with_name(f".{folder.name}.{pid}.log")


def discard(folder: Path, pid: int) -> None:
    """Remove the files of an unfinished compile."""
    with contextlib.suppress(OSError):
        log_path(folder, pid).unlink()
    shutil.rmtree(_partial(folder, pid), ignore_errors=True)


def result(folder: Path) -> dict[str, Any]:
    """Return the result of a compile in this capture; empty if there is none."""
    return _json(folder / layout.RESULT)


def metadata(folder: Path) -> dict[str, Any]:
    """Return Triton's metadata of a kernel in this capture; empty if it was not compiled."""
    return _json(folder / layout.METADATA)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _key(identifier: str) -> str:
    return key(identifier, of_package(*MAKERS, "recording"))


def _failure(error: KprofError) -> dict[str, Any]:
    return {
        "status": "failed",
        "error": error.message,
        "place": error.place,
        "hint": error.hint,
        "stage": getattr(error, "stage", None),
        "diagnostics": getattr(error, "diagnostics", ""),
    }


def _printed(log: int) -> str:
    size = os.fstat(log).st_size
    return os.pread(log, _LOG_LIMIT, max(0, size - _LOG_LIMIT)).decode(errors="replace")


def _partial(folder: Path, pid: int) -> Path:
    return folder.with_name(f".{folder.name}.{pid}")


def place(
    folder: Path, result: Mapping[str, Any], metadata: Mapping[str, Any], blobs: Blobs, pid: int | None = None
) -> None:
    """Create the kernel's folder atomically, with its complete contents."""
    own = os.getpid() if pid is None else pid
    partial = _partial(folder, own)
    partial.mkdir(parents=True, exist_ok=True)
    for stage, content in blobs.items():
        if stage in layout.STAGES:
            data = content.encode() if isinstance(content, str) else content
            (partial / f"kernel.{stage}").write_bytes(data)
    if metadata:
        (partial / layout.METADATA).write_text(json.dumps(metadata), encoding="utf-8")
    (partial / layout.RESULT).write_text(json.dumps(result), encoding="utf-8")
    try:
        partial.rename(folder)
    except OSError:
        # Another process was faster, with the same result.
        if not (folder / layout.RESULT).is_file():
            raise
    discard(folder, own)


def place_or_fail(
    journal: "CaptureJournal", folder: Path, result: Mapping[str, Any], metadata: Mapping[str, Any], blobs: Blobs
) -> None:
    """Create the kernel's folder like :func:`place`; an error of the disk ends the recording, not the program."""
    try:
        place(folder, result, metadata, blobs)
    except OSError as error:
        journal.fail(error)
