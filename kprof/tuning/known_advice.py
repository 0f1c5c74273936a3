"""What `kprof advise` found for a kernel, kept for whoever looks at the same kernel later."""

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from kprof.advised import KnownAdvice
from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key
from kprof.tuning.config_code import switches_and_code

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.tuning.trials import Trials

_SECTION = CacheSection("advice")


def remember(trials: "Trials") -> None:
    """Keep the best change, if one is predicted to be faster by more than the model can tell."""
    start, report = trials.start, trials.start.report
    if report is None or not trials.best or not trials.told_apart or trials.ranked_by != "time":
        return
    best = trials.best[0]
    if start.time_us is None or best.time_us is None:
        return
    old, new = (None if one.measure is None else one.measure.vgpr_spills for one in (start, best))
    code = switches_and_code(best.config)
    found = KnownAdvice(dict(best.change), dict(best.config), code, start.time_us, best.time_us, old, new)
    _SECTION.write(_key(report), [msgspec.json.encode(found, enc_hook=str)])


def with_advice(report: "KernelReport") -> "KernelReport":
    """The same report, with what was found for this kernel, compiled so, for this launch, if anybody has searched."""
    # A digest of everything is not worth making for what nothing can be kept of.
    data = None if report.specialization is UNSET else _SECTION.read(_key(report))
    if data is None:
        return report
    return msgspec.structs.replace(report, advised=msgspec.json.decode(data, type=KnownAdvice))


def _key(report: "KernelReport") -> str:
    """Everything that the code and its launch are told by: other code has other loops, instructions or registers."""
    launch = {} if report.launch is UNSET else {name: report.launch.get(name) for name in ("grid", "problem")}
    parts = [report.specialization, report.resources, report.loops, report.source, launch]
    told = [None if part is UNSET else msgspec.to_builtins(part, enc_hook=str) for part in parts]
    return derived_key("advice", report.name, report.arch, report.triton or None, told)
