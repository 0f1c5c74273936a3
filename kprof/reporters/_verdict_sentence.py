"""What a person would say of a kernel, in one sentence."""

from msgspec import UNSET

from kprof.document import KernelReport, Prediction
from kprof.findings import Severity
from kprof.reporters._model_text import duration
from kprof.reporters._plain_words import said

_GOES_TO = {
    "matrix": "matrix instructions",
    "vector": "vector instructions",
    "lds": "LDS",
    "memory latency": "waiting for memory",
    "memory bandwidth": "memory bandwidth",
    "barrier": "waiting at barriers",
    "issue": "issuing instructions",
    "scratch": "scratch",
    "launch": "launching",
}


def verdict(kernel: KernelReport) -> str:
    """``attn_fwd on MI300X: 3.82 ms (model), 74 % of it spilled registers; 6 % of the speed of light``."""
    where = kernel.arch if kernel.product is UNSET else kernel.product
    name = f"{kernel.name} on {where}" if where else kernel.name
    return f"{name}: {_said(kernel)}"


def _said(kernel: KernelReport) -> str:
    worst = next((found for found in kernel.findings if found.severity is Severity.ERROR), None)
    occupancy = kernel.occupancy
    if occupancy is not None and occupancy is not UNSET and not occupancy.waves_per_simd:
        return "cannot be launched" + (f": {said(worst.message, kernel)}" if worst is not None else "")
    if kernel.unseen is not UNSET:
        return "cannot tell: not all of it was seen"
    if kernel.model is not UNSET and kernel.model.shares:
        return _modelled(kernel.model, kernel)
    if kernel.findings:
        return said(kernel.findings[0].message, kernel)
    return "nothing was found to hold it back"


def _modelled(model: Prediction, kernel: KernelReport) -> str:
    cause, share = max(model.shares.items(), key=lambda item: item[1])
    spent = _GOES_TO.get(cause, cause)
    if cause == "scratch" and kernel.resources is not UNSET and kernel.resources.vgpr_spills:
        spent = "spilled registers"
    if model.time_us is None:
        names = dict.fromkeys(name for loop in model.loops for name in loop.missing)
        depends = " and ".join(names) or "the launch"
        return f"{100 * share:.0f} % of the time goes to {spent} (model); how long it takes depends on {depends}"
    time = f"{duration(model.time_us)} (model), {100 * share:.0f} % of it for {spent}"
    light = model.speed_of_light_percent
    return time if light is None else f"{time}; {light:.0f} % of the speed of light"
