"""A process that imports Triton and a case once, and forks for each candidate. It runs no code of a candidate itself.

The fork is sandboxed before it reads the candidate. It ends after sending its answer, at its time limit, or with a
crash; all three lead to a verdict. The fork's own claims are never trusted: it returns outputs, and a second fork,
which has not loaded the candidate, compares them with the reference.
"""

import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from kprof.api.live import candidate
from kprof.api.live.candidate import TIMED, CheckTrial, LaunchWork, TamperedError, TrialCase, timed_config
from kprof.api.live.chosen_programs import WrittenElements, difference, written_elements
from kprof.api.live.containment import contain, mapped_bytes
from kprof.api.live.containment.kernel import UncontainedError
from kprof.api.live.worker import frames, send
from kprof.cache import location
from kprof.children import end_with_parent, own_streams
from kprof.compiler.wire import unpack
from kprof.errors import KprofError, TargetError
from kprof.importing.plain_functions import FormError
from kprof.kernel_spec import ELEMENT_TYPES, Kernel


def judged(
    asked: TrialCase,
    listed: Sequence[Any],
    blobs: Mapping[str, bytes],
    knobs: Mapping[str, Any],
    timed: Mapping[str, Any],
) -> dict[str, Any]:
    """Compare a candidate's outputs with the case's reference, and return one result per check."""
    import torch

    from kprof.bench.compare import compare_all, describe, is_right

    kernel = asked.kernel
    assert kernel.inputs is not None
    assert kernel.reference is not None
    assert kernel.tolerance is not None
    types = {kind.torch for kind in ELEMENT_TYPES.values()}
    got: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    for check, name, kind, shape in listed:
        if not name:
            failed[check] = kind
            continue
        if kind not in types:
            raise TargetError(f"check {check}: {name} has the type {kind}")
        data = bytearray(blobs[f"{check} {name}"])
        flat = torch.frombuffer(data, dtype=getattr(torch, kind)) if data else torch.empty(0)
        got.setdefault(check, {})[name] = flat.reshape(shape)
    checks = []
    for trial in asked.trials(knobs):
        expected = kernel.reference(kernel.inputs(trial.shape, "cpu", trial.seed), trial.shape)

        def wrong(outputs: Any, trial: CheckTrial = trial, expected: Any = expected) -> str:
            if outputs.keys() != expected.keys():
                return f"gives {sorted(outputs)}, the reference {sorted(expected)}"
            errors = compare_all(outputs, expected, kernel.tolerance(trial.shape))  # type: ignore[misc]
            return "; ".join(describe(error) for error in errors if not is_right(error))

        reason = failed.get(trial.name) or wrong(got.get(trial.name, {}))
        if reason and trial.is_compiled and not _is_right_itself(kernel, trial, wrong):
            continue
        checks.append([trial.name, not reason, reason])
    if asked.timed is not None:
        reason = _timed_reason(asked, blobs, knobs, timed)
        checks.append([TIMED, not reason, reason])
    return {"kind": "checked", "checks": checks, "notes": [asked.not_timed] if asked.not_timed else []}


