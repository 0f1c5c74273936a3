"""Measure a short list on the GPU of this machine."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.bench.document import BenchTask, Device
from kprof.bench.pool import Runner
from kprof.errors import HardwareError, KprofError
from kprof.output.quantities import duration
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.short_list import short_list

if TYPE_CHECKING:
    from kprof.tuning.search_result import SearchResult
    from kprof.tuning.subject import TuningSubject

WARMUP_MS, REP_MS = 25.0, 100.0
_RIGHT = {"ok", "unchecked"}


def find_device() -> Device:
    """Return the GPU of this machine.

    Raises:
        HardwareError: if there is no GPU that torch can use.
    """
    with Runner() as runner:
        try:
            return runner.describe({}, measure=False)
        except HardwareError as error:
            hint = "without --verify the ranking is predicted, and needs no GPU"
            raise HardwareError(
                f"--verify: {error.message}", hint="\n  ".join(filter(None, (error.hint, hint)))
            ) from None


def measure(
    target: str,
    subject: "TuningSubject",
    found: "SearchResult",
    *,
    top: int,
    device: Device,
    report: Callable[[str], None] | None = None,
) -> str:
    """Measure the short list of each problem, and move the measured entries to the front, fastest first.

    After Ctrl-C the measurements so far are kept, and the search is marked as interrupted.

    Args:
        target: the kernel as the user named it.
        subject: kernel, architecture and problems.
        found: the search's result; its rankings are changed.
        top: number of entries to measure per problem.
        device: the GPU.
        report: called with each measurement.

    Returns:
        The device's name.
    """
    with Runner() as runner:
        for index, problem in enumerate(subject.problems):
            ranked = found.ranked[index]
            task = _task(target, problem.values, device)
            own = found.own[index]
            tell = None if report is None else _named(report, problem.name if len(subject.problems) > 1 else "")
            done: dict[int, Evaluation] = {}
            try:
                # The kernel's own configuration comes first, so the baseline is known even after an interruption.
                if own is not None:
                    found.own[index] = _measured(runner, task, own)
                chosen = short_list(ranked, top)
                for number, place in enumerate(chosen, 1):
                    done[place] = one = _measured(runner, task, ranked[place])
                    if tell is not None:
                        tell(f"{number} of {len(chosen)}: {_measurement(one)}")
            except KeyboardInterrupt:
                found.ended = "interrupted"
            rest = [one for place, one in enumerate(ranked) if place not in done]
            found.ranked[index] = [*sorted(done.values(), key=_order), *rest]
            if found.ended == "interrupted":
                break
    return device.name


def check(subject: "TuningSubject", device: Device) -> None:
    """Check before the search that the GPU can measure the configurations to be ranked.

    Raises:
        KprofError: if the GPU has another architecture, or the kernel does not define how to run it.
    """
    if device.arch != subject.arch.name:
        raise KprofError(
            f"--verify: this machine's GPU is {device.name} ({device.arch}), the ranking is for {subject.arch.name}",
            hint="measure on that GPU: the order of configurations differs between GPUs",
        )
    if subject.kernel.run is None or subject.kernel.inputs is None:
        raise KprofError(
            f"--verify: {subject.kernel.name} does not say how it is run", hint="add run and inputs to its KERNEL"
        )


def _task(target: str, shape: Mapping[str, Any], device: Device) -> BenchTask:
    path, separator, function = target.partition("::")
    place = os.path.abspath(path) + separator + function if path.endswith(".py") else target  # noqa: PTH100
    return BenchTask(
        target=place,
        case="tune",
        shape=dict(shape),
        provider="triton",
        seed=0,
        warmup_ms=WARMUP_MS,
        rep_ms=REP_MS,
        use_graph=None,
        check_only=False,
        profile=None,
        device=device,
    )


def _measured(runner: Runner, task: BenchTask, one: Evaluation) -> Evaluation:
    result = runner.measure(msgspec.structs.replace(task, config=dict(one.config)))
    ms = result.timing.median if result.timing is not None and result.status in _RIGHT else None
    note = "" if ms is not None else ": ".join(filter(None, (result.status, result.message)))
    return replace(one, measured_ms=ms, note=note)


def _named(report: Callable[[str], None], name: str) -> Callable[[str], None]:
    return lambda text: report(f"{name}: {text}" if name else text)


def _measurement(one: Evaluation) -> str:
    if one.measured_ms is None:
        return one.note
    predicted = "no time predicted" if one.time_us is None else f"{duration(one.time_us)} predicted"
    return f"{duration(1000 * one.measured_ms)} measured, {predicted}"


def _order(one: Evaluation) -> tuple[bool, float]:
    return one.measured_ms is None, one.measured_ms if one.measured_ms is not None else one.rank
