"""Search for better configurations of the Triton kernels that take most of a predicted step."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.condition import WARM

if TYPE_CHECKING:
    from kprof.hardware.machine import Product
    from kprof.tuning.recorded import AdvisedKernel
    from kprof.tuning.recorded.relaunch import RelaunchedProgram
    from kprof_analyzers.whole_step.document import ProfileChange
    from kprof_analyzers.whole_step.timing import StepCall


@dataclass(frozen=True)
class Searched:
    """Results of the searches for all kernels of a step.

    Attributes:
        changes: configurations that are predicted to be faster, one for all launches of a kernel.
        notes: sentences that say why a kernel with a large share has no such configuration.
    """

    changes: "Sequence[ProfileChange]"
    notes: Sequence[str]


def search(
    capture: Path,
    calls: "Sequence[StepCall]",
    product: "Product",
    seconds: float,
    *,
    jobs: int = 0,
    program: "RelaunchedProgram | None" = None,
    run: bool = True,
    condition: str = WARM.name,
) -> Searched:
    """Search configurations of the kernels that take at least 5 % of the step.

    Args:
        capture: the recording.
        calls: calls of the step, in order.
        product: the GPU.
        seconds: time limit of all searches together, after which no compile is started; each kernel gets a share of the
            remaining time.
        jobs: parallel compiles; 0 for one per core.
        program: program to run again for other tiles; ``None`` for the program named in the capture.
        run: whether to run the program again.
        condition: condition that times are predicted for.
    """
    from kprof.output.writing import log
    from kprof.targets.captured import SEPARATOR
    from kprof.tuning.recorded import advise

    asked = _kernels_to_search(calls)
    if not asked:
        return Searched([], [])
    changes: list[ProfileChange] = []
    notes: list[str] = []
    whole = sum(call.timed.us or 0.0 for call in calls)
    found = advise(
        str(capture),
        product=product,
        budget=seconds,
        jobs=jobs,
        run=run,
        program=program,
        condition=condition,
        tell=lambda text: log(f"kprof: {text}"),
        only=list(asked),
    )
    for kernel in found:
        # A kernel that failed to compile again has only its name as the target, so search by name.
        named = (one for one in asked.values() if one.name == kernel.name)
        one = asked.get(kernel.target.rpartition(SEPARATOR)[2]) or next(named, None)
        if one is None:
            continue
        change = _change(kernel, one, whole)
        if change is not None:
            changes.append(change)
        notes += [note] if (note := _note(kernel, one, whole, bettered=change is not None)) else []
    return Searched(changes, notes)


def worth_searching(calls: "Sequence[StepCall]") -> bool:
    """Return whether any Triton kernel takes enough of the step for a search to matter."""
    return bool(_kernels_to_search(calls))


@dataclass(frozen=True)
class _Kernel:
    """A specialisation of a kernel: the number and the total time in microseconds of its launches."""

    identifier: str
    name: str
    us: float
    launches: int


def _kernels_to_search(calls: "Sequence[StepCall]") -> dict[str, _Kernel]:
    """Return the kernels that take enough of the step for a search, by identifier."""
    from kprof.captures.model import CapturedLaunch
    from kprof.tuning.recorded.advise import LEAST_SHARE

    found: dict[str, list[StepCall]] = defaultdict(list)
    for call in calls:
        if isinstance(call.made, CapturedLaunch) and call.timed.us is not None:
            found[call.made.kernel].append(call)
    kernels = [
        _Kernel(identifier, some[0].timed.name, sum(one.timed.us or 0.0 for one in some), len(some))
        for identifier, some in found.items()
    ]
    whole = sum(call.timed.us or 0.0 for call in calls)
    return {one.identifier: one for one in kernels if one.us >= LEAST_SHARE * whole}


def _change(kernel: "AdvisedKernel", one: _Kernel, whole: float) -> "ProfileChange | None":
    from kprof_analyzers.whole_step.document import ProfileChange

    trials = kernel.trials
    if trials is None or not trials.told_apart or trials.gain is None or kernel.answer is None:
        return None
    gain = trials.beside_start(trials.best[0])
    saved = one.us * (1 - 1 / trials.gain)
    answer = kernel.answer
    put = f"{answer.after}, {answer.note}" if answer.note else answer.after
    what = f"{one.name}: {put} at {answer.place}"
    sure = f"compiled, and by the model {gain.words()}" if gain is not None else "compiled"
    return ProfileChange(what, saved, saved / whole, one.launches, at_most=False, sure=sure)


def _note(kernel: "AdvisedKernel", one: _Kernel, whole: float, *, bettered: bool) -> str:
    share = f"{one.name} ({100 * one.us / whole:.0f} %)"
    how = f"; {kernel.how}" if kernel.how.startswith("compiler options only") else ""
    if kernel.error or kernel.trials is None:
        return f"{share} could not be searched: {kernel.error or kernel.how}"
    tried = f"{kernel.trials.tried} configurations compiled"
    left = f", {kernel.trials.left} left" if kernel.trials.left else ""
    if bettered:
        return f"{share}: {tried}{left}{how}" if how or left else ""
    return f"{share}: no configuration is predicted to be clearly faster, {tried}{left}{how}"