def _timed_reason(
    asked: TrialCase, blobs: Mapping[str, bytes], knobs: Mapping[str, Any], timed: Mapping[str, Any]
) -> str:
    """Return what is wrong with the elements that a candidate wrote in the timed launch, or "" if they are correct."""
    import torch

    from kprof.importing.wrappers import kernel_function

    if "failed" in timed:
        return str(timed["failed"])
    types = {kind.torch for kind in ELEMENT_TYPES.values()}
    got = WrittenElements(outputs={str(key): str(name) for key, name in timed["outputs"].items()})
    for name, kind in timed["types"].items():
        if kind not in types:
            raise TargetError(f"{name} has the type {kind}")
        places, values = (bytearray(blobs[f"{TIMED} {part} {name}"]) for part in ("places", "values"))
        got.values[name] = (
            torch.frombuffer(places, dtype=torch.int64) if places else torch.empty(0, dtype=torch.int64),
            torch.frombuffer(values or bytearray(8), dtype=getattr(torch, kind))[: len(places) // 8],
        )
    assert asked.timed is not None
    launch = replace(asked.timed, seed=asked.seed)
    try:
        entry = kernel_function(asked.kernel.entry)
        own = written_elements(asked.kernel, asked.function, entry, launch, timed_config(asked, knobs))
    except Exception:  # noqa: BLE001 - the case's own kernel may not take such knobs, and fail in any way
        own = None
    return difference(asked.kernel, launch, got, own)


def _is_right_itself(kernel: Kernel, trial: CheckTrial, wrong: Callable[[Any], str]) -> bool:
    """Return whether the case's own kernel gives correct results for the problem and the knobs of a trial."""
    assert kernel.run is not None
    assert kernel.inputs is not None
    try:
        return not wrong(kernel.run(kernel.inputs(trial.shape, "cpu", trial.seed), trial.shape, trial.config))
    except Exception:  # noqa: BLE001 - a problem that is too small for the knobs may fail in any way
        return False


MOST = 1 << 28
"""Maximum size of a fork's answer, in bytes."""
_LOG = "printed"
_OWN_SECONDS = 300.0
_PATIENCE = 50
"""Time, in hundredths of a second, that a fork has to exit after its answer before it is killed."""

_NO_MEMORY = {"kind": "limit", "why": "exceeds its memory limit"}

Answer = tuple[dict[str, Any], dict[str, bytes]]


def main() -> None:
    """Serve candidates until standard input ends.

    The first message is the case. The command-line argument selects ``interpret`` or compilation.
    """
    end_with_parent()
    location.silence()
    source, answers = own_streams()
    interpret = sys.argv[1] == "interpret"
    messages = frames(source)
    first = next(messages, None)
    if first is None:
        return
    try:
        asked = _case(first, interpret=interpret)
    except KprofError as error:
        send(answers, _error_fields(error))
        return
    send(answers, {"kind": "ready", "not_checked": asked.not_checked})
    keep_shut = (source.fileno(), answers.fileno())
    if not interpret:
        asked = replace(asked, own=_own_work(asked, keep_shut))
    is_ready = not interpret
    for message in messages:
        if not is_ready:
            asked, is_ready = candidate.with_timed_launch(asked, message["memory"]), True
        send(answers, _served(asked, message, keep_shut, interpret=interpret))


_FOR_BOTH = ("triton.compiler.code_generator", "triton.experimental.gluon", "triton.language.extra.libdevice")
_FOR_CHECKS = ("kprof.bench.compare",)
_FOR_COMPILES = (
    "kprof.api.live.questions",
    "kprof.compiler.cached_compile",
    "kprof.compiler.worker",
    "kprof.reporters.answer",
    "kprof.targets.jobs",
    "kprof.targets.specialize",
    "kprof_analyzers.pipeline",
)
"""Modules that forks need to compile. They are imported before the first fork, so that no fork has to import them."""


def _case(message: Mapping[str, Any], *, interpret: bool) -> TrialCase:
    """Import the case, and all modules that candidates need.

    Raises:
        KprofError: the case or the GPU does not exist, or the kernel has neither shapes nor checks.
    """
    from kprof.analysis import discover
    from kprof.compiler import compiled_cache, versions
    from kprof.hardware.machine import load_gpu
    from kprof.importing.without_gpu import simulating
    from kprof.targets.library import load

    versions.installed()
    machine, _ = load_gpu(message["arch"])
    with simulating(message["arch"]):
        kernel = load(message["kernel"], interpret=interpret)
    if not kernel.shapes and not kernel.checks:
        raise KprofError(
            f"{kernel.name} does not say how it is launched", hint="A case is a file with a KERNEL that has shapes."
        )
    kernel.problem(machine.name, message["case"])
    with suppress(ImportError):
        if interpret:
            import torch

            from kprof.bench.interpreter import mend_interpreter

            torch.set_num_threads(1)
            mend_interpreter()
    if not interpret:
        versions.api()
        list(discover())
        # Hash the compiler's files before any fork. Forks cannot use the cache, and would hash the files for each
        # candidate.
        compiled_cache.makers()
    for name in (*_FOR_BOTH, *(_FOR_CHECKS if interpret else _FOR_COMPILES)):
        # Triton releases differ in these modules, so skip modules that this release does not have.
        with suppress(ImportError):
            import_module(name)
    return TrialCase(kernel, message["arch"], message["case"], message["seed"])


def _own_work(asked: TrialCase, keep_shut: tuple[int, ...]) -> LaunchWork | None:
    """Compute the work of the case's own kernel, in a fork because a compile leaves threads and memory behind."""

    def work() -> Answer:
        found = candidate.own_work(asked)
        return {"kind": "work", "work": None if found is None else asdict(found)}, {}

    head, _ = _forked(work, _OWN_SECONDS, keep_shut)
    known = head.get("work") if head.get("kind") == "work" else None
    return None if known is None else LaunchWork(**known)


def _served(
    asked: TrialCase, message: Mapping[str, Any], keep_shut: tuple[int, ...], *, interpret: bool
) -> dict[str, Any]:
    folder, parent = Path(message["folder"]), os.getpid()
    asked = replace(asked, seed=message["seed"])

    def work() -> Answer:
        _enter(folder, message, parent)
        if message["writes"]:
            return {"kind": "written", "text": candidate.written(asked)}, {}
        if interpret:
            return candidate.interpreted(asked)
        from kprof.compiler.worker import log

        return candidate.compiled(asked, log), {}

    head, blobs = _forked(work, message["seconds"], keep_shut)
    if head.get("kind") != "outputs":
        return head

    def judge() -> Answer:
        end_with_parent(parent)
        return judged(asked, head["outputs"], blobs, head["knobs"], head["timed"]), {}

    found, _ = _forked(judge, message["seconds"], keep_shut)
    return found if found.get("kind") == "checked" else {"kind": "tampered", "why": "its outputs cannot be read"}


def _enter(folder: Path, message: Mapping[str, Any], parent: int) -> None:
    """Enter the candidate's folder, restrict this process to it (sandbox), and redirect its output to a file in it."""
    if not sys.platform.startswith("linux"):
        raise UncontainedError(f"candidates cannot be sandboxed on {sys.platform}", hint="Run it on Linux.")
    os.chdir(folder)
    log = os.open(folder / _LOG, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    for name in ("HOME", "TMPDIR", "TRITON_CACHE_DIR", "TRITON_HOME"):
        os.environ[name] = str(folder)
    tempfile.tempdir = str(folder)
    contain(
        folder,
        memory=mapped_bytes() + message["memory"],
        seconds=message["seconds"],
        parent=parent,
        network=message["network"],
    )


def _forked(work: Callable[[], Answer], seconds: float, keep_shut: tuple[int, ...]) -> Answer:
    """Run ``work`` in a fork and return its answer; the answer's kind is ``lost`` or ``limit`` if the fork fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        for descriptor in (reading, *keep_shut):
            os.close(descriptor)
        _answer(work, writing)
    os.close(writing)
    try:
        answer = _collected(reading, seconds)
    finally:
        os.close(reading)
        status = _ended(child)
    return answer or (_end_of(status), {})


def _answer(work: Callable[[], Answer], descriptor: int) -> None:
    """Run ``work`` in the fork, send its answer, and exit."""
    blobs: dict[str, bytes] = {}
    try:
        head, blobs = work()
    except TamperedError as error:
        head = {"kind": "tampered", "why": error.message}
    except UncontainedError as error:
        head = {**_error_fields(error), "kind": "uncontained"}
    except KprofError as error:
        head = _NO_MEMORY if isinstance(error.__cause__, MemoryError) else _error_fields(error)
    except MemoryError:
        head = _NO_MEMORY
    except BaseException as error:  # noqa: BLE001 - SystemExit too, which the candidate may raise
        head = {"kind": "error", "stage": "", "why": f"{type(error).__name__}: {str(error).strip()[:500]}"}
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            send(stream, head, blobs)
    finally:
        os._exit(0)


def _error_fields(error: KprofError) -> dict[str, Any]:
    where = ", ".join(part for part in (error.path, error.place) if part)
    text = f"{where}: {error.message}" if where else error.message
    stage = "form" if isinstance(error, FormError) else ""
    return {"kind": "error", "stage": stage, "why": text.replace(f"{Path.cwd()}/", ""), "hint": error.hint}


def _ended(child: int) -> int:
    """Wait briefly for a fork that has answered or reached its time limit, then kill it; return its exit status."""
    for _ in range(_PATIENCE):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _collected(descriptor: int, seconds: float) -> Answer | None:
    """Read an answer until its end or the deadline; return ``None`` if the fork wrote none."""
    deadline = time.monotonic() + seconds
    buffer = bytearray()
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([descriptor], [], [], left)[0]:
            return {"kind": "limit", "why": f"takes longer than {seconds:g} s"}, {}
        data = os.read(descriptor, 1 << 20)
        buffer += data
        if len(buffer) > MOST:
            return {"kind": "limit", "why": f"writes an answer of more than {MOST >> 20} MiB"}, {}
        if not data:
            break
    try:
        frame = unpack(buffer)
    except (ValueError, KeyError, TypeError, UnicodeDecodeError):
        return {"kind": "tampered", "why": "its process wrote an invalid answer"}, {}
    if frame is None or buffer:
        why = "its process wrote an invalid answer"
        return ({"kind": "tampered", "why": why}, {}) if frame or buffer else None
    head, blobs = frame
    return head, {name: data for name, data in blobs.items() if isinstance(data, bytes)}


def _end_of(status: int) -> dict[str, Any]:
    """Describe how a process ended without an answer."""
    if status >= 0:
        return {"kind": "lost", "why": f"its process exited with status {status}"}
    name = signal.Signals(-status).name if -status in signal.valid_signals() else f"signal {-status}"
    if -status in {signal.SIGXCPU, signal.SIGKILL}:
        return {"kind": "limit", "why": f"its process was killed, by {name}: it exceeded its time or memory limit"}
    return {"kind": "lost", "why": f"its process died: {name}"}
