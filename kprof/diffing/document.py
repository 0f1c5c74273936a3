"""The document of a comparison: schema ``kprof.diff/1``.

As in ``kprof.report/1``, what does not apply is left out and what is not known is ``null``.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from kprof.document import Specialization, Verdict
from kprof.findings import Location, Severity

SCHEMA: Literal["kprof.diff/1"] = "kprof.diff/1"

Effect = Literal["worse", "better", "neutral", "unknown"]
Status = Literal["worse", "mixed", "better", "changed", "same", "unknown", "new", "gone"]


class DiffSide(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the things that are compared.

    Attributes:
        label: how it is called in tables: ``3.9.0``, or the path as given.
        tritons: versions of Triton that compiled its kernels.
        kernels: how many kernels it has.
        problems: what of it could not be compiled or read, and why.
    """

    label: str
    tritons: list[str] = []
    kernels: int = 0
    problems: list[str] = []


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """One figure, or one rule's findings, that differ.

    Attributes:
        metric: ``vgpr_spills``, ``waves_per_simd``, ``loop_spills``, ``finding:KP301``, ``instructions:valu``, ...
        text: what it is, for people: ``VGPRs spilled``.
        old, new: values; ``None`` when not known.
        effect: what the change means for the kernel.
        severity: how much it matters: an error is what users lose performance (or the launch) by.
        rank: place in the order of harm, the smallest first.
        where: the loop, by source lines; absent for the whole kernel.
        hot: the loop is the hot one.
        note: what else must be known to read the numbers.
        fix: what to change in the kernel's code, of a rule's findings that are on the new side only.
        saves_us: predicted microseconds of a launch that those findings cost, at most; absent where not known.
        location: the line of the first of those findings.
    """

    metric: str
    text: str
    old: int | float | None
    new: int | float | None
    effect: Effect
    severity: Severity
    rank: int = 0
    where: str = ""
    hot: bool = False
    note: str = ""
    fix: str = ""
    saves_us: float | None = None
    location: Location | UnsetType = UNSET


class SourceChange(msgspec.Struct, frozen=True):
    """The one stretch in which the source code of a kernel differs.

    Attributes:
        old, new: its first line on either side.
        old_lines, new_lines: how many lines it has there.
    """

    old: Location
    new: Location
    old_lines: int
    new_lines: int


class DiffStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """A kernel on two neighbouring sides.

    Attributes:
        old, new: indices into the document's ``sides``.
        status: ``mixed`` when something is worse and something else better.
        changes: what differs, the most harmful first.
        differs: where the two are not the same specialisation: what differs, ``[old, new]``.
        notes: how they were paired when that is not certain, and what could not be compared.
        source: what differs in the kernel's source code, where that is one stretch and both sources are at hand.
    """

    old: int
    new: int
    status: Status
    changes: list[Change] = []
    differs: dict[str, tuple[Any, Any]] = {}
    notes: list[str] = []
    source: SourceChange | UnsetType = UNSET


class TriedChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of knobs or switches that was compiled, with what came of it.

    Attributes:
        change: knob or environment switch to the value that was tried.
        before: its value before, by knob; ``None`` when it was not set.
        figures: metric to ``[old side, new side, new side with the change]``.
        restored: metrics that the change brings back to what they were on the old side, or nearer than half.
        cured: nothing is left of the gravest that got worse.
        price: what is worse with the change than on the old side, in words, the gravest first.
        price_severity: of the gravest; a note when there is no price.
        time_us: predicted time of one launch with the change, microseconds; ``None`` where the model has none.
        speedup: predicted time of the new side as it is over that with the change; ``None`` where one is not known.
        certainty: that it is faster with the change, 0 to 1, by published pairs predicted as far apart
            (docs/validation/model.md); ``None`` without ``speedup`` and on architectures without published times.
    """

    change: dict[str, Any]
    before: dict[str, Any]
    figures: dict[str, tuple[int | float | None, int | float | None, int | float | None]]
    restored: list[str] = []
    cured: bool = False
    price: list[str] = []
    price_severity: Severity = Severity.NOTE
    time_us: float | None = None
    speedup: float | None = None
    certainty: float | None = None


class ByStage(msgspec.Struct, frozen=True):
    """Which half of the compiler a change comes from: the old side's LLVM IR, compiled by the new side's LLVM.

    Attributes:
        part: where what got worse comes from: ``llvm``, ``before llvm`` (the front end and Triton's own passes) or
            ``both``.
        figures: metric to ``[old side, the old side's LLVM IR with the new side's LLVM, new side]``.
    """

    part: Literal["llvm", "before llvm", "both"]
    figures: dict[str, tuple[int | float | None, int | float | None, int | float | None]]


class Explanation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a kernel got worse from one side to the next, found by compiling it again.

    Attributes:
        old, new: indices into ``sides``: the first two between which it got worse.
        summary: one line.
        causes: switches that turn the new behaviour back into the old one, the most telling first.
        cures: changes of knobs after which nothing is worse than before, the fastest by prediction first; the simplest
            where not all times are known.
        tried: how many changes were compiled.
        left: how many were not, because the time was spent.
        failed: changes that did not compile.
        defaults: switches whose default differs between the two sides, ``[old, new]``.
        seconds: wall time.
        notes: what limits this explanation.
        by_stage: which half of the compiler it comes from, where two releases are compared; absent where that is not
            known.
    """

    old: int
    new: int
    summary: str
    causes: list[TriedChange] = []
    cures: list[TriedChange] = []
    tried: int = 0
    left: int = 0
    failed: int = 0
    defaults: dict[str, tuple[bool | None, bool | None]] = {}
    seconds: float = 0.0
    notes: list[str] = []
    by_stage: ByStage | UnsetType = UNSET


class KernelDiff(msgspec.Struct, frozen=True):
    """One kernel on all sides that have it.

    Attributes:
        name: the kernel's name.
        arch: architecture.
        status: the last side against the first one that has the kernel; ``worse`` and ``mixed`` also when the last side
            is worse than one between.
        steps: neighbouring sides, in order.
        figures: metric to its value on each side, ``null`` where it is not known or the kernel is missing. Only those
            that differ, and the usual ones.
        source: where it is defined.
        specialization: what was compiled, as on the last side that has it.
        overall: the last side against the first one, when there are more than two.
        against: index of the side that the last one is worse than; absent when it is worse than none.
        explanation: why it got worse, when that was looked for.
        grid: workgroups of the launch along each axis, as on the last side that has it; absent where that is not known.
        problem: the launch's sizes by name, as on the last side that has it; empty where they are not known.
    """

    name: str
    arch: str
    status: Status
    steps: list[DiffStep]
    figures: dict[str, list[int | float | None]] = {}
    source: Location | UnsetType = UNSET
    specialization: Specialization | UnsetType = UNSET
    overall: DiffStep | UnsetType = UNSET
    against: int | UnsetType = UNSET
    explanation: Explanation | UnsetType = UNSET
    grid: list[int] | UnsetType = UNSET
    problem: dict[str, Any] = {}


CodeStatus = Literal["changed", "source", "launch", "unchanged", "new", "gone"]


class KernelSince(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of a kernel's machine code since a revision.

    Attributes:
        name: of the Triton function, or of the function that makes it.
        file: where it is defined, from the root of the repository.
        line: where it begins.
        status: ``changed``: its machine code, or the grid of a launch, is another one; ``unchanged``: the machine code
            is the same, bit for bit; ``source`` and ``launch``: its source code, or what launches it, is another one,
            and it could not be compiled on both sides; ``new`` and ``gone``.
        by: how it is known that a kernel is unchanged: ``source``, as everything that it is made of and launched by is
            unchanged, or ``code``, by compiling both sides.
        reasons: what differs: definitions, files, or why it could not be compiled.
        compiled: number of launches that were compiled on both sides.
        moved_from: file and name in the revision, where they are others.
        functions: public functions and classes through which it is launched, as ``file.py::name``.
        tests: tests through which it is launched, as pytest names them.
    """

    name: str
    file: str
    line: int
    status: CodeStatus
    by: Literal["", "source", "code"] = ""
    reasons: list[str] = []
    compiled: int = 0
    moved_from: str = ""
    functions: list[str] = []
    tests: list[str] = []


class Since(msgspec.Struct, frozen=True, omit_defaults=True):
    """What changed in a work tree since a revision of git.

    Attributes:
        revision: as it was named.
        commit: its full name.
        folder: where it was asked, from the root of the repository; empty for the root.
        kernels: every kernel, those that may have changed first.
        counts: status to number of kernels.
        tests: tests that launch a kernel which changed, is new or may have changed.
        unread: Python files that cannot be read, with the reason.
        unclaimed: changed data files of which no launch has the name.
    """

    revision: str
    commit: str
    kernels: list[KernelSince]
    counts: dict[str, int]
    folder: str = ""
    tests: list[str] = []
    unread: list[str] = []
    unclaimed: list[str] = []


class Diff(msgspec.Struct, frozen=True):
    """The whole document.

    Attributes:
        kprof: version of kprof that wrote it.
        sides: what is compared, in order: old to new.
        kernels: the most harmed kernels first.
        counts: status to number of kernels.
        verdict: ``ok`` (exit 0), ``regression`` (1) or ``cannot_tell`` (2), and one line.
        schema: always ``kprof.diff/1``.
        notes: what concerns the comparison as a whole.
        since: what changed since a revision of git, with ``--since``; ``kernels`` then are those that were compiled and
            whose code changed.
    """

    kprof: str
    sides: list[DiffSide]
    kernels: list[KernelDiff]
    counts: dict[str, int]
    verdict: Verdict
    schema: Literal["kprof.diff/1"] = SCHEMA
    notes: list[str] = []
    since: Since | UnsetType = UNSET
