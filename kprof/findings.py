"""Findings: what an analyzer has to say about a kernel, with the evidence.

All types are frozen msgspec structs; they are part of the ``kprof.report/1`` document.
"""

import enum
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType


class Severity(str, enum.Enum):
    """How much a finding matters. Compare with :meth:`rank`, not alphabetically."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """0 for a note, 1 for a warning, 2 for an error."""
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
        """``name.py:12`` with the file's last part only, for tables."""
        return f"{self.file.replace(chr(92), '/').rsplit('/', 1)[-1]}:{self.line}"


class Edit(msgspec.Struct, frozen=True):
    """A change of one line.

    Attributes:
        file: path, as in :class:`Location`.
        line: 1-based line.
        before: the line as it is, without its end.
        after: the line as it should be.
    """

    file: str
    line: int
    before: str
    after: str


class Advice(msgspec.Struct, frozen=True, rename={"from_": "from"}):
    """One change to one knob.

    Attributes:
        knob: the knob's name: a constexpr, an option or an environment switch.
        from_: its value now.
        to: the value to try.
        verified: metric name to ``[before, after]``, present only when the change was recompiled.
        note: what is judgement rather than fact.
        speedup: predicted time before all changes of the advice over that after them; absent where one is not known.
        certainty: that the kernel is faster with them, 0 to 1, by published pairs predicted as far apart
            (docs/validation/model.md); absent without ``speedup`` and on architectures without published times.
        edit: the line that sets the knob, where exactly one does; of knobs on one line, the same edit.
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
    """What a finding costs by the performance model: the launch's time less its time without the effect.

    Attributes:
        us: microseconds.
        low_us, high_us: the same at the ends of the time's range; ``low_us`` is 0 where ``at_most`` holds.
        share: of the launch's time.
        at_most: more is left out than a repair would bring: all latency, all idle CUs.
    """

    us: float
    low_us: float
    high_us: float
    share: float
    at_most: bool = False


class Finding(msgspec.Struct, frozen=True):
    """One thing worth reporting to the user.

    Attributes:
        rule: stable identifier, ``KP`` and three digits.
        name: the bad pattern in kebab-case, so that "allow <name>" reads well.
        severity: see :class:`Severity`.
        message: one line with the numbers in it.
        location: the user's own line, never a library's.
        related: library lines and callers that belong to it.
        evidence: numbers and names that the message rests on, JSON-able.
        advice: knob changes to try.
        fix: what to change in the kernel's code, as an instruction; absent where no such instruction is known.
        gain: what it costs by the performance model; ``None`` where that is not known or was not asked for.
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
    """A change of knobs, or of what is known of arguments, that was compiled and is predicted to be faster.

    Attributes:
        change: knob to its value now and the value to set.
        divisible: arguments that were compiled as multiples of 16, as the finding's fix makes them; then no knob is
            changed.
        before_us, after_us: predicted microseconds of a launch without and with the change.
        certainty: probability that the kernel is faster with the change, 0 to 1, from published pairs that were
            predicted as far apart; absent on architectures without published times.
        figures: resource to its value without and with the change, where the two differ.
    """

    change: dict[str, tuple[Any, Any]]
    before_us: float
    after_us: float
    certainty: float | UnsetType = UNSET
    figures: dict[str, tuple[Any, Any]] = {}
    divisible: list[str] = []

    @property
    def speedup(self) -> float:
        """Time without the change over the time with it."""
        return self.before_us / self.after_us


class Cause(msgspec.Struct, frozen=True):
    """Findings that one repair would remove, with one cost.

    Attributes:
        findings: positions in the kernel's ``findings``; the first one names the cause, the others follow from it or
            cost time that its repair would save as well.
        gain: cost of the cause; ``None`` where it is not known.
        cure: the best change of knobs that was compiled for it; absent where none was tried or none helps.
    """

    findings: list[int]
    gain: Gain | None = None
    cure: Cure | UnsetType = UNSET


class Suppressed(msgspec.Struct, frozen=True):
    """A finding that an ignore comment silences, with the reason given there."""

    finding: Finding
    reason: str


def by_cost(gain: Gain | None) -> tuple[int, float]:
    """A key to sort findings by: the costliest first, those of unknown cost behind, then what costs next to nothing."""
    if gain is None:
        return 1, 0.0
    return (0, -gain.us) if gain.share >= _WORTH_TELLING else (2, -gain.us)


WORTH_A_CHANGE = 0.05
"""Share of a launch's time that a cause has to cost before a cure is compiled for it or a change is asked for."""

_WORTH_TELLING = 0.01
"""Share of a launch's time from which on a finding of known cost stands above those of unknown cost."""


class Unjudged(msgspec.Struct, frozen=True):
    """A rule that gave no verdict, or none on all of the kernel.

    Attributes:
        rule: identifier.
        name: in kebab-case.
        reason: why, in words that go on from "not checked:" or "does not apply:".
    """

    rule: str
    name: str
    reason: str


class Failure(msgspec.Struct, frozen=True):
    """An analyzer that could not be asked.

    Attributes:
        analyzer: its class, or the entry point that was to bring it.
        reason: the exception.
    """

    analyzer: str
    reason: str

    def __str__(self) -> str:
        return f"the analyzer {self.analyzer} failed: {self.reason}"


class Coverage(msgspec.Struct, frozen=True):
    """What was checked, so that no finding is not taken for a clean bill.

    Attributes:
        checked: identifiers of the rules that looked at everything they look for.
        not_checked: rules that lack a fact that they rest on: of the launch, the input or the architecture.
        does_not_apply: rules about what the architecture does not have.
        failed: analyzers that raised, and entry points that could not be loaded.
    """

    checked: list[str] = []
    not_checked: list[Unjudged] = []
    does_not_apply: list[Unjudged] = []
    failed: list[Failure] = []
