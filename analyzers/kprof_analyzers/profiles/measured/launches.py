"""Match launches in a trace with compiled kernels, and compare measured and modelled times."""

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
    """Result of searching a kernel's configurations for a launch; times are predicted.

    Attributes:
        config: configuration with the shortest predicted time.
        time_us: predicted time of a launch with this configuration.
        own_us: predicted time of a launch with the current configuration.
        as_good: whether the model cannot tell which of the two configurations is faster.
        gain_ns: saving over all calls: the predicted relative saving multiplied by the measured time.
        configurations: number of configurations whose time was predicted.
        complete: whether the times of all configurations of the search space were predicted.
        note: caveat, or "".
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
    """Launches of a target's kernel in one trace. Times are measured unless they are called modelled or predicted.

    Attributes:
        path: path of the trace.
        target: the target as the user named it.
        steps: complete steps of the trace; 0 if none is marked.
        launch: the measured launches.
        keys: properties in which the measured launch was compared with the compiled kernel.
        confidence: confidence that the launches run this kernel; see :class:`kprof.measured.Match`.
        modelled_us: modelled time of a launch; ``None`` if ``doubt`` says why it cannot be compared.
        low_us, high_us: range in which the model expects measured times.
        least_ns: minimum time of all calls, at the peak rates of matrix units and memory; ``None`` if unknown.
        lost_ns: measured time beyond ``least_ns``.
        doubt: reason why measured and modelled times are not compared (another build, another launch, or no model); ""
            if they are.
        tuned: result of the configuration search; ``None`` if there was none.
        not_tuned: reason why a requested search was not done.
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
        """Modelled time divided by measured time."""
        if self.modelled_us is None or not self.launch.total_ns:
            return None
        return self.modelled_us * 1000 * self.launch.calls / self.launch.total_ns

    def in_a_step(self, whole_ns: float) -> float:
        """Divide a time of all calls by the number of steps; return it unchanged if the trace marks no steps."""
        if not self.steps or not self.launch.total_ns:
            return whole_ns
        return whole_ns * self.launch.step_ns / self.launch.total_ns / self.steps


@dataclass(frozen=True)
class CompiledTarget:
    """The compiled kernel of a target.

    Attributes:
        target: the target as the user named it.
        tuned_as: argument for :func:`kprof.tune` that names the target; ``None`` if its code cannot be compiled again.
        report: the kernel's report with its prediction.
        identity: properties of the kernel that measurements may also contain.
    """

    target: str
    tuned_as: "TargetLike | None"
    report: "KernelReport"
    identity: "CompiledIdentity"


def join_launches(
    traces: Sequence[LaunchShapes], compiled: Sequence[CompiledTarget], gpu: str
) -> list[tuple[TargetLaunch, CompiledTarget]]:
    """Match each launch with the compiled kernel of its name that fits best.

    Args:
        traces: measured launches.
        compiled: kernels of the targets; grid and resources distinguish kernels of the same name.
        gpu: the measured product.

    Returns:
        Launches with their kernels: first those with a prediction by decreasing lost time, then the others by time.
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
    # For a launch in a graph, 0 B of LDS may mean that the value was not recorded. Triton's LDS is dynamic, so its
    # static LDS is 0, too.
    lds = launch.lds_bytes if launch.lds_bytes or not one.identity.lds_bytes else None
    keys = compare(one.identity, Variant(launch.name, (), items, lds))
    compiled, measured = (_hash_of(path) for path in (one.identity.source, launch.source))
    if compiled and measured:
        keys.append(Key("source", compiled, measured, agrees=compiled == measured))
    return keys


def _hash_of(path: str | None) -> str:
    """Return the content hash that the name of an Inductor source file contains; "" for other files."""
    stem = PurePath(path or "").stem
    return stem if _HASHED.fullmatch(stem) else ""


def _fit(launch: LaunchShape, one: CompiledTarget) -> tuple[bool, int]:
    keys = _keys(launch, one)
    return all(key.agrees for key in keys) and not _other_grid(launch, one), sum(key.agrees for key in keys)


def _other_grid(launch: LaunchShape, one: CompiledTarget) -> str:
    """Return the reason why a launch's grid differs from the modelled grid or is unknown; "" if the grids are equal."""
    if launch.workgroups is None:
        return "the number of workgroups is not recorded"
    grid = [] if one.report.launch is UNSET else list(one.report.launch.get("grid", ()))
    if not grid:
        return "the number of workgroups of the target is not known"
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
    # Inductor writes versions and paths into its source files. A different source text therefore does not prove that
    # the kernel differs.
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
