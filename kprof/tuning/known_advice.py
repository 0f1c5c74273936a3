"""What `kprof advise` found for a kernel, kept for whoever looks at the same kernel later."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.tuning.trials import Trials

_SECTION = CacheSection("advice")


@dataclass(frozen=True)
class KnownAdvice:
    """The first answer of a search for better knobs; each was compiled, none was measured.

    Attributes:
        change: knobs to their new values.
        config: all knobs.
        start_us, best_us: predicted microseconds before and after.
        spills: VGPRs spilled before and after.
    """

    change: Mapping[str, Any]
    config: Mapping[str, Any]
    start_us: float
    best_us: float
    spills: tuple[int | None, int | None] = (None, None)


def remember(trials: "Trials") -> None:
    """Keep the best change, if one is predicted to be faster by more than the model can tell."""
    start, report = trials.start, trials.start.report
    if report is None or not trials.best or not trials.told_apart or trials.ranked_by != "time":
        return
    best = trials.best[0]
    if start.time_us is None or best.time_us is None:
        return
    old, new = (None if one.measure is None else one.measure.vgpr_spills for one in (start, best))
    spills = old, new
    found = KnownAdvice(best.change, best.config, start.time_us, best.time_us, spills)
    _SECTION.write(_key(report), [msgspec.json.encode(found, enc_hook=str)])


def recall(report: "KernelReport") -> KnownAdvice | None:
    """What was found for this kernel, compiled so, for this launch; ``None`` where nobody has searched."""
    if report.specialization is UNSET:
        return None
    data = _SECTION.read(_key(report))
    return None if data is None else msgspec.json.decode(data, type=KnownAdvice)


def _key(report: "KernelReport") -> str:
    """Everything that the code and its launch are told by: other code has other loops, instructions or registers."""
    launch = {} if report.launch is UNSET else {name: report.launch.get(name) for name in ("grid", "problem")}
    parts = [report.specialization, report.resources, report.loops, report.source, launch]
    told = [None if part is UNSET else msgspec.to_builtins(part, enc_hook=str) for part in parts]
    return derived_key("advice", report.name, report.arch, report.triton or None, told)
