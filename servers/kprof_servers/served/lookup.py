"""Call a server's own lookup functions: find its code, and run :mod:`.lookup_process` on it."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from kprof import children
from kprof.errors import KprofError
from kprof.importing.permission import require
from kprof.inputs import boundary
from kprof_servers.served.interface import LookupAnswer, LookupCall, ModelServer

_PROCESS = Path(__file__).with_name("lookup_process.py")
_TIME_LIMIT = 120.0
_COMMIT = re.compile(r"[0-9a-f]{40}")
_MOST = 1 << 20


class LookupMissingError(KprofError):
    """A server's code has no lookup function where kprof looks for it: it is of another version."""


@dataclass(frozen=True)
class ServerCode:
    """Where a server's code is.

    Attributes:
        root: the folder that its package is in.
        version: of the installed or unpacked distribution, or the commit; ``unknown`` where neither is written.
    """

    root: Path
    version: str


def server_code(server: ModelServer, path: str | None) -> ServerCode | None:
    """The server's code.

    Args:
        server: which.
        path: a checkout, the folder that the package is installed in, or the package itself; ``None`` for what this
            Python has installed.

    Returns:
        ``None`` where no path is named and none is installed.

    Raises:
        KprofError: the path has no such package.
    """
    if path is None:
        spec = PathFinder.find_spec(server.package)
        places = list(spec.submodule_search_locations or ()) if spec is not None else []
        return (
            ServerCode(Path(places[0]).parent, version_of(Path(places[0]).parent, server.package)) if places else None
        )
    given = Path(path).absolute()
    for root in (given, given / "python", given.parent):
        if (root / server.package).is_dir() and (root / server.package / server.sign).exists():
            return ServerCode(root, version_of(root, server.package))
    raise KprofError(
        f"this is no checkout of {server.shown} and no folder that it is installed in",
        path=path,
        hint=f"It has {server.package}/{server.sign}.",
    )


def serves(server: ModelServer, code: ServerCode, architecture: str) -> bool | None:
    """Whether a server's code names a model's architecture; ``None`` where the code has no list of them."""
    files = sorted(code.root.glob(server.models)) if server.models else []
    if not files:
        return None
    name = re.compile(rf"\b{re.escape(architecture)}\b".encode())
    return any(name.search(boundary.content_of(file, _MOST) or b"") for file in files)


def has(code: ServerCode, call: LookupCall) -> bool:
    """Whether this version has the function."""
    try:
        _file(code, call)
    except LookupMissingError:
        return False
    return True


def ask(code: ServerCode, calls: Sequence[LookupCall], *, device: str, arch: str, triton: str) -> list[LookupAnswer]:
    """Call functions of the server, in a process of their own; nothing else of it is executed.

    Args:
        code: the server's.
        calls: what to call.
        device: what the GPU is called, with underscores for blanks.
        arch: its architecture.
        triton: the version that the server is told.

    Raises:
        LookupMissingError: this version of the server has no such function.
        KprofError: the process failed.
    """
    require(code.root, "imported as a server's Python")
    wanted = [
        {"file": _file(code, each), "function": each.function, "options": dict(each.options), "loose": each.loose}
        for each in calls
    ]
    question = {"root": str(code.root), "device": device, "arch": arch, "triton": triton, "calls": wanted}
    try:
        ended = children.run(
            [sys.executable, "-I", str(_PROCESS)],
            input=json.dumps(question),
            capture_output=True,
            text=True,
            timeout=_TIME_LIMIT,
        )
    except subprocess.TimeoutExpired:
        raise KprofError(f"the server's lookup took more than {_TIME_LIMIT:.0f} s", path=str(code.root)) from None
    if ended.returncode:
        last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        raise KprofError(f"the server's lookup failed: {last[:300]}", path=str(code.root))
    try:
        answers = json.loads(ended.stdout)
    except (ValueError, RecursionError):
        raise KprofError("the server's lookup printed something else than its answer", path=str(code.root)) from None
    return [_answer(each) for each in answers]


def _answer(found: dict[str, Any]) -> LookupAnswer:
    return LookupAnswer(tuple(found["asked"]), found["opened"], found.get("result"), found.get("error", ""))


def _file(code: ServerCode, call: LookupCall) -> str:
    for name in call.files:
        if f"{call.function}" in (boundary.content_of(code.root / name, _MOST) or b"").decode("utf-8", "replace"):
            return name
    raise LookupMissingError(
        f"version {code.version} has no {call.function} where kprof looks for it",
        path=str(code.root / call.files[0]),
        hint="Without --server-path the names are taken from a table.",
    )


def version_of(root: Path, package: str) -> str:
    """Version of a distribution, or the commit of a checkout; ``unknown`` where neither is written.

    Args:
        root: the folder that the package is in.
        package: its name.
    """
    for folder in sorted(root.glob(f"{package}-*.dist-info")):
        return folder.name.removeprefix(f"{package}-").removesuffix(".dist-info")
    for place in (root, *root.parents[:1]):
        commit = _commit(place / ".git")
        if commit is not None:
            return commit[:10]
    unpacked = (boundary.content_of(root / "PKG-INFO", _MOST) or b"").decode("utf-8", "replace")
    written = re.search(rf"^Name: {package}$.*?^Version: (\S+)$", unpacked, re.MULTILINE | re.DOTALL)
    return written[1] if written is not None else "unknown"


def _commit(git: Path) -> str | None:
    """What is checked out, read from git's own files."""
    head = (boundary.content_of(git / "HEAD", _MOST) or b"").decode("ascii", "replace").strip()
    name = head.removeprefix("ref: ")
    if name == head:
        return head if _COMMIT.fullmatch(head) else None
    loose = (boundary.content_of(git / name, _MOST) or b"").decode("ascii", "replace").strip()
    if _COMMIT.fullmatch(loose):
        return loose
    packed = (boundary.content_of(git / "packed-refs", _MOST) or b"").decode("ascii", "replace")
    line = next((each for each in packed.splitlines() if each.endswith(f" {name}")), "")
    return line[:40] if _COMMIT.fullmatch(line[:40]) else None
