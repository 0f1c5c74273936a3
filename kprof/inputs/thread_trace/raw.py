"""Read raw thread traces, which rocprofv3 writes before decoding, and match issued instructions with the code."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kprof.errors import InputError, KprofError
from kprof.inputs.opening import head_of
from kprof.inputs.thread_trace.content import content
from kprof.inputs.thread_trace.dispatches import is_runtimes_own
from kprof.inputs.thread_trace.model import DecodedThreadTrace, Dispatch, TracedInstruction
from kprof.inputs.thread_trace.packets import JUMP, MESSAGE, NAMES, NEXT, RawTrace, RawWavefront, is_cdna, read_packets

_LINE = re.compile(r"^\s+([a-z]\S*.*?)\s*// ([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)")
_LABEL = re.compile(r"^([0-9a-f]+) <(.+)>:$")
# Instructions that write no packet into the trace when they are issued.
_SILENT = ("s_waitcnt", "s_nop")
# It is unknown whether these instructions write a packet, because public traces contain none. An s_barrier writes one.
_MAYBE_SILENT = ("s_sleep", "s_setprio", "s_sethalt", "s_inst_prefetch", "s_clause", "s_delay_alu")
_READ, _WRITE = frozenset({2, 14}), frozenset({3, 4})
_ISSUE_CYCLES = 4
_PRELOADED = 256


@dataclass(frozen=True)
class Coded:
    """One instruction of a kernel's code.

    Attributes:
        text: disassembled text.
        address: address in the code object, in bytes.
        kinds: possible kinds of the packet that the instruction writes; empty if it writes none.
        target: address to which a branch jumps; ``None`` for other instructions.
    """

    text: str
    address: int
    kinds: frozenset[int]
    target: int | None = None


def kernels_in(listing: str) -> dict[str, list[Coded]]:
    """Parse the instructions below each label of llvm-objdump's output."""
    found: dict[str, list[Coded]] = {}
    here: list[Coded] = []
    for line in listing.splitlines():
        if label := _LABEL.match(line):
            here = found.setdefault(label[2], [])
        elif match := _LINE.match(line):
            words = match[3].split()
            address = int(match[2], 16)
            kinds = _kinds(match[1], len(words))
            target = None
            if JUMP in kinds:
                offset = int(words[0], 16) & 0xFFFF
                target = address + 4 + 4 * (offset - (1 << 16 if offset >> 15 else 0))
            here.append(Coded(match[1], address, kinds, target))
    return found


def _kinds(text: str, words: int) -> frozenset[int]:
    name = text.split(maxsplit=1)[0]
    if name.startswith(_SILENT):
        return frozenset()
    if name.startswith(("s_branch", "s_cbranch")):
        return frozenset({JUMP, NEXT})
    if name.startswith((*_MAYBE_SILENT, "s_barrier", "s_endpgm", "s_sendmsg", "s_trap", "s_icache")):
        return frozenset({MESSAGE})
    if name.startswith(("s_load", "s_buffer_load", "s_scratch_load", "s_memtime", "s_dcache", "s_memrealtime")):
        return frozenset({0})
    if name.startswith(("s_store", "s_buffer_store", "s_atomic", "s_buffer_atomic")):
        return frozenset({16})
    if name.startswith(("s_setpc", "s_swappc", "s_rfe", "s_call")):
        return frozenset({7})
    if name.startswith("s_"):
        return frozenset({1 if words == 1 else 17})
    if name.startswith(("v_mfma", "v_smfma", "v_accvgpr")):
        return frozenset({28, 18, 5})
    if name.startswith("v_"):
        return frozenset({5} if words == 1 else {18, 5})
    if name.startswith("ds_"):
        return frozenset({6})
    return _READ | _WRITE if "atomic" in name else _WRITE if "store" in name else _READ


