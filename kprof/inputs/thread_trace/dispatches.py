"""The traced dispatches below a folder: which there are, and which one is worth looking at first."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kprof.errors import KprofError
from kprof.inputs.thread_trace.model import DecodedThreadTrace, Dispatch

_NUMBERS = re.compile(r"agent_(\d+)_dispatch_(\d+)")
# Fills and copies that the runtime itself launches.
_RUNTIME = "__amd_rocclr_"


@dataclass(frozen=True)
class Listing:
    """The listing of one dispatch.

    Attributes:
        path: the file that tells most of it.
        agent: as in the name of its folder or file; ``None`` when that has no number.
        dispatch: as ``agent``.
    """

    path: Path
    agent: int | None
    dispatch: int | None


def listings(files: list[Path]) -> list[Listing]:
    """One listing a dispatch: of several forms of one, ``code.json`` before the CSV."""
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
    """The folder that the dispatches of a program lie in, and the numbers in the nearest name that has them."""
    for one in (path, path.parent):
        if match := _NUMBERS.search(one.name):
            return one.parent, int(match[1]), int(match[2])
    return path.parent, None, None


def _key(path: Path, files: list[Path]) -> tuple[str, ...]:
    base, agent, dispatch = _place(path)
    if agent is not None:
        return str(base), str(agent), str(dispatch)
    # Beside a code.json a CSV is the same dispatch; alone it is one of its own.
    beside = any(one.suffix == ".json" and one.parent == path.parent for one in files)
    return (str(path.parent),) if beside else (str(path),)


def summaries(
    found: list[Listing], read: Callable[[Path], DecodedThreadTrace]
) -> tuple[list[tuple[Listing, Dispatch]], tuple[str, ...], KprofError | None]:
    """Each dispatch in short, the one to look at first in front; in words what could not be read; the first error."""
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
    """Whether a kernel is a fill or a copy of the runtime.

    >>> is_runtimes_own("__amd_rocclr_fillBufferAligned"), is_runtimes_own("gemm")
    (True, False)
    """
    return kernel is not None and kernel.startswith(_RUNTIME)
