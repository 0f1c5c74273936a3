"""Call a server's own lookup functions: find the server's code, and run :mod:`.lookup_process` on it."""

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
    """This version of a server lacks a lookup function in the files where kprof knows it to be."""


@dataclass(frozen=True)
class ServerCode:
    """Location and version of a server's code.

    Attributes:
        root: the folder that contains the server's package.
        version: version of the installed or unpacked distribution, or the commit; ``unknown`` if neither is found.
    """

    root: Path
    version: str


def server_code(server: ModelServer, path: str | None) -> ServerCode | None:
    """Find a server's code.

    Args:
        server: the server.
        path: a checkout, the folder that the package is installed in, or the package itself; ``None`` for the package
            installed in this Python.

    Returns:
        The code, or ``None`` if no path is given and the package is not installed.

    Raises:
        KprofError: the path does not contain the package.
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
        f"this is neither a checkout nor an installation folder of {server.shown}",
        path=path,
        hint=f"It must contain {server.package}/{server.sign}.",
    )


def serves(server: ModelServer, code: ServerCode, architecture: str) -> bool | None:
    """Return whether the server's code names a model architecture; ``None`` if it has no list of architectures."""
    files = sorted(code.root.glob(server.models)) if server.models else []
    if not files:
        return None
    name = re.compile(rf"\b{re.escape(architecture)}\b".encode())
    return any(name.search(boundary.content_of(file, _MOST) or b"") for file in files)


def has(code: ServerCode, call: LookupCall) -> bool:
    """Return whether this version of the server has the called function."""
    try:
        _file(code, call)
    except LookupMissingError:
        return False
    return True


def ask(code: ServerCode, calls: Sequence[LookupCall], *, device: str, arch: str, triton: str) -> list[LookupAnswer]:
    """Call functions of the server in a separate process, without executing any other code of the server.

    Args:
        code: the server's code.
        calls: the calls.
        device: name of the GPU, with underscores for blanks.
        arch: architecture of the GPU.
        triton: Triton version that the server sees.

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
        raise KprofError("the server's lookup printed something other than its answer", path=str(code.root)) from None
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
    """Return the version of a distribution, or the commit of a checkout; ``unknown`` if neither can be found.

    Args:
        root: the folder that contains the package.
        package: name of the package.
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
    """Return the checked-out commit, read from git's own files."""
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
