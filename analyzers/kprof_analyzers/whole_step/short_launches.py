"""Launches that are too short to matter one by one, and what they take together."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kprof_analyzers.whole_step.document import ProfileChange
from kprof_analyzers.whole_step.timing import StepCall, TimedCall

_MANY = 20
"""Short launches below which nothing is said: a step has a few anyway."""
_NAMED = 3
_OPTIMIZERS = ("aten::_foreach_", "_foreach_", "aten::_fused_adam", "aten::_fused_sgd")


def short_launches(calls: Sequence[StepCall], whole: float) -> Iterator[ProfileChange]:
    """What the launches cost that take at most twice what an empty one takes, where there are many.

    Saved on the GPU is at most what launching takes of each but one, by fewer and larger kernels. A captured graph
    launches as many kernels: it saves time of the host, which is not predicted. An optimizer's calls are outside of the
    model that is compiled, and code that ``torch.compile`` generated is compiled already.

    Args:
        calls: of the step.
        whole: microseconds of the step.
    """
    short = [call.timed for call in calls if call.timed.short and not (_is_optimizers(call) or call.compiled)]
    if len(short) < _MANY:
        return
    saved = sum(one.launch_us for one in short) - max(one.launch_us for one in short)
    together = sum(one.us or 0.0 for one in short)
    what = "torch.compile(model) (fewer and larger launches in place of many short ones; host time is outside)"
    most = ", ".join(name.removeprefix("aten::") for name in _longest(short))
    sure = f"each takes at most twice an empty launch; most in {most}; which ones can be joined is not known"
    yield ProfileChange(what, saved, saved / whole, len(short), at_most=True, sure=sure, now_us=together)


def _is_optimizers(call: StepCall) -> bool:
    if call.scope is not None and call.scope.phase == "optimizer":
        return True
    return call.timed.name.startswith(_OPTIMIZERS)


def _longest(short: Sequence[TimedCall]) -> list[str]:
    """The names that take most of the time, the longest first."""
    times: dict[str, float] = defaultdict(float)
    for one in short:
        times[one.name] += one.us or 0.0
    return sorted(times, key=lambda name: -times[name])[:_NAMED]
