"""A process of a session: it reads queries and answers them one at a time. It may be killed at any moment.

Standard input and output are redirected before any user code runs, so that its prints cannot disturb the answers.
"""

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

from kprof.cache import location
from kprof.children import end_with_parent, own_streams
from kprof.compiler.question_cache import recalled_files
from kprof.compiler.wire import pack, unpack
from kprof.errors import KprofError
from kprof.importing.dependencies import Stamp, dependencies, is_own, stale, stamps
from kprof.importing.loading import dependencies_of, loaded_modules

MOST_FILES = 2000
"""Maximum number of files that are checked for changes; answers that depend on more files are not cached."""

_UNKNOWN = (-1, -1)
_RUN_PROGRAMS = frozenset({"advise", "rank"})
"""Queries that run a capture's program again."""


def main() -> None:
    """Serve queries until standard input ends.

    The command-line arguments are a memory limit in bytes (0 for none), and ``warm`` to start a compiler in advance.
    """
    end_with_parent()
    location.silence()
    source, answers = own_streams()
    limit_memory(int(sys.argv[1]))
    _warm(compiler=sys.argv[2] == "warm")
    serve(source, answers)


def limit_memory(most: int) -> None:
    """Limit the address space of this process and its children to ``most`` bytes, if the system supports limits."""
    if not most:
        return
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _warm(*, compiler: bool) -> None:
    """Import modules that most queries need; errors of Triton are reported by the first query."""
    import kprof_analyzers.pipeline  # noqa: F401
    from kprof.api.live import questions  # noqa: F401
    from kprof.compiler import versions
    from kprof.compiler.compile import warm

    try:
        versions.installed()
        if compiler:
            # The compiler process imports Triton in parallel with this process.
            warm()
        versions.api()
    except KprofError:
        return


def serve(source: BinaryIO, answers: BinaryIO) -> None:
    """Answer queries until the input ends, or until the file of a module that this process has imported is changed."""
    known = frozenset(sys.modules)
    held: dict[str, Stamp] = {}
    for question in frames(source):
        if stale(held):
            # Python keeps imported modules, so only a new process sees the changed files.
            send(answers, {"kind": "stale"})
            return
        began = time.time_ns()
        os.chdir(question["folder"])
        files = stamps(_target_files(question["arguments"]))
        reply = _reply(question)
        complete = True
        imported = {id(module) for module in loaded_modules()}
        for name, module in list(sys.modules.items()):
            if name not in known and _may_change(module):
                # kprof reloads changed kernel files and their helper modules itself, so a change of these does not
                # require a new process.
                again = id(module) in imported
                found = dependencies_of(module) if again else dependencies(module)
                complete = complete and found.complete
                for path, stamp in _as_read(found.files, began).items():
                    (files if again else held).setdefault(path, stamp)
        files |= _as_read(recalled_files(), began) | held
        reply["files"] = [[path, *stamp] for path, stamp in files.items()]
        kept = reply["kind"] == "answer" and _rests_on_files(question)
        reply["keep"] = kept and complete and len(files) <= MOST_FILES
        send(answers, reply)


def _as_read(paths: Iterable[str], began: int) -> dict[str, Stamp]:
    """Return the stamps of files. A file written since ``began`` may have been read before, so its stamp is unknown."""
    return {path: stamp if stamp[1] < began else _UNKNOWN for path, stamp in stamps(paths).items()}


def _rests_on_files(question: Mapping[str, Any]) -> bool:
    """Return whether an answer depends only on the target's files; a program that runs may read anything."""
    if question["question"] in _RUN_PROGRAMS:
        target = question["arguments"].get("target")
        # os.path is used because pathlib raises an error for a name that is longer than file names may be.
        return isinstance(target, str) and not os.path.isdir(target.partition("::")[0])  # noqa: PTH112
    return bool(question["question"] != "capture")


def _may_change(module: ModuleType) -> bool:
    """Return whether a module's file may be edited during a session; installed packages are assumed unchanged."""
    parts = Path(getattr(module, "__file__", None) or "").parts
    own = is_own(module) and not module.__name__.startswith("kprof_analyzers")
    return own and not {"site-packages", "dist-packages"}.intersection(parts)


def _reply(question: Mapping[str, Any]) -> dict[str, Any]:
    from kprof.api.live.questions import ask

    try:
        return {"kind": "answer", "answer": ask(question["question"], question["arguments"])}
    except KprofError as error:
        shown = {"message": error.message, "path": error.path, "place": error.place, "hint": error.hint}
        return {"kind": "error", "error": shown, "type": type(error).__name__}
    except MemoryError:
        return {"kind": "error", "error": {"message": "the query exceeded the memory limit"}, "type": "KprofError"}
    except Exception as error:  # noqa: BLE001 - the session must survive any error
        text = f"kprof failed: {type(error).__name__}: {error}"
        return {"kind": "error", "error": {"message": text}, "type": "KprofError"}


def _target_files(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths that a target names: the file or folder itself, and the files in the folder."""
    target = arguments.get("target")
    path = Path(target.partition("::")[0]) if isinstance(target, str) else None
    if path is None or not os.path.exists(path):  # noqa: PTH110 - as above
        return
    yield str(path.absolute())
    if path.is_dir():
        for count, each in enumerate(path.rglob("*")):
            if count > MOST_FILES:
                return
            yield str(each.absolute())


def frames(source: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield the header of each message, without its binary parts, until the stream ends."""
    buffer = bytearray()
    while data := source.read(1 << 16):
        buffer += data
        while (frame := unpack(buffer)) is not None:
            yield frame[0]


def send(answers: BinaryIO, head: dict[str, Any], blobs: Mapping[str, bytes] | None = None) -> None:
    """Send a complete message; values that JSON cannot represent (enums, paths) become strings."""
    for part in pack(json.loads(json.dumps(head, default=str)), blobs):
        view = memoryview(part)
        while view:
            view = view[answers.write(view) :]
