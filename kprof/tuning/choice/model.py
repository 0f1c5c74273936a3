"""The answer of ``kprof select``: schema ``kprof.selection/1``. Times are milliseconds a call; absent is not zero."""

from typing import Any, Literal

import msgspec

from kprof.condition import WARM

Basis = Literal["measured", "published", "predicted", "unknown"]
"""How a time is known.

``measured``: in a dispatch table, from a benchmark. ``published``: by others, on their hardware, with whatever their
timed call held. ``predicted``: by kprof's model, of everything that the implementation launches. ``unknown``: there is
no time.
"""


class ConsideredImplementation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One implementation that was considered, with one time for it.

    Attributes:
        implementation: a bundled kernel, or another provider.
        basis: how ``ms`` is known.
        ms: milliseconds a call; ``None``: not known, or it cannot be used.
        low_ms, high_ms: range of a prediction.
        config: every knob of a bundled kernel; empty for another provider.
        shape: the problem in the kernel's own parameters, where they are not those that were asked for.
        reason: where the time comes from; without one, why there is none.
        bound: what limits the longest launch of a prediction: ``matrix``, ``lds (NAME)``.
        usable: whether the implementation can do this problem, as far as kprof knows.
        runs: whether it is there to be run: a bundled kernel, or what ``kprof bench --provider`` takes.
        ratio_only: conditions of a published time are not known, so that it compares with times beside it only.
    """

    implementation: str
    basis: Basis
    ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None
    config: dict[str, Any] = {}
    shape: dict[str, Any] = {}
    reason: str = ""
    usable: bool = True
    runs: bool = True
    ratio_only: bool = False
    bound: str = ""


class ImplementationChoice(msgspec.Struct, frozen=True):
    """What to use.

    Attributes:
        kernel, arch, shape: what was asked.
        implementation: kernel of kprof, or another provider.
        config: every knob of that kernel; empty for another provider.
        rule: what decided, see :mod:`kprof.tuning.choice.choose`: an ``exact`` or the ``nearest`` entry of the dispatch
            table, ``published``, ``predicted``, or the kernel's own ``default``.
        reason: the choice in words.
        distance: sum of ``|log2|`` ratios to the shape that the time is of; 0 when exact, ``None`` where it was
            predicted for this very shape just now, or where there is none.
        measured: shape that was measured, published, or in the shipped table of predictions.
        ms: time of what was chosen, see ``basis``; ``None``: not known.
        device: product that the time is of.
        basis: how ``ms`` is known.
        candidates: everything that was considered, those with a time first, fastest first.
        condition: that predicted times are of, see :mod:`kprof.condition`.
        notes: what else bears on the choice, such as a measured shape that is too far away.
    """

    kernel: str
    arch: str
    shape: dict[str, Any]
    implementation: str
    config: dict[str, Any]
    rule: Literal["exact", "nearest", "published", "predicted", "default"]
    reason: str
    distance: float | None = None
    measured: dict[str, Any] | None = None
    ms: float | None = None
    device: str = ""
    basis: Basis = "unknown"
    candidates: list[ConsideredImplementation] = []
    notes: list[str] = []
    condition: str = WARM.name
