"""Launches in a trace, and the model's time of the kernel that they are taken to be of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from kprof.inputs.completeness import KERNEL_TIMES, cannot_tell
from kprof.measured import Confidence, Key
from kprof_analyzers.profiles.measured.join import Variant, compare, confidence, is_called
from kprof_analyzers.profiles.timeline.launch_shapes import LaunchShape, LaunchShapes

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.targets.target import TargetLike
    from kprof_analyzers.profiles.measured.join import CompiledIdentity


_HASHED = re.compile(r"c[a-z2-7]{51}")


class TunedLaunch(msgspec.Struct, frozen=True):
    """What a search of the kernel's configurations predicts for a launch.

    Attributes:
        config: of the configuration that is predicted to be the fastest.
        time_us: of a launch with it, predicted.
        own_us: of a launch as it is, predicted.
        as_good: the model cannot distinguish the two.
        gain_ns: of all calls: the predicted share that is saved, of the measured time.
        configurations: how many were predicted.
        complete: whether those are all that the search had to look at.
        note: what else is to be known, or empty.
    """

    config: dict[str, bool | int | float | str | None]
    time_us: float
    own_us: float
    as_good: bool
    gain_ns: float
    configurations: int
    complete: bool = True
    note: str = ""


class TargetLaunch(msgspec.Struct, frozen=True):
    """Launches of a target's kernel in one trace. Times are measured unless they say modelled or predicted.

    Attributes:
        path: of the trace.
        target: as it was named.
        steps: whole steps of the trace; 0 where none is marked.
        launch: what was measured.
        keys: what was compared with the compiled kernel.
        confidence: that it is this kernel; see :class:`kprof.measured.Match`.
        modelled_us: of a launch; ``None`` where ``doubt`` says why it cannot be compared.
        low_us, high_us: what the model expects measurements to lie between.
        least_ns: of all calls, at the peaks of matrix units and memory; ``None`` where it is not known.
        lost_ns: measured beyond ``least_ns``.
        doubt: why nothing is compared: another build, another launch, or not modelled; empty where something is.
        tuned: ``None`` where nothing was searched.
        not_tuned: why not, where it was asked for.
    """

    path: str
    target: str
    steps: int
    launch: LaunchShape
    keys: list[Key]
    confidence: Confidence
    modelled_us: float | None = None
    low_us: float | None = None
    high_us: float | None = None
    least_ns: float | None = None
    lost_ns: float | None = None
    doubt: str = ""
    tuned: TunedLaunch | None = None
    not_tuned: str = ""

    @property
    def ratio(self) -> float | None:
        """Modelled over measured."""
        if self.modelled_us is None or not self.launch.total_ns:
            return None
        return self.modelled_us * 1000 * self.launch.calls / self.launch.total_ns

    def in_a_step(self, whole_ns: float) -> float:
        """The part of a time of all calls that falls on one step, where steps are marked; else all of it."""
        if not self.steps or not self.launch.total_ns:
            return whole_ns
        return whole_ns * self.launch.step_ns / self.launch.total_ns / self.steps


@dataclass(frozen=True)
class CompiledTarget:
    """A target's kernel.

    Attributes:
        target: as it was named.
        tuned_as: what :func:`kprof.tune` takes for it; ``None`` of code that cannot be compiled again.
        report: with the prediction.
        identity: what measurements may tell too.
    """

    target: str
    tuned_as: "TargetLike | None"
    report: "KernelReport"
    identity: "CompiledIdentity"


def join_launches(
    traces: Sequence[LaunchShapes], compiled: Sequence[CompiledTarget], gpu: str
) -> list[tuple[TargetLaunch, CompiledTarget]]:
    """Each launch of a kernel that has the name of a compiled one, with the one that fits it best.

    Args:
        traces: what was measured.
        compiled: kernels of the targets; several of one name are told apart by grid and resources.
        gpu: the product that was measured.

    Returns:
        Launches with a prediction first, by time lost, then the others by time.
    """
    found = []
    for trace in traces:
        for launch in trace.launches:
            named = [one for one in compiled if is_called(launch.name, one.identity.name)]
            if named:
                best = max(named, key=lambda one: _fit(launch, one))
                found.append((_compared(trace, launch, best, gpu), best))
    found.sort(key=lambda pair: (pair[0].modelled_us is None, -(pair[0].lost_ns or 0.0), -pair[0].launch.total_ns))
    return found


def _keys(launch: LaunchShape, one: CompiledTarget) -> list[Key]:
    size = launch.workgroup_size
    items = size[0] * size[1] * size[2] if size is not None else None
    # Launches in a graph may have 0 for what was not recorded; Triton's static part is 0 too.
    lds = launch.lds_bytes if launch.lds_bytes or not one.identity.lds_bytes else None
    keys = compare(one.identity, Variant(launch.name, (), items, lds))
    compiled, measured = (_hash_of(path) for path in (one.identity.source, launch.source))
    if compiled and measured:
        keys.append(Key("source", compiled, measured, agrees=compiled == measured))
    return keys


def _hash_of(path: str | None) -> str:
    """The hash of its text that Inductor calls a source file by; empty for other files."""
    stem = PurePath(path or "").stem
    return stem if _HASHED.fullmatch(stem) else ""


def _fit(launch: LaunchShape, one: CompiledTarget) -> tuple[bool, int]:
    keys = _keys(launch, one)
    return all(key.agrees for key in keys) and not _other_grid(launch, one), sum(key.agrees for key in keys)


def _other_grid(launch: LaunchShape, one: CompiledTarget) -> str:
    """Why a launch cannot be the modelled one; empty where it can."""
    if launch.workgroups is None:
        return "the number of workgroups is not recorded"
    grid = [] if one.report.launch is UNSET else list(one.report.launch.get("grid", ()))
    if not grid:
        return "the target does not say how many workgroups it is launched with"
    if (*grid, 1, 1)[:3] == tuple(launch.workgroups):
        return ""
    return f"another launch: {_extents(launch.workgroups)} workgroups measured, {_extents(grid)} modelled"


def _extents(sizes: Sequence[int]) -> str:
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(f"{size:,}" for size in kept)


def _doubt(trace: LaunchShapes, launch: LaunchShape, keys: Sequence[Key], one: CompiledTarget, gpu: str) -> str:
    incomplete = cannot_tell(trace.issues, (KERNEL_TIMES,))
    if incomplete:
        return f"the trace is incomplete: {incomplete}"
    # Inductor writes versions and paths into its files: another text may well be the same kernel.
    other = [f"{k.name} {k.measured}, compiled {k.computed}" for k in keys if not k.agrees and k.name != "source"]
    if other:
        return f"another build: {'; '.join(other)}"
    if one.report.product not in {UNSET, None, gpu}:
        return f"measured on {gpu}, the target is for {one.report.product}"
    grid = _other_grid(launch, one)
    if grid:
        return grid
    if one.report.model is UNSET or one.report.model.time_us is None:
        return "the model has no time of this launch"
    return ""


def _compared(trace: LaunchShapes, launch: LaunchShape, one: CompiledTarget, gpu: str) -> TargetLaunch:
    keys = _keys(launch, one)
    found = TargetLaunch(trace.info.path, one.target, trace.steps, launch, keys, confidence(keys))
    doubt = _doubt(trace, launch, keys, one, gpu)
    model = one.report.model
    if doubt or model is UNSET:
        return msgspec.structs.replace(found, doubt=doubt)
    least = None if model.speed_of_light_us is None else 1000 * model.speed_of_light_us * launch.calls
    return msgspec.structs.replace(
        found,
        modelled_us=model.time_us,
        low_us=model.low_us,
        high_us=model.high_us,
        least_ns=least,
        lost_ns=None if least is None else max(0.0, launch.total_ns - least),
    )
