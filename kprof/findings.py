"""Findings: what an analyzer reports about a kernel, with the evidence.

All types are frozen msgspec structs; they are part of the ``kprof.report/1`` document.
"""

import enum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType


class Severity(str, enum.Enum):
    """Severity of a finding. Compare severities with :meth:`rank`, not alphabetically."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Rank of the severity: 0 for a note, 1 for a warning, 2 for an error."""
        return ("note", "warning", "error").index(self.value)


class Location(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place in a source file.

    Attributes:
        file: path as the compiler recorded it.
        line: 1-based line.
        column: 1-based column, when known.
        function: the Python or C++ function, when known.
    """

    file: str
    line: int
    column: int | None = None
    function: str | None = None

    def __str__(self) -> str:
        """Return the location for tables, with the file name only: ``name.py:12``."""
        return f"{self.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{self.line}"


class Edit(msgspec.Struct, frozen=True):
    """A change to one source line.

    Attributes:
        file: path, as in :class:`Location`.
        line: 1-based line.
        before: the current line, without its line ending.
        after: the proposed line.
    """

    file: str
    line: int
    before: str
    after: str


class Advice(msgspec.Struct, frozen=True, rename={"from_": "from"}):
    """A change to one knob.

    Attributes:
        knob: the knob's name: a constexpr, an option or an environment switch.
        from_: the current value.
        to: the value to try.
        verified: ``[before, after]`` by metric name, present only when the change was recompiled.
        note: a remark with kprof's judgement, as opposed to facts.
        speedup: predicted time before all changes of the advice divided by the predicted time after them; absent if
            either is not known.
        certainty: probability that the kernel becomes faster, 0 to 1, from published times of pairs of configurations
            with the same predicted difference (docs/validation/model.md); absent without ``speedup`` and on
            architectures without published times.
        edit: edit of the line that sets the knob, if exactly one line does; knobs on the same line share one edit.
    """

    knob: str
    from_: Any
    to: Any
    verified: dict[str, tuple[Any, Any]] | UnsetType = UNSET
    note: str | UnsetType = UNSET
    speedup: float | UnsetType = UNSET
    certainty: float | UnsetType = UNSET
    edit: Edit | UnsetType = UNSET


class Gain(msgspec.Struct, frozen=True):
    """Time that a finding costs by the performance model: the launch's time minus its time without the problem.

    Attributes:
        us: microseconds.
        low_us, high_us: the cost at the ends of the time's range; ``low_us`` is 0 if ``at_most`` is true.
        share: cost as a share of the launch's time.
        at_most: True if the cost is an upper bound, because the model removed more than a repair can: for example all
            latency or all idle CUs.
    """

    us: float
    low_us: float
    high_us: float
    share: float
    at_most: bool = False


class Finding(msgspec.Struct, frozen=True):
    """One problem or observation about a kernel.

    Attributes:
        rule: stable identifier, ``KP`` and three digits.
        name: the bad pattern in kebab-case, so that "allow <name>" reads well.
        severity: see :class:`Severity`.
        message: one line with the numbers in it.
        location: the user's own source line, never a library's.
        related: library lines and callers involved in the finding.
        evidence: numbers and names that the message is based on, JSON-able.
        advice: knob changes to try.
        fix: what to change in the kernel's code, as an instruction; absent if none is known.
        gain: time that the finding costs by the performance model; ``None`` if not known or not requested.
    """

    rule: str
    name: str
    severity: Severity
    message: str
    location: Location | UnsetType = UNSET
    related: list[Location] = []
    evidence: dict[str, Any] = {}
    advice: list[Advice] = []
    fix: str | UnsetType = UNSET
    gain: Gain | None = None


class Cure(msgspec.Struct, frozen=True):
    """A compiled change that is predicted to be faster: other knob values, or arguments compiled as multiples of 16.

    Attributes:
        change: current value and new value by knob.
        divisible: arguments that were compiled as multiples of 16, which is what the finding's fix does; in this case
            no knob is changed.
        before_us, after_us: predicted microseconds of a launch without and with the change.
        certainty: probability that the kernel is faster with the change, 0 to 1. It is the share of pairs of
            configurations with published times and the same predicted difference that were measured in the predicted
            order. Absent on architectures without published times.
        figures: values without and with the change, by resource; only resources whose values differ.
    """

    change: dict[str, tuple[Any, Any]]
    before_us: float
    after_us: float
    certainty: float | UnsetType = UNSET
    figures: dict[str, tuple[Any, Any]] = {}
    divisible: list[str] = []

    @property
    def speedup(self) -> float:
        """Predicted time without the change divided by the time with it."""
        return self.before_us / self.after_us


class Cause(msgspec.Struct, frozen=True):
    """Findings that have a common cause, so that one repair removes them all, and their total cost.

    Attributes:
        findings: positions in the kernel's ``findings``. The first finding names the cause; the others follow from it
            or cost time that its repair would save as well.
        gain: cost of the cause; ``None`` if not known.
        cure: the best compiled change that repairs the cause; absent if none was tried or none helps.
    """

    findings: list[int]
    gain: Gain | None = None
    cure: Cure | UnsetType = UNSET


class Suppressed(msgspec.Struct, frozen=True):
    """A finding that an ignore comment silences, with the reason from the comment."""

    finding: Finding
    reason: str


def by_cost(gain: Gain | None) -> tuple[int, float]:
    """Return a sort key for findings: first by cost, then findings of unknown cost, then those of negligible cost."""
    if gain is None:
        return 1, 0.0
    return (0, -gain.us) if gain.share >= _WORTH_TELLING else (2, -gain.us)


WORTH_A_CHANGE = 0.05
"""Minimum share of a launch's time that a cause must cost for kprof to compile a cure or to recommend a change."""

_WORTH_TELLING = 0.01
"""Minimum share of a launch's time that a finding must cost to rank above findings of unknown cost."""


class Unjudged(msgspec.Struct, frozen=True):
    """A rule that was not checked, or that was checked only on a part of the kernel.

    Attributes:
        rule: identifier of the rule.
        name: name of the rule in kebab-case.
        reason: reason why the rule was not checked, as a continuation of "not checked:" or "does not apply:".
    """

    rule: str
    name: str
    reason: str


class Failure(msgspec.Struct, frozen=True):
    """An analyzer that raised an exception or could not be loaded.

    Attributes:
        analyzer: class of the analyzer, or the entry point that should provide it.
        reason: the exception as text.
    """

    analyzer: str
    reason: str

    def __str__(self) -> str:
        return f"the analyzer {self.analyzer} failed: {self.reason}"


class Coverage(msgspec.Struct, frozen=True):
    """Rules that were checked and rules that were not, so that an unchecked rule does not look like a clean result.

    Attributes:
        checked: identifiers of the rules that were checked completely.
        not_checked: rules that could not be checked because a fact about the launch, the input or the architecture is
            missing.
        does_not_apply: rules about hardware features that the architecture does not have.
        failed: analyzers that raised an exception, and entry points that could not be loaded.
    """

    checked: list[str] = []
    not_checked: list[Unjudged] = []
    does_not_apply: list[Unjudged] = []
    failed: list[Failure] = []