@dataclass
class Followed:
    """Result of matching the packets of wavefronts with a kernel's code.

    Attributes:
        hits: number of issues of each instruction, by its index in the code.
        cycles: cycles of each instruction, by its index in the code.
        wavefronts: number of wavefronts.
        lost: number of wavefronts whose packets do not match the code.
    """

    hits: Counter[int]
    cycles: Counter[int]
    wavefronts: int = 0
    lost: int = 0


def follow(code: Sequence[Coded], wavefronts: Sequence[RawWavefront]) -> Followed:
    """Match the kinds of instructions that each wavefront issued with the code, until the first mismatch.

    Wavefronts may begin after the loads of preloaded arguments. The cycles between two issued instructions count for
    the second one, with two exceptions. An ``s_nop`` between the two gets the cycles that it requests. The first other
    instruction without a packet between the two, usually an ``s_waitcnt``, gets the cycles beyond those of one issue.
    If the first of the two is an ``s_barrier``, the barrier gets the cycles beyond those of one issue instead.
    """
    places = {one.address: place for place, one in enumerate(code)}
    tried = (_follow_from(entry, code, places, wavefronts) for entry in _entries(code, places))
    return min(tried, key=lambda one: one.lost)


def _entries(code: Sequence[Coded], places: Mapping[int, int]) -> Iterator[int]:
    """Yield the indexes of the instructions at which wavefronts may begin.

    For firmware without support for preloading, a kernel with preloaded arguments begins with instructions that load
    the arguments. Other firmware starts wavefronts 256 bytes further on (LLVM's AMDGPU usage, "Preloaded Kernel
    Arguments").
    """
    yield 0
    behind = places.get(code[0].address + _PRELOADED) if code else None
    if behind is not None and any(one.target == code[behind].address for one in code[:behind]):
        yield behind


def _follow_from(
    entry: int, code: Sequence[Coded], places: Mapping[int, int], wavefronts: Sequence[RawWavefront]
) -> Followed:
    found = Followed(Counter(), Counter())
    for wavefront in wavefronts:
        found.wavefronts += 1
        at: int | None = entry
        before: int | None = None
        waits: list[int] = []
        for time, kind in wavefront.issued:
            while at is not None and at < len(code) and _is_passed(code[at], kind):
                found.hits[at] += 1
                waits.append(at)
                at += 1
            if at is None or at >= len(code) or kind not in code[at].kinds:
                found.lost += 1
                break
            gap = 0 if before is None else time - before
            found.hits[at] += 1
            found.cycles[at] += _divide_cycles(gap, code, waits, found.cycles)
            before = time
            # The packet of a barrier marks the wavefront's arrival, after which it waits for other wavefronts.
            waits = [at] if code[at].text.startswith("s_barrier") else []
            target = code[at].target
            at = at + 1 if kind != JUMP else None if target is None else places.get(target)
    return found


def _divide_cycles(gap: int, code: Sequence[Coded], waits: Sequence[int], cycles: Counter[int]) -> int:
    """Assign the cycles between two issued instructions to the instructions in ``waits``, which have no packet.

    Return the cycles that remain for the second issued instruction.
    """
    more = max(0, gap - _ISSUE_CYCLES)
    waiting = None
    for place in waits:
        name, _, count = code[place].text.partition(" ")
        if name == "s_nop":
            taken = min(more, _ISSUE_CYCLES * (1 + int(count, 0) if count.strip().isalnum() else 1))
            cycles[place] += taken
            more -= taken
            gap -= taken
        elif waiting is None:
            waiting = place
    if waiting is not None:
        cycles[waiting] += more
        gap -= more
    return gap


def _is_passed(one: Coded, kind: int) -> bool:
    return not one.kinds or (one.text.startswith(_MAYBE_SILENT) and kind != MESSAGE)


FORMAT = "raw packets (CDNA)"
_HINT = (
    "only raw packets of CDNA GPUs can be read: let rocprofv3 --att decode them (--att-library-path names the folder "
    "of rocprof-trace-decoder), and pass the folder ui_output_agent_*_dispatch_* that it writes"
)
_CYCLES = (
    "read from raw packets: an instruction's cycles count from the previous issue, including idle ones; an s_waitcnt "
    "in between gets the cycles beyond one issue"
)
_NUMBER = re.compile(r"_(\d+)$")
_ELF = b"\x7fELF"


