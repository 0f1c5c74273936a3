"""What a raw thread trace issued, found in the code: kind by kind from the kernel's first instruction on."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kprof.inputs.thread_trace.packets import JUMP, MESSAGE, NEXT, RawWavefront

_LINE = re.compile(r"^\s+([a-z]\S*.*?)\s*// ([0-9A-F]+): ((?:[0-9A-F]{8} ?)+)")
_LABEL = re.compile(r"^([0-9a-f]+) <(.+)>:$")
# No packet tells of these.
_SILENT = ("s_waitcnt", "s_nop")
# Of these public traces have none: they may have a packet or not.
_MAYBE_SILENT = ("s_barrier", "s_sleep", "s_setprio", "s_sethalt", "s_inst_prefetch", "s_clause", "s_delay_alu")
_READ, _WRITE = frozenset({2, 14}), frozenset({3, 4})
_ISSUE_CYCLES = 4


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
    if name.startswith((*_MAYBE_SILENT, "s_endpgm", "s_sendmsg", "s_trap", "s_icache")):
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

    The cycles of an instruction are those since the one before it was issued. Where an ``s_waitcnt`` or an ``s_nop``
    stands in between, what is more than an issue is taken for that one's.
    """
    places = {one.address: place for place, one in enumerate(code)}
    found = Followed(Counter(), Counter())
    for wavefront in wavefronts:
        found.wavefronts += 1
        at: int | None = 0
        before: int | None = None
        for time, kind in wavefront.issued:
            silent = None
            while at is not None and at < len(code) and _is_passed(code[at], kind):
                found.hits[at] += 1
                silent = at
                at += 1
            if at is None or at >= len(code) or kind not in code[at].kinds:
                found.lost += 1
                break
            gap = 0 if before is None else time - before
            if silent is not None and gap > _ISSUE_CYCLES:
                found.cycles[silent] += gap - _ISSUE_CYCLES
                gap = _ISSUE_CYCLES
            found.hits[at] += 1
            found.cycles[at] += gap
            before = time
            target = code[at].target
            at = at + 1 if kind != JUMP else None if target is None else places.get(target)
    return found


def _is_passed(one: Coded, kind: int) -> bool:
    return not one.kinds or (one.text.startswith(_MAYBE_SILENT) and kind != MESSAGE)
