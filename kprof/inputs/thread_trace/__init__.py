"""Read thread traces (ATT) that rocprofv3 or rocprofv2 has decoded, and raw thread traces of CDNA GPUs.

>>> from kprof.inputs import thread_trace
>>> trace = thread_trace.read("ui_output_agent_1_dispatch_2")   # doctest: +SKIP
>>> trace.by_line()[0]                                           # doctest: +SKIP
"""

from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.opening import head_of
from kprof.inputs.thread_trace.content import content
from kprof.inputs.thread_trace.model import DecodedThreadTrace, Dispatch, LineCost, TracedInstruction
from kprof.inputs.thread_trace.raw import raw_files, read_raw
from kprof.inputs.thread_trace.timeline import Timeline

__all__ = [
    "DecodedThreadTrace",
    "Dispatch",
    "LineCost",
    "Timeline",
    "TracedInstruction",
    "find",
    "is_thread_trace",
    "read",
]

_MAX_BYTES = 512 << 20


def is_thread_trace(path: Path) -> bool:
    """Return whether a file's content is an ATT table or ``code.json``."""
    from kprof.inputs.thread_trace.att_csv import columns_of

    head = head_of(path, 4096)
    if head.lstrip()[:8].replace(b" ", b"").startswith(b'{"code":'):
        return True
    return columns_of(head.split(b"\n", 1)[0].decode("utf-8", "replace")) is not None


def find(folder: Path) -> list[Path]:
    """Return all files with a thread trace below a folder, sorted by path."""
    found = [path for path in sorted(folder.rglob("*")) if path.suffix in {".csv", ".json"} and path.is_file()]
    return [path for path in found if is_thread_trace(path)]


def read(path: str | Path) -> DecodedThreadTrace:
    """Read an ATT CSV, a ``code.json``, a raw ``.att``, or a folder that contains one or more of them.

    If there are several dispatches, the first that issued instructions and is not a fill or copy of the runtime is
    read. All dispatches are listed in :attr:`DecodedThreadTrace.dispatches`.

    Raises:
        KprofError: if there is no thread trace, or it cannot be read.
    """
    from dataclasses import replace

    place = Path(path)
    dispatches: tuple[Dispatch, ...] = ()
    left_out: tuple[str, ...] = ()
    raw = raw_files(place)
    if raw and not (find(place) if place.is_dir() else is_thread_trace(place)):
        return read_raw(str(path), raw, _MAX_BYTES)
    if place.is_dir():
        place, dispatches, left_out = _first(place)
    trace = _listing(place, str(path))
    trace = replace(trace, dispatches=dispatches, issues=(*left_out, *trace.issues))
    listing = place.parent / "filenames.json"
    waves, trouble = _wavefronts(listing) if listing.is_file() else (None, ())
    count = None if waves is None else len(waves)
    lifetimes = tuple(one for one in waves or () if one is not None)
    from kprof.inputs.thread_trace import companion_files

    timeline, odd = companion_files.read(place.parent)
    trace = replace(trace, wavefronts=count, lifetimes=lifetimes)
    issues = (*trace.issues, *trouble, *odd, *_disagreements(trace, timeline))
    return replace(trace, timeline=timeline, issues=issues)


def _first(folder: Path) -> tuple[Path, tuple[Dispatch, ...], tuple[str, ...]]:
    """Return the instruction listing to read in a folder, all dispatches if there are several, and notes."""
    from kprof.inputs.thread_trace.dispatches import listings, summaries

    found = listings(find(folder))
    if not found:
        raise InputError("no decoded thread trace in this folder", path=str(folder))
    if len(found) == 1:
        return found[0].path, (), ()
    read, issues, failed = summaries(found, lambda file: _listing(file, str(file)))
    if not read:
        raise failed or InputError("no decoded thread trace in this folder", path=str(folder))
    return read[0][0].path, tuple(short for _, short in read), issues


def _listing(place: Path, path: str) -> DecodedThreadTrace:
    data = content(place, _MAX_BYTES)
    if data.lstrip()[:1] == b"{":
        from kprof.inputs.thread_trace import code_json

        return code_json.read(data, path)
    from kprof.inputs.thread_trace import att_csv

    return att_csv.read(data.decode("utf-8", "replace"), path)


def _disagreements(trace: DecodedThreadTrace, timeline: Timeline) -> list[str]:
    """Return sentences about contradictions between the instruction listing and the files of single wavefronts."""
    found = []
    lived, cycles = sum(trace.lifetimes), sum(one.cycles for one in timeline.states)
    # The states that the decoder writes may end a few cycles after the wavefront.
    if timeline.states and lived and len(trace.lifetimes) == trace.wavefronts and abs(cycles - lived) > lived / 100:
        found.append(
            f"the states add up to {cycles:,} cycles, but the wavefronts ran for {lived:,}: a state may be missing"
        )
    listed = {one.line: one.hits for one in trace.instructions if one.line is not None}
    if not listed:
        return found
    totals = timeline.totals()
    unknown = sum(one.issues for one in totals if one.line not in listed)
    more = sum(one.issues > listed.get(one.line, one.issues) for one in totals)
    if unknown:
        found.append(f"{unknown:,} issues in wavefront files refer to lines that code.json does not contain")
    if more:
        found.append(
            f"{more:,} instructions have more issues in the wavefront files than in "
            "code.json, which counts all wavefronts"
        )
    return found


def _wavefronts(listing: Path) -> tuple[list[int | None] | None, tuple[str, ...]]:
    """Return the lifetime in cycles of each wavefront in ``filenames.json``, and notes about problems."""
    try:
        document: Any = boundary.json_of(boundary.read_bytes(listing), object, str(listing), "no JSON")
    except InputError:
        return None, ("filenames.json next to it cannot be read: the wavefronts are unknown",)
    if not isinstance(document, dict) or "wave_filenames" not in document:
        return None, ()
    return _leaves(document["wave_filenames"]), ()


def _leaves(tree: Any, depth: int = 0) -> list[int | None]:
    if isinstance(tree, dict) and depth < 8:
        return [leaf for branch in tree.values() for leaf in _leaves(branch, depth + 1)]
    # Each leaf contains the name of a file, and the begin and end of the wavefront.
    known = isinstance(tree, list) and len(tree) == 3 and all(type(one) is int for one in tree[1:])
    return [tree[2] - tree[1] if known and tree[2] >= tree[1] else None]
