"""Judge candidates in child processes, which run :mod:`kprof.api.live.candidates`."""

import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.api.live.answers import CheckAnswer, KernelAnswer, OracleAnswer
from kprof.api.live.candidate import FILE
from kprof.children import PythonWorker
from kprof.compiler.environment import SWITCHES
from kprof.compiler.wire import exchange
from kprof.errors import KprofError
from kprof.importing.permission import VARIABLE

if TYPE_CHECKING:
    from typing_extensions import Self


_KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TZ", VARIABLE)
"""Environment variables that a candidate's process inherits, besides the switches of Triton's compiler."""


class Judges:
    """Two child processes that fork for each candidate: one compiles it, the other runs it in Triton's interpreter."""

    def __init__(self, head: Mapping[str, Any], limits: Mapping[str, Any]) -> None:
        self._head, self._limits = head, limits
        self._processes: dict[str, PythonWorker] = {}
        self._not_checked: str | None = None

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        for role in list(self._processes):
            self._end(role)

    def judge(self, text: str) -> OracleAnswer:
        """Judge a candidate's text and return the verdict.

        Raises:
            KprofError: the case cannot be used, or this system cannot sandbox candidates.
        """
        if self._head["any_python"]:
            with _folder(text) as folder:
                reply = self._ask("compile", folder, 0, writes=True)
            if reply["kind"] != "written":
                return _failed(reply)
            text = str(reply["text"])
        seed = seed_of(self._head["seed"], text)
        with _folder(text) as folder:
            reply = self._ask("compile", folder, seed)
        if reply["kind"] != "compiled":
            return _failed(reply)
        try:
            kernel = _kernel(reply["kernel"])
            problems, reasons = [str(one) for one in reply["problems"]], [str(one) for one in reply["notes"]]
        except (KeyError, TypeError, ValueError):
            return OracleAnswer(
                "tampered", False, None, None, [], ["the process that compiled it wrote an invalid answer"]
            )
        if reply["implausible"]:
            return OracleAnswer("implausible", True, None, kernel, [], [str(reply["implausible"]), *reasons])
        if problems:
            return OracleAnswer("failed", True, None, kernel, [], [*problems, "not checked: it cannot be launched"])
        if self._not_checked is not None:
            return OracleAnswer("ok", True, None, kernel, [], [*reasons, f"not checked: {self._not_checked}"])
        with _folder(text) as folder:
            reply = self._ask("interpret", folder, seed)
        if reply["kind"] == "unchecked":
            return OracleAnswer("ok", True, None, kernel, [], [*reasons, f"not checked: {reply['why']}"])
        if reply["kind"] != "checked":
            failed = _failed(reply)
            correct = False if failed.status == "failed" else None
            return OracleAnswer(failed.status, True, correct, kernel, [], [*failed.reasons, *reasons])
        checks = [CheckAnswer(*one) for one in reply["checks"]]
        wrong = [f"check {one.name}: {one.reason}" for one in checks if not one.correct]
        reasons = [*reasons, *map(str, reply["notes"])]
        return OracleAnswer("wrong" if wrong else "ok", True, not wrong, kernel, checks, [*wrong, *reasons])

    def _ask(self, role: str, folder: Path, seed: int, *, writes: bool = False) -> dict[str, Any]:
        process = self._processes.get(role)
        if process is None:
            process = self._processes[role] = self._started(role)
        reply = exchange(process, {"folder": str(folder), **self._limits, "seed": seed, "writes": writes})
        if reply is None:
            self._end(role)
            return {"kind": "lost", "why": "the process that checked it was killed"}
        # Messages name files without the candidate's temporary folder, because the folder differs for each run.
        shown: dict[str, Any] = json.loads(json.dumps(reply).replace(f"{folder}/", ""))
        return shown

    def _started(self, role: str) -> PythonWorker:
        process = PythonWorker("kprof.api.live.candidates", role, environment=_environment(role))
        self._processes[role] = process
        reply = exchange(process, self._head)
        if reply is None or reply["kind"] != "ready":
            why = "the process for candidates died" if reply is None else reply["why"]
            raise KprofError(why, hint=None if reply is None else reply.get("hint"))
        if self._not_checked is None:
            self._not_checked = reply["not_checked"]
        return process

    def _end(self, role: str) -> None:
        self._processes.pop(role).end()


def seed_of(seed: int, text: str) -> int:
    """Return the seed of a candidate's inputs: a hash of its text, so that the text cannot contain its own inputs."""
    digest = hashlib.sha256(f"{seed}\0{text}".encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _environment(role: str) -> dict[str, str]:
    """Return the environment of a process for candidates; it contains no variables that may be secrets."""
    kept = {name: value for name, value in os.environ.items() if name in _KEPT or name in SWITCHES}
    return {
        **kept,
        "TRITON_INTERPRET": "1" if role == "interpret" else "0",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
    }


@contextmanager
def _folder(text: str) -> Iterator[Path]:
    """Create a temporary folder that contains only the candidate's file."""
    with tempfile.TemporaryDirectory(prefix="kprof-candidate-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        (folder / FILE).write_text(text, encoding="utf-8")
        yield folder


def _kernel(reply: Mapping[str, Any]) -> KernelAnswer:
    import msgspec

    # msgspec crashes with a segmentation fault if two threads convert to a class for the first time at once.
    with _CONVERTS:
        return msgspec.convert(reply, KernelAnswer)


_CONVERTS = threading.Lock()


_STATUS = {"limit": "limit", "tampered": "tampered", "lost": "failed", "error": "failed"}


def _failed(reply: Mapping[str, Any]) -> OracleAnswer:
    """Return the verdict on a candidate whose compile or run failed.

    Raises:
        KprofError: this system cannot sandbox candidates.
    """
    if reply["kind"] == "uncontained":
        raise KprofError(str(reply["why"]), hint=reply.get("hint"))
    status = _STATUS.get(str(reply["kind"]))
    if status is None:
        return OracleAnswer("tampered", False, None, None, [], ["its process answered another query"])
    if reply["kind"] == "error" and reply.get("stage") == "form":
        status = "refused"
    hint = reply.get("hint")
    return OracleAnswer(status, False, None, None, [], [str(reply.get("why", "")), *([str(hint)] if hint else [])])
