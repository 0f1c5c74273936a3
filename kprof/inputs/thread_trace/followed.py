"""What a raw thread trace issued, found in the code: kind by kind from the kernel's first instruction on."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kprof.inputs.thread_trace.packets import JUMP, MESSAGE, NEXT, RawWavefront

_LINE = re.compile(r"^\s+([a-z]\S*.*?)\s*// ([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)")
_LABEL = re.compile(r"^([0-9a-f]+) <(.+)>:$")
# No packet tells of these.
_SILENT = ("s_waitcnt", "s_nop")
# Of these public traces have none: they may have a packet or not. An s_barrier has one.
_MAYBE_SILENT = ("s_sleep", "s_setprio", "s_sethalt", "s_inst_prefetch", "s_clause", "s_delay_alu")
_READ, _WRITE = frozenset({2, 14}), frozenset({3, 4})
_ISSUE_CYCLES = 4
_PRELOADED = 256


@dataclass(frozen=True)
class Coded:
    """One instruction of the code.

    Attributes:
        text: as disassembled.
        address: in the code object, bytes.
        kinds: what a packet may say of it; empty where there is none.
        target: address of a branch's target.
    """

    text: str
    address: int
    kinds: frozenset[int]
    target: int | None = None


def kernels_in(listing: str) -> dict[str, list[Coded]]:
    """The instructions below each label of what llvm-objdump writes."""
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
    """Issues and cycles of each instruction, by its place in the code, and wavefronts that left it."""

    hits: Counter[int]
    cycles: Counter[int]
    wavefronts: int = 0
    lost: int = 0


def follow(code: Sequence[Coded], wavefronts: Sequence[RawWavefront]) -> Followed:
    """Go through the code with what each wavefront issued; one whose next kind does not fit is left out from there.

    Wavefronts may begin behind the loads of preloaded arguments. The cycles of an instruction are those since the one
    before it was issued. An ``s_waitcnt`` in between has what is more than an issue, an ``s_nop`` as much of it as it
    asks for, and an ``s_barrier`` all that passes until the next instruction.
    """
    places = {one.address: place for place, one in enumerate(code)}
    tried = (_from(entry, code, places, wavefronts) for entry in _entries(code, places))
    return min(tried, key=lambda one: one.lost)


def _entries(code: Sequence[Coded], places: Mapping[int, int]) -> Iterator[int]:
    """Where wavefronts may begin.

    A kernel with preloaded arguments begins with their loads and a branch over them, for firmware that does not know of
    preloading; other firmware enters 256 bytes further on (LLVM's AMDGPU usage, "Preloaded Kernel Arguments").
    """
    yield 0
    behind = places.get(code[0].address + _PRELOADED) if code else None
    if behind is not None and any(one.target == code[behind].address for one in code[:behind]):
        yield behind


def _from(entry: int, code: Sequence[Coded], places: Mapping[int, int], wavefronts: Sequence[RawWavefront]) -> Followed:
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
            found.cycles[at] += _divided(gap, code, waits, found.cycles)
            before = time
            # Its packet is of its arrival: the others are waited for after it.
            waits = [at] if code[at].text.startswith("s_barrier") else []
            target = code[at].target
            at = at + 1 if kind != JUMP else None if target is None else places.get(target)
    return found


def _divided(gap: int, code: Sequence[Coded], waits: Sequence[int], cycles: Counter[int]) -> int:
    """What is left of the cycles between two issues for the second one, after those that are waited in between."""
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
