"""Time a function on the device: warm-up, rotating buffers, device graphs for short calls, medians."""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from kprof.bench.document import Timing

SHORT_MS = 0.2
"""Calls shorter than this go into a device graph, because their launch can cost more on the host than the kernel."""

_Begin = Callable[[], None] | None

_MOST_BUFFERS = 1024
_LEAST_SAMPLES = 20
_MOST_SAMPLES = 1000


def buffers_needed(set_bytes: int, cache_bytes: int, free_bytes: int) -> int:
    """Return the number of buffer sets to rotate through, so that a set has left the last-level cache before its reuse.

    Args:
        set_bytes: bytes of the inputs and outputs of one call.
        cache_bytes: size of the last-level cache.
        free_bytes: free device memory, of which at most a quarter is used.

    Returns:
        1 to 1024 sets; together they are at least twice as large as the cache if memory allows.
    """
    if set_bytes <= 0:
        return 1
    wanted = -(-2 * cache_bytes // set_bytes) + 1
    return max(1, min(wanted, _MOST_BUFFERS, free_bytes // 4 // set_bytes))


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value below which ``share`` (0 to 1) of the ordered samples lie, interpolated linearly.

    >>> percentile([1.0, 2.0, 3.0], 0.5)
    2.0
    """
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def tensor_bytes(values: Any) -> int:
    """Return the total bytes of all tensors in a mapping or sequence."""
    if isinstance(values, Mapping):
        return sum(tensor_bytes(v) for v in values.values())
    if isinstance(values, list | tuple):
        return sum(tensor_bytes(v) for v in values)
    return int(values.numel() * values.element_size()) if hasattr(values, "element_size") else 0


def copies(inputs: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the inputs and ``count - 1`` copies of them at other addresses."""
    return [dict(inputs), *({k: _clone(v) for k, v in inputs.items()} for _ in range(count - 1))]


def time_calls(
    call: Callable[[Mapping[str, Any]], Any],
    sets: Sequence[Mapping[str, Any]],
    *,
    warmup_ms: float,
    rep_ms: float,
    use_graph: bool | None = None,
    begin: _Begin = None,
) -> Timing:
    """Measure the median and spread of ``call`` on the current device.

    Args:
        call: function to time; its results are kept until its buffer set is used again, so that outputs rotate too.
        sets: inputs to use in turn.
        warmup_ms: milliseconds to run before measuring.
        rep_ms: milliseconds to measure.
        use_graph: launch through a device graph; ``None`` for calls below :data:`SHORT_MS`.
        begin: called once before the samples, which then have a :attr:`Timing.span`.
    """
    kept: list[Any] = [None] * len(sets)

    def run_once(number: int) -> None:
        kept[number % len(sets)] = call(sets[number % len(sets)])

    run_once(0)
    estimate = max(_between_events(run_once, max(5, len(sets))), 1e-4)
    for number in range(min(2000, int(warmup_ms / estimate))):
        run_once(number)
    note = ""
    if use_graph or (use_graph is None and estimate < SHORT_MS):
        try:
            return _with_graph(run_once, len(sets), estimate, rep_ms, begin=begin)
        except RuntimeError as error:
            note = f"not captured as a graph: {str(error).strip().splitlines()[0]}"
    return _with_events(run_once, len(sets), estimate, rep_ms, note, begin=begin)


def _clone(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _clone(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clone(one) for one in value]
    return value.clone() if hasattr(value, "clone") else value


def _events() -> tuple[Any, Any]:
    import torch

    event: Any = torch.cuda.Event
    return event(enable_timing=True), event(enable_timing=True)


def _between_events(run_once: Callable[[int], None], calls: int) -> float:
    import torch

    begin, end = _events()
    torch.cuda.synchronize()
    begin.record()
    for number in range(calls):
        run_once(number)
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) / calls


def _with_events(
    run_once: Callable[[int], None], sets: int, estimate: float, rep_ms: float, note: str, *, begin: _Begin
) -> Timing:
    import torch

    count = max(_LEAST_SAMPLES, min(_MOST_SAMPLES, int(rep_ms / estimate)))
    pairs = [_events() for _ in range(count)]
    torch.cuda.synchronize()
    since = _since(begin)
    for number, (before, after) in enumerate(pairs):
        before.record()
        run_once(number)
        after.record()
    torch.cuda.synchronize()
    return _timing([float(b.elapsed_time(e)) for b, e in pairs], "events", 1, sets, note, since=since)


def _with_graph(run_once: Callable[[int], None], sets: int, estimate: float, rep_ms: float, *, begin: _Begin) -> Timing:
    """Time replays of a graph with about 2 ms of calls, at least one call for each buffer set."""
    import torch

    calls = sets * max(1, -(-int(min(200, 2.0 / estimate)) // sets))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for number in range(calls):
            run_once(number)
    before, after = _events()
    samples: list[float] = []
    graph.replay()
    torch.cuda.synchronize()
    since = _since(begin)
    while len(samples) < _LEAST_SAMPLES or (sum(samples) * calls < rep_ms and len(samples) < _MOST_SAMPLES):
        before.record()
        graph.replay()
        after.record()
        torch.cuda.synchronize()
        samples.append(float(before.elapsed_time(after)) / calls)
    return _timing(samples, "graph", calls, sets, "", since=since)


def _since(begin: _Begin) -> float | None:
    """Call ``begin``, if it was passed, and return the start time of the samples; otherwise return ``None``."""
    if begin is None:
        return None
    begin()
    return monotonic()


def _timing(samples: list[float], method: Any, calls: int, sets: int, note: str, *, since: float | None) -> Timing:
    ordered = sorted(samples)
    return Timing(
        median=percentile(ordered, 0.5),
        p10=percentile(ordered, 0.1),
        p90=percentile(ordered, 0.9),
        least=ordered[0],
        samples=len(ordered),
        method=method,
        calls=calls,
        buffers=sets,
        note=note,
        span=None if since is None else (since, monotonic()),
    )