def raw_files(place: Path) -> list[Path]:
    """Return the raw traces at or below a path, recognised by file name only."""
    if place.is_dir():
        return sorted(path for path in place.rglob("*.att") if path.is_file())
    return [place] if place.suffix == ".att" and place.is_file() else []


def not_decoded(path: str, found: list[Path]) -> InputError:
    """Return the error for a path that contains only raw traces."""
    if Path(path).is_dir():
        count = "one raw thread trace" if len(found) == 1 else f"{len(found):,} raw thread traces"
        return InputError(f"{count} (.att), none decoded", path=path, hint=_HINT)
    return InputError("a raw thread trace (.att), not decoded", path=path, hint=_HINT)


def read_raw(path: str, files: list[Path], largest: int) -> DecodedThreadTrace:
    """Read raw traces; return the first dispatch that issued instructions and is no fill or copy of the runtime.

    Args:
        path: path named by the user.
        files: raw traces, one per shader engine and dispatch.
        largest: maximum bytes of a file.

    Raises:
        KprofError: if none of the files is a trace of a CDNA GPU.
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
        issues.append(f"{len(files) - len(known):,} of {len(files):,} raw traces are not of a CDNA GPU: left out")
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
    """Return the kernels of the code objects next to the traces, and notes about unreadable code objects."""
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
            issues.append(f"{path.name} next to it cannot be read: {error.message}")
    if not kernels:
        issues.append("there is no code object next to the trace: instructions are identified only by their kind")
    return {name: code for name, code in kernels.items() if code}, issues


def _decoded(path: str, traces: list[RawTrace], kernels: dict[str, list[Coded]]) -> DecodedThreadTrace:
    wavefronts = [one for trace in traces for one in trace.wavefronts]
    issuing = [one for one in wavefronts if one.issued]
    issues = []
    if wavefronts and not issuing:
        issues.append("it contains no instruction: the wavefronts ran on CUs that were not traced")
    for count, what in (
        (sum(trace.unknown for trace in traces), "packets are of wavefronts that began before the trace"),
        (sum(trace.left for trace in traces), "bytes at the end are not a complete packet"),
        (sum(one.end is None for one in wavefronts), "wavefronts do not end in the trace"),
    ):
        if count:
            issues.append(f"{count:,} {what}")
    name, found = _matching_kernel(issuing, kernels)
    if found is not None and found.lost:
        issues.append(
            f"{found.lost:,} of {found.wavefronts:,} wavefronts diverge from the code: "
            "their further instructions are left out"
        )
    elif found is None and issuing and kernels:
        issues.append(
            "the issued instructions match none or several of the kernels next to the trace: only their kind is known"
        )
    listed = _by_kind(issuing) if found is None else _traced_instructions(kernels[name], found)
    return DecodedThreadTrace(
        path,
        FORMAT,
        name or None,
        listed,
        issues=tuple(issues),
        wavefronts=len(wavefronts),
        lifetimes=tuple(one.end - one.start for one in wavefronts if one.end is not None),
    )


def _matching_kernel(wavefronts: list[RawWavefront], kernels: dict[str, list[Coded]]) -> tuple[str, Followed | None]:
    """Return the kernel whose code most wavefronts follow to their end, or no kernel if several are equally good."""
    tried = {name: follow(code, wavefronts) for name, code in kernels.items()} if wavefronts else {}
    kept = {name: one.wavefronts - one.lost for name, one in tried.items()}
    best = max(kept.values(), default=0)
    names = [name for name, count in kept.items() if count == best]
    return (names[0], tried[names[0]]) if best and len(names) == 1 else ("", None)


def _traced_instructions(code: list[Coded], found: Followed) -> tuple[TracedInstruction, ...]:
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
