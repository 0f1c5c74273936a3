"""Group findings by cause, so that one repair is listed once and its cost is counted once.

Two findings have the same cause if repairing them removes the same effect. They also have the same cause if repairing
the second in addition to the first saves little more time, according to the performance model.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kprof.analysis import ModelChange
from kprof.findings import Cause, Finding, Gain

SHARE_OF_A_CAUSE = 0.01
"""A finding whose cost is known to be a smaller share of the launch's time is not compared with other causes."""

_OVERLAP = 0.5
"""A finding belongs to a cause if removing the cause leaves less than this share of the finding's own cost."""

_COMPARED = 3
"""Maximum number of causes that a finding is compared with; each comparison costs one more simulation."""


T = TypeVar("T")

Costed = Callable[[ModelChange], Gain | None]
"""Function that returns the cost of an effect, or None if the model cannot predict the launch without the effect."""


def group(
    findings: Sequence[Finding],
    changes: Sequence[ModelChange | None],
    cost_of: Costed | None = None,
    fatal: Collection[str] = (),
) -> list[Cause]:
    """Return the causes of a kernel's findings, sorted by falling expected gain.

    Causes that prevent a launch come first.

    Args:
        findings: the kernel's findings with their gains.
        changes: the effect that each finding names; None if the model has no such effect.
        cost_of: returns the cost of an effect; if None, findings are grouped only if their effects are equal.
        fatal: identifiers of the rules whose findings prevent a launch.
    """
    groups: list[_Group] = []
    # Maps the position of an instruction to its group. Findings whose effects remove a common instruction share a
    # group.
    owners: dict[int, int] = {}
    # The first finding of a cause names it. Findings with an exact saving come before those with an upper bound.
    for position in sorted(range(len(findings)), key=lambda index: _specific(findings[index].gain)):
        finding, change = findings[position], changes[position]
        match = _matching(finding, change, groups, owners, cost_of)
        if match is None:
            owners.update(dict.fromkeys(change.gone if change is not None else (), len(groups)))
            groups.append(_Group(finding, change, [position]))
        else:
            match.positions.append(position)
    groups.sort(key=lambda group: (group.first.rule not in fatal, _expected(group.first.gain)))
    return [Cause(findings=group.positions, gain=group.first.gain) for group in groups]


@dataclass(frozen=True)
class _Group:
    """Group of findings that have one cause.

    Attributes:
        first: the finding that names the cause.
        effect: effect that the model removes to compute the cause's cost; None if the model has no such effect.
        positions: indices of the group's findings in the list that :func:`group` receives.
    """

    first: Finding
    effect: ModelChange | None
    positions: list[int]


def _matching(
    finding: Finding,
    change: ModelChange | None,
    groups: Sequence[_Group],
    owners: Mapping[int, int],
    cost_of: Costed | None,
) -> _Group | None:
    """Return the group that a finding belongs to, or None if it starts a new group.

    ``owners`` maps the position of an instruction to the group whose effect removes it: its index in ``groups``.
    """
    if change is None:
        # Without an effect to compare, all findings of one rule are one cause.
        return next((g for g in groups if g.effect is None and g.first.rule == finding.rule), None)
    if change.gone:
        same = min((owners[place] for place in change.gone if place in owners), default=None)
    else:
        same = next((index for index, each in enumerate(groups) if each.effect == change), None)
    if same is not None:
        return groups[same]
    gain = finding.gain
    if cost_of is None or gain is None or gain.share < SHARE_OF_A_CAUSE:
        return None
    for group in groups[:_COMPARED]:
        alone = group.first.gain
        if group.effect is None or alone is None or alone.share < SHARE_OF_A_CAUSE:
            continue
        both = cost_of(union(group.effect, change))
        if both is not None and both.us - alone.us < _OVERLAP * gain.us:
            return group
    return None


def union(first: ModelChange, second: ModelChange) -> ModelChange:
    """Return a change that removes the effects of two changes at once."""
    gone = tuple(dict.fromkeys((*first.gone, *second.gone)))
    cycles = dict(first.cycles)
    for position, factor in second.cycles.items():
        cycles[position] = cycles.get(position, 1.0) * factor
    return ModelChange(
        gone=gone,
        wide={position: width for position, width in {**first.wide, **second.wide}.items() if position not in gone},
        cycles=cycles,
        conflict_free=tuple(dict.fromkeys((*first.conflict_free, *second.conflict_free))),
        leave_out=tuple(dict.fromkeys((*first.leave_out, *second.leave_out))),
        num_warps=_either(first.num_warps, second.num_warps, min),
        workgroups_per_cu=_either(first.workgroups_per_cu, second.workgroups_per_cu, max),
        idle_share=_either(first.idle_share, second.idle_share, max),
        at_most=first.at_most or second.at_most,
    )


def _either(first: T | None, second: T | None, choose: Callable[[T, T], T]) -> T | None:
    given = [value for value in (first, second) if value is not None]
    return choose(given[0], given[1]) if len(given) == 2 else given[0] if given else None


def _specific(gain: Gain | None) -> tuple[bool, bool, bool, float]:
    """Return a sort key: exact savings first, then upper bounds, unknown costs and negligible costs."""
    return _is_negligible(gain), gain is None, gain is not None and gain.at_most, -_us(gain)


def _expected(gain: Gain | None) -> tuple[bool, bool, float]:
    """Return a sort key: the largest expected gain first, then unknown costs, then negligible costs."""
    # If only an upper bound is known, the saving lies between 0 and this bound, so half of it is expected.
    return _is_negligible(gain), gain is None, -_us(gain) * (0.5 if gain is not None and gain.at_most else 1.0)


def _is_negligible(gain: Gain | None) -> bool:
    return gain is not None and gain.share < SHARE_OF_A_CAUSE


def _us(gain: Gain | None) -> float:
    return gain.us if gain is not None else 0.0
