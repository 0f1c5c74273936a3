"""One measurement on several GPUs at the same time, as on the two GCDs of an MI250X, which share their power."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, BrokenBarrierError

from msgspec.structs import replace

from kprof.bench.document import BenchTask, Measurement
from kprof.bench.pool import Runner

ALONE = "another GPU did not get as far as its samples, so that they were not taken at the same time"


def at_once(runners: Sequence[Runner], tasks: Sequence[BenchTask]) -> list[Measurement]:
    """Each runner's result of its task; samples begin when all GPUs have compiled, checked and warmed up.

    Args:
        runners: one a GPU.
        tasks: one a runner, with ``together``.

    Returns:
        In the order of the runners. Where a GPU has no samples, those of the others say that they ran without it.
    """
    line = Barrier(len(runners))

    def one(runner: Runner, task: BenchTask) -> Measurement:
        waited: list[bool] = []

        def begin() -> None:
            try:
                line.wait(runner.timeout)
                waited.append(True)
            except BrokenBarrierError:
                waited.append(False)

        found = replace(runner.measure(task, begin), gpu=runner.gpu)
        if not waited:
            line.abort()
        if waited == [False]:
            # A span is compared with the others' only.
            timing = None if found.timing is None else replace(found.timing, span=None)
            found = replace(found, timing=timing, message="; ".join(filter(None, (found.message, ALONE))))
        return found

    with ThreadPoolExecutor(len(runners)) as threads:
        return list(threads.map(one, runners, tasks))


def overlap(spans: Sequence[tuple[float, float]]) -> float:
    """Share of the time from the first sample to the last in which all GPUs were taking samples, 0 to 1.

    >>> overlap([(0.0, 10.0), (1.0, 9.0)])
    0.8
    """
    whole = max(end for _, end in spans) - min(begin for begin, _ in spans)
    common = min(end for _, end in spans) - max(begin for begin, _ in spans)
    return max(0.0, common / whole) if whole > 0 else 1.0


def sums(found: Sequence[Measurement]) -> list[str]:
    """What the GPUs do together, in words; nothing where one of them has no time, or was not timed with the others."""
    timings = [one.timing for one in found]
    spans = [timing.span for timing in timings if timing is not None and timing.span is not None]
    if len(spans) != len(found):
        return []
    rates = [
        f"{sum(values):,.4g} {unit}"
        for unit, values in (
            ("TFLOP/s", [one.tflops for one in found if one.tflops]),
            ("GB/s", [one.gbs for one in found if one.gbs]),
        )
        if len(values) == len(found)
    ]
    share = f"all of them at work in {100 * overlap(spans):.0f} % of the time from the first sample to the last"
    what = f"{found[0].case} {found[0].provider} on {len(found)} GPUs at once"
    return [f"{what}: {', '.join([*(f'{rate} together' for rate in rates), share])}"]
