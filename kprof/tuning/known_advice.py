"""Store the result of ``kprof advise`` for a kernel, and add it to later reports of the same kernel."""

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
    """Store the best change, if the model can distinguish its predicted time from the present time."""
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
    """Return the report with the stored advice for the same kernel, compile and launch, if there is any."""
    # A report without a specialization never has stored advice, so computing its key would be wasted time.
    data = None if report.specialization is UNSET else _SECTION.read(_key(report))
    if data is None:
        return report
    return msgspec.structs.replace(report, advised=msgspec.json.decode(data, type=KnownAdvice))


def _key(report: "KernelReport") -> str:
    """Return the cache key of a kernel's compile, code and launch. Other code has other loops or resources."""
    launch = {} if report.launch is UNSET else {name: report.launch.get(name) for name in ("grid", "problem")}
    parts = [report.specialization, report.resources, report.loops, report.source, launch]
    told = [None if part is UNSET else msgspec.to_builtins(part, enc_hook=str) for part in parts]
    return derived_key("advice", report.name, report.arch, report.triton or None, told)
