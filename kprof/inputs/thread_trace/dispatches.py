"""Find the traced dispatches below a folder, and choose the one to show first."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kprof.errors import KprofError
from kprof.inputs.thread_trace.model import DecodedThreadTrace, Dispatch

_NUMBERS = re.compile(r"agent_(\d+)_dispatch_(\d+)")
# Prefix of the fill and copy kernels that the runtime itself launches.
_RUNTIME = "__amd_rocclr_"


@dataclass(frozen=True)
class Listing:
    """The file that lists the instructions of one dispatch.

    Attributes:
        path: path of the ``code.json`` or, without one, of the CSV file.
        agent: agent number in the name of the folder or file, or ``None`` if the name has none.
        dispatch: dispatch number in the name of the folder or file, or ``None`` if the name has none.
    """

    path: Path
    agent: int | None
    dispatch: int | None


def listings(files: list[Path]) -> list[Listing]:
    """Return one instruction listing per dispatch: its ``code.json`` or, without one, its CSV file."""
    groups: dict[tuple[str, ...], list[Path]] = {}
    for path in files:
        groups.setdefault(_key(path, files), []).append(path)
    found = []
    for members in groups.values():
        best = min(members, key=lambda one: (one.suffix != ".json", len(str(one)), str(one)))
        _, agent, dispatch = _place(best)
        found.append(Listing(best, agent, dispatch))
    return sorted(found, key=lambda one: (one.dispatch or 0, one.agent or 0, str(one.path)))


def _place(path: Path) -> tuple[Path, int | None, int | None]:
    """Return the folder of all dispatches, and agent and dispatch number from the name of the file or its folder."""
    for one in (path, path.parent):
        if match := _NUMBERS.search(one.name):
            return one.parent, int(match[1]), int(match[2])
    return path.parent, None, None


def _key(path: Path, files: list[Path]) -> tuple[str, ...]:
    base, agent, dispatch = _place(path)
    if agent is not None:
        return str(base), str(agent), str(dispatch)
    # A CSV next to a code.json belongs to the same dispatch; otherwise it is a dispatch of its own.
    beside = any(one.suffix == ".json" and one.parent == path.parent for one in files)
    return (str(path.parent),) if beside else (str(path),)


def summaries(
    found: list[Listing], read: Callable[[Path], DecodedThreadTrace]
) -> tuple[list[tuple[Listing, Dispatch]], tuple[str, ...], KprofError | None]:
    """Return summaries of the dispatches, notes about unreadable dispatches, and the first error.

    Dispatches that issued instructions and are not a fill or copy of the runtime come first.
    """
    pairs: list[tuple[Listing, Dispatch]] = []
    issues: list[str] = []
    failed: KprofError | None = None
    for one in found:
        try:
            trace = read(one.path)
        except KprofError as error:
            failed = failed or error
            issues.append(f"{one.path.parent.name}/{one.path.name} is left out: {error.message}")
            continue
        short = Dispatch(str(one.path), one.agent, one.dispatch, trace.kernel, trace.hits, trace.latency)
        pairs.append((one, short))
    pairs.sort(key=lambda pair: (not pair[1].hits, is_runtimes_own(pair[1].kernel)))
    return pairs, tuple(issues), failed


def is_runtimes_own(kernel: str | None) -> bool:
    """Return whether a kernel is a fill or a copy of the runtime.

    >>> is_runtimes_own("__amd_rocclr_fillBufferAligned"), is_runtimes_own("gemm")
    (True, False)
    """
    return kernel is not None and kernel.startswith(_RUNTIME)
