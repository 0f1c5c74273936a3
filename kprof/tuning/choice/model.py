"""The result of ``kprof select``: schema ``kprof.selection/1``. Times are milliseconds per call; None means unknown."""

from typing import Any, Literal

import msgspec

from kprof.condition import WARM

Basis = Literal["measured", "published", "predicted", "unknown"]
"""Source of a time.

``measured``: a benchmark result in a dispatch table. ``published``: measured by others on their hardware, including
whatever their timed call contained. ``predicted``: kprof's model of all launches of the implementation. ``unknown``: no
time is available.
"""


class ConsideredImplementation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One considered implementation, with one time for it.

    Attributes:
        implementation: a bundled kernel, or another provider.
        basis: source of ``ms``.
        ms: milliseconds per call; ``None``: unknown, or the implementation cannot be used.
        low_ms, high_ms: range of a prediction.
        config: every knob of a bundled kernel; empty for another provider.
        shape: the problem in the kernel's own parameters, if they differ from the requested ones.
        reason: origin of the time, or the reason why there is no time.
        bound: bottleneck of the longest predicted launch: ``matrix``, ``lds (NAME)``.
        needs: inputs that the implementation needs and the requested kernel does not, such as V stored transposed. The
            implementation is predicted for comparison and never chosen. Empty: it takes the same inputs.
        usable: whether the implementation supports this problem, as far as kprof knows.
        runs: whether kprof can run it: a bundled kernel or a ``kprof bench --provider``.
        ratio_only: True if the conditions of a published time are unknown, so it compares only with times of the
            same source.
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
    needs: str = ""


class ImplementationChoice(msgspec.Struct, frozen=True):
    """The chosen implementation and configuration, with all candidates.

    Attributes:
        kernel, arch, shape: the request.
        implementation: a kprof kernel, or another provider.
        config: every knob of that kernel; empty for another provider.
        rule: the rule that decided, see :mod:`kprof.tuning.choice.choose`: an ``exact`` or the ``nearest`` entry of the
            dispatch table, ``published``, ``predicted``, or the kernel's own ``default``.
        reason: explanation of the choice.
        distance: sum of ``|log2|`` ratios to the shape whose time is used; 0 if the shape is exact; ``None`` if the
            time was predicted for the requested shape itself, or if there is no time.
        measured: the shape that was measured, published or listed in the shipped table of predictions.
        ms: time of the chosen implementation, see ``basis``; ``None``: unknown.
        device: product that the time applies to.
        basis: source of ``ms``.
        candidates: every implementation that was considered, timed ones first, fastest first.
        condition: condition for predicted times, see :mod:`kprof.condition`.
        notes: further remarks on the choice, such as a measured shape that is too far away.
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
