"""The document of a comparison: schema ``kprof.diff/1``.

As in ``kprof.report/1``, a field that does not apply is absent, and a value that is not known is ``null``.
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
    """One side of a comparison: a release of Triton, a report or another target.

    Attributes:
        label: name in tables: ``3.9.0``, or the path as given.
        tritons: versions of Triton that compiled the side's kernels.
        kernels: number of kernels on this side.
        problems: what could not be compiled or read on this side, and why.
    """

    label: str
    tritons: list[str] = []
    kernels: int = 0
    problems: list[str] = []


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A difference in one figure, or in the findings of one rule.

    Attributes:
        metric: identifier of the figure: ``vgpr_spills``, ``waves_per_simd``, ``loop_spills``, ``finding:KP301``,
            ``instructions:valu``, ...
        text: name of the metric for people: ``VGPRs spilled``.
        old, new: values on both sides; ``None`` if not known.
        effect: whether the change is for the worse or for the better.
        severity: importance of the change: an error costs users performance or makes the launch fail.
        rank: position in the order of harm; a smaller number means a more harmful change.
        where: the loop, as source lines; absent for the whole kernel.
        hot: True if the loop is the hot loop.
        note: additional information needed to interpret the numbers.
        fix: what to change in the kernel's code; only for findings of a rule that appear on the new side.
        saves_us: upper bound of the predicted microseconds per launch that the rule's new findings cost; absent if not
            known.
        location: location of the first of the rule's new findings.
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
    """The range of lines in which the source code of a kernel differs, if it is the only one.

    Attributes:
        old, new: first line of the range on either side.
        old_lines, new_lines: number of lines of the range on either side.
    """

    old: Location
    new: Location
    old_lines: int
    new_lines: int


class DiffStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """Comparison of a kernel on two neighbouring sides.

    Attributes:
        old, new: indices into the document's ``sides``.
        status: the result; ``mixed`` if something is worse and something else is better.
        changes: differences, the most harmful first.
        differs: ``[old, new]`` for each part in which the two specialisations differ; empty if they are the same.
        notes: how the two reports were paired, if the pair is not certain, and what could not be compared.
        source: the difference in the kernel's source code, if it is one range of lines and both sources are available.
    """

    old: int
    new: int
    status: Status
    changes: list[Change] = []
    differs: dict[str, tuple[Any, Any]] = {}
    notes: list[str] = []
    source: SourceChange | UnsetType = UNSET


class TriedChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of knobs or switches that was compiled, with its effect.

    Attributes:
        change: value that was tried, by knob or environment switch.
        before: the previous value, by knob; ``None`` if it was not set.
        figures: ``[old side, new side, new side with the change]`` by metric.
        restored: metrics that the change brings back to their value on the old side, or more than halfway to it.
        cured: True if the most severe regression is gone completely.
        price: phrases on what is worse with the change than on the old side, most severe first.
        price_severity: severity of the worst item of ``price``; a note if there is none.
        time_us: predicted time of one launch with the change, in microseconds; ``None`` if not known.
        speedup: predicted time of the unchanged new side divided by the predicted time with the change; ``None`` if
            either is not known.
        certainty: probability that the change makes the kernel faster, 0 to 1, from published times of pairs of
            configurations with the same predicted difference (docs/validation/model.md); ``None`` without
            ``speedup`` and on architectures without published times.
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
    """The half of the compiler that causes a change. It is found by compiling old LLVM IR with the new LLVM.

    Attributes:
        part: cause of the regressions: ``llvm``, ``before llvm`` (the front end and Triton's own passes) or ``both``.
        figures: ``[old side, the old side's LLVM IR with the new side's LLVM, new side]`` by metric.
    """

    part: Literal["llvm", "before llvm", "both"]
    figures: dict[str, tuple[int | float | None, int | float | None, int | float | None]]


class Explanation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Explanation of a kernel's regression from one side to the next, found by compiling it with changes.

    Attributes:
        old, new: indices into ``sides``: the first two sides between which the kernel got worse.
        summary: one line.
        causes: switches that restore the old behaviour, the most significant first.
        cures: changes of knobs with which nothing is worse than on the old side, by predicted time; if not all times
            are known, the simplest first.
        tried: number of changes that were compiled.
        left: number of changes that were not compiled because the time limit was reached.
        failed: number of changes that did not compile.
        defaults: switches whose default differs between the two sides, ``[old, new]``.
        seconds: wall time of the search in seconds.
        notes: limitations of this explanation.
        by_stage: the half of the compiler that causes the regression, if two releases are compared; absent if not
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
    """Comparison of one kernel over all sides that contain the kernel.

    Attributes:
        name: the kernel's name.
        arch: architecture.
        status: result of comparing the last side with the first one that has the kernel; it is also ``worse`` or
            ``mixed`` if the last side is worse than one in between.
        steps: comparisons of neighbouring sides, in order.
        figures: values on each side by metric, ``null`` if not known or if the kernel is missing. They include the
            usual metrics and all metrics that differ.
        source: source location at which the kernel is defined.
        specialization: signature, constants and options of the compile on the last side that has the kernel.
        overall: comparison of the last side with the first one, if there are more than two sides.
        against: index of the side in comparison with which the last one is worse; absent if it is not worse than any.
        explanation: explanation of why the kernel got worse, if requested.
        grid: workgroups of the launch along each axis on the last side that has the kernel; absent if not known.
        problem: the launch's sizes by name on the last side that has the kernel; empty if not known.
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
    """Change of a kernel's machine code since a revision.

    Attributes:
        name: name of the Triton function, or of the function that generates it.
        file: file of its definition, relative to the root of the repository.
        line: first line of its definition.
        status: ``changed``: the machine code or the grid of a launch differs; ``unchanged``: the machine code is
            identical, bit for bit; ``source`` or ``launch``: its source code, or the code that launches it, differs,
            and it could not be compiled on both sides; ``new`` or ``gone``: it exists only now, or only in the
            revision.
        by: why a kernel is known to be unchanged: ``source``: all code that defines and launches it is unchanged;
            ``code``: it was compiled on both sides.
        reasons: names of differing definitions or files, or why it could not be compiled.
        compiled: number of launches that were compiled on both sides.
        moved_from: the kernel's file and name in the revision, if they differ from the current ones.
        functions: public functions and classes that launch it, as ``file.py::name``.
        tests: tests that launch it, in pytest's notation.
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
    """Kernel changes in a work tree since a git revision.

    Attributes:
        revision: the revision as the user named it.
        commit: full commit hash of the revision.
        folder: the folder that was compared, relative to the root of the repository; empty for the root.
        kernels: every kernel; kernels that may have changed are first.
        counts: number of kernels by status.
        tests: tests that launch a changed, a new or a possibly changed kernel.
        unread: Python files that cannot be read, with the reason.
        unclaimed: changed data files that no launch mentions by name.
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
        sides: the compared sides, from old to new.
        kernels: the compared kernels; those that got worse most are first.
        counts: number of kernels by status.
        verdict: ``ok`` (exit 0), ``regression`` (1) or ``cannot_tell`` (2), and one line.
        schema: always ``kprof.diff/1``.
        notes: remarks on the comparison as a whole.
        since: changes since a git revision, with ``--since``; in this case ``kernels`` contains only the compiled
            kernels whose code changed.
    """

    kprof: str
    sides: list[DiffSide]
    kernels: list[KernelDiff]
    counts: dict[str, int]
    verdict: Verdict
    schema: Literal["kprof.diff/1"] = SCHEMA
    notes: list[str] = []
    since: Since | UnsetType = UNSET
