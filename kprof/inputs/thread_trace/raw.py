"""Raw thread traces: what rocprofv3 writes before its decoder has read it."""

import re
from dataclasses import replace
from pathlib import Path

from kprof.errors import InputError, KprofError
from kprof.inputs.opening import head_of
from kprof.inputs.thread_trace.content import content
from kprof.inputs.thread_trace.dispatches import is_runtimes_own
from kprof.inputs.thread_trace.followed import Coded, Followed, follow, kernels_in
from kprof.inputs.thread_trace.model import DecodedThreadTrace, Dispatch, TracedInstruction
from kprof.inputs.thread_trace.packets import NAMES, RawTrace, RawWavefront, is_cdna, read_packets

FORMAT = "raw packets (CDNA)"
_HINT = (
    "of raw packets those of CDNA GPUs are read: let rocprofv3 --att decode them (--att-library-path names the folder "
    "of rocprof-trace-decoder), and give the folder ui_output_agent_*_dispatch_* that it writes"
)
_CYCLES = (
    "read from raw packets: an instruction's cycles are those since the one before it was issued, idle ones too; an "
    "s_waitcnt in between has what is more than an issue"
)
_NUMBER = re.compile(r"_(\d+)$")
_ELF = b"\x7fELF"


def raw_files(place: Path) -> list[Path]:
    """The raw traces at or below a path, by name alone: nothing in them is looked at."""
    if place.is_dir():
        return sorted(path for path in place.rglob("*.att") if path.is_file())
    return [place] if place.suffix == ".att" and place.is_file() else []


def not_decoded(path: str, found: list[Path]) -> InputError:
    """The error for a path where only raw traces are."""
    if Path(path).is_dir():
        count = "one raw thread trace" if len(found) == 1 else f"{len(found):,} raw thread traces"
        return InputError(f"{count} (.att), none decoded", path=path, hint=_HINT)
    return InputError("a raw thread trace (.att), not decoded", path=path, hint=_HINT)


def read_raw(path: str, files: list[Path], largest: int) -> DecodedThreadTrace:
    """Raw traces of one or more dispatches; the first that issued instructions and is no fill is told in full.

    Args:
        path: as the user named it.
        files: the traces: one a shader engine and dispatch.
        largest: bytes of a file that are read at most.

    Raises:
        KprofError: none is a trace of a CDNA GPU.
    """
    known = [file for file in files if is_cdna(head_of(file, 8))]
    if not known:
        raise not_decoded(path, files)
    kernels, issues = _code(known)
    by_dispatch: dict[str, list[Path]] = {}
    for file in known:
        match = _NUMBER.search(file.stem)
        by_dispatch.setdefault(match[1] if match else "", []).append(file)
    if len(known) < len(files):
        issues.append(f"{len(files) - len(known):,} of {len(files):,} raw traces are of another kind: left out")
    read = []
    for number, mine in by_dispatch.items():
        traces = [read_packets(content(file, largest)) for file in mine]
        one = _decoded(str(mine[0]), traces, kernels)
        short = Dispatch(str(mine[0]), None, int(number) if number else None, one.kernel, one.hits, one.latency)
        read.append((one, short))
    read.sort(key=lambda each: (not each[0].hits, is_runtimes_own(each[0].kernel or "")))
    first = replace(read[0][0], path=path, issues=(_CYCLES, *issues, *read[0][0].issues))
    return first if len(read) == 1 else replace(first, dispatches=tuple(short for _, short in read))


def _code(files: list[Path]) -> tuple[dict[str, list[Coded]], list[str]]:
    """The kernels of the code objects that stand beside traces."""
    from kprof.inputs.code_object import disassemble_text, read_file

    kernels: dict[str, list[Coded]] = {}
    issues = []
    beside = {path for folder in {file.parent for file in files} for path in folder.iterdir() if path.is_file()}
    for path in sorted(beside):
        if path.suffix == ".att" or head_of(path, 4) != _ELF:
            continue
        try:
            for code in read_file(path).objects:
                kernels |= kernels_in(disassemble_text(code, path=str(path)))
        except KprofError as error:
            issues.append(f"{path.name} beside it cannot be read: {error.message}")
    if not kernels:
        issues.append("no code object stands beside it: instructions are told by their kind alone")
    return {name: code for name, code in kernels.items() if code}, issues


def _decoded(path: str, traces: list[RawTrace], kernels: dict[str, list[Coded]]) -> DecodedThreadTrace:
    wavefronts = [one for trace in traces for one in trace.wavefronts]
    issuing = [one for one in wavefronts if one.issued]
    issues = []
    if wavefronts and not issuing:
        issues.append("no instruction is in it: the wavefronts ran on CUs that were not traced")
    for count, what in (
        (sum(trace.unknown for trace in traces), "packets are of wavefronts that began before the trace"),
        (sum(trace.left for trace in traces), "bytes at the end are no whole packet"),
        (sum(one.end is None for one in wavefronts), "wavefronts have no end in it"),
    ):
        if count:
            issues.append(f"{count:,} {what}")
    name, found = _fitting(issuing, kernels)
    if found is not None and found.lost:
        issues.append(
            f"{found.lost:,} of {found.wavefronts:,} wavefronts leave the code: what they issued then is left out"
        )
    elif found is None and issuing and kernels:
        issues.append("what was issued fits no kernel, or several, of the code beside it: told by kind alone")
    listed = _by_kind(issuing) if found is None else _listed(kernels[name], found)
    return DecodedThreadTrace(
        path,
        FORMAT,
        name or None,
        listed,
        issues=tuple(issues),
        wavefronts=len(wavefronts),
        lifetimes=tuple(one.end - one.start for one in wavefronts if one.end is not None),
    )


def _fitting(wavefronts: list[RawWavefront], kernels: dict[str, list[Coded]]) -> tuple[str, Followed | None]:
    """The one kernel whose code most wavefronts follow to their ends; none where several do alike."""
    tried = {name: follow(code, wavefronts) for name, code in kernels.items()} if wavefronts else {}
    kept = {name: one.wavefronts - one.lost for name, one in tried.items()}
    best = max(kept.values(), default=0)
    names = [name for name, count in kept.items() if count == best]
    return (names[0], tried[names[0]]) if best and len(names) == 1 else ("", None)


def _listed(code: list[Coded], found: Followed) -> tuple[TracedInstruction, ...]:
    last = max(found.hits, default=-1)
    return tuple(
        TracedInstruction(at, one.text, None, one.address, found.hits[at], found.cycles[at])
        for at, one in enumerate(code[: last + 1])
    )


def _by_kind(wavefronts: list[RawWavefront]) -> tuple[TracedInstruction, ...]:
    hits: dict[int, int] = {}
    cycles: dict[int, int] = {}
    for one in wavefronts:
        before = None
        for time, kind in one.issued:
            hits[kind] = hits.get(kind, 0) + 1
            cycles[kind] = cycles.get(kind, 0) + (0 if before is None else time - before)
            before = time
    return tuple(
        TracedInstruction(at, NAMES.get(kind, f"kind_{kind}"), None, None, hits[kind], cycles[kind])
        for at, kind in enumerate(sorted(hits))
    )
