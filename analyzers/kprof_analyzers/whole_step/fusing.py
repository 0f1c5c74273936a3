"""Operators one after the other that only move memory, and what one kernel in their place would save."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kprof.captures.model import CapturedOperator, TensorInfo, TensorList
from kprof_analyzers.whole_step.operator_work import elements_of
from kprof_analyzers.whole_step.timing import StepCall

_KINDS = frozenset({"elementwise", "copy"})
_NAMED = 4
FUSED = "fused=True"
"""The argument with which torch's optimizers update all parameters in one kernel."""


def fusable(calls: Sequence[StepCall]) -> list[tuple[str, float, int]]:
    """Runs of operators that could be one kernel: what to type for it, microseconds saved, calls in them, by name.

    A run is of element-wise operators and copies in the same phase that each take a tensor of the shape that the one
    before gave. Calls by code that ``torch.compile`` generated are compiled already. Saved is all but the longest of a
    run: what passes between need not go through memory. It is an upper bound, since another operator may need it.
    """
    found: dict[str, tuple[float, int]] = defaultdict(lambda: (0.0, 0))
    for run in _runs(calls):
        times = [call.timed.us or 0.0 for call in run]
        names = [call.timed.name.removeprefix("aten::") for call in run]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        text = f"torch.compile(model) (it fuses {', '.join(names[:_NAMED])}{more})"
        if all(name.startswith("_foreach_") for name in names):
            text = f"{FUSED} in the optimizer (its {len(names)} operators on lists become one kernel)"
        saved, count = found[text]
        found[text] = saved + sum(times) - max(times), count + len(run)
    return [(text, saved, count) for text, (saved, count) in found.items()]


def _runs(calls: Sequence[StepCall]) -> Iterator[list[StepCall]]:
    run: list[StepCall] = []
    for call in calls:
        if run and not _follows(run[-1], call):
            if len(run) > 1:
                yield run
            run = []
        if call.timed.kind in _KINDS and call.timed.us is not None and not call.compiled:
            run.append(call)
    if len(run) > 1:
        yield run


def _follows(before: StepCall, call: StepCall) -> bool:
    """Whether a call takes what the one before it gave, as far as shapes tell."""
    if call.timed.kind not in _KINDS or call.timed.us is None or call.process != before.process or call.compiled:
        return False
    made, given = before.made, call.made
    if not (isinstance(made, CapturedOperator) and isinstance(given, CapturedOperator)):
        return False
    if (before.scope and before.scope.phase) != (call.scope and call.scope.phase):
        return False
    # An operator on lists that writes in place gives nothing back: its first argument is what it gave.
    gave = made.outputs if any(elements_of(one) for one in made.outputs) else made.inputs[:1]
    elements = sum(elements_of(one) for one in gave)
    takes = [one for one in given.inputs if isinstance(one, TensorInfo | TensorList)]
    return elements > 1 and any(elements_of(one) == elements for one in takes)
