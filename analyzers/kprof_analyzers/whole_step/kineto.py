"""Write a predicted step as a trace in Kineto's format, which kprof's own trace commands read."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kprof.captures.model import CapturedOperator
from kprof.hardware.machine import Product
from kprof_analyzers.whole_step.operator_work import arguments_of
from kprof_analyzers.whole_step.timing import StepCall, TimedCall

_HOST_NS = 1000
"""Host time of a call in the trace in ns. Host time is not predicted; it only keeps the order."""

_REPEATED = (
    "calls that the second run has in addition to the first are repeated in place, each with its repetition number; "
    "calls that both runs have equally often are stretched: their time is extrapolated to the model"
)

_WORDS = {
    "product": "gemm", "thin product": "gemm", "batched product": "gemm", "small products": "gemm", "gather": "index",
    "attention": "flash_attention", "reduction": "reduce",
}  # fmt: skip
"""Kernel name to write for each kind of operator, chosen so that trace readers categorise it like a real kernel."""


def kineto(calls: Iterable[StepCall], product: Product, layers: Sequence[int] = ()) -> str:
    """Return the trace as JSON text, in which calls run one after the other on their streams.

    Host times are placeholders. Calls without a predicted time have no kernel in the trace.

    Args:
        calls: calls of the step.
        product: the GPU.
        layers: numbers of layers of the first run, the second run and the model, if calls were repeated for more
            layers.
    """
    events = [event for events in _events(calls) for event in events]
    # Trace readers identify the GPU by the device's name.
    said: dict[str, Any] = {"predicted": True, "gpu": product.name, "host": "not predicted", "streams": "no overlap"}
    if layers:
        said["layers"] = dict(zip(("first_run", "second_run", "model"), layers, strict=True)) | {"repeated": _REPEATED}
    document = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": product.name, "numSms": product.compute_units}],
        "kprof": said,
        "displayTimeUnit": "ms",
        "traceEvents": events,
    }
    return json.dumps(document, separators=(",", ":")) + "\n"


def _events(calls: Iterable[StepCall]) -> Iterator[list[dict[str, Any]]]:
    # Use integers in ns, because rounding errors of floating-point times could make kernels overlap.
    host, device = 0, 0
    for number, call in enumerate(calls, 1):
        timed = call.timed
        events = [_operator(call, number, host)]
        if timed.us is not None:
            launch = {"correlation": number, "External id": number}
            place = {"cat": "cuda_runtime", "name": "hipLaunchKernel", **_span(host + 200, 500)}
            events.append({**_HOST, **place, "args": launch})
            start, taken = max(device, host + _HOST_NS), max(1, round(1000 * timed.us))
            common = {"device": 0, "stream": call.stream, "predicted": True, "bound": timed.bound}
            common |= {"repetition": call.copy} if call.copy else {}
            common |= {"stretched": True} if call.stretched else {}
            ends = {"low_us": timed.low_us, "high_us": timed.high_us}
            where = {"ph": "X", "pid": 0, "tid": call.stream, "cat": "kernel", "name": _kernel_name(timed)}
            events.append({**where, **_span(start, taken), "args": {**launch, **common, **ends}})
            events += _arrow(number, host + 200, start, call.stream)
            device = start + taken
        host += _HOST_NS
        yield events


_HOST = {"ph": "X", "pid": 1, "tid": 1}


def _arrow(number: int, launched_ns: int, start_ns: int, stream: int) -> list[dict[str, Any]]:
    """Return the flow events from a launch to its kernel; TraceLens ignores kernels without them."""
    flow = {"id": number, "cat": "ac2g", "name": "ac2g"}
    return [
        {"ph": "s", "pid": 1, "tid": 1, "ts": launched_ns / 1000, **flow},
        {"ph": "f", "pid": 0, "tid": stream, "ts": start_ns / 1000, "bp": "e", **flow},
    ]


def _span(start_ns: int, taken_ns: int) -> dict[str, float]:
    return {"ts": start_ns / 1000, "dur": taken_ns / 1000}


def _kernel_name(timed: TimedCall) -> str:
    if timed.kind == "triton":
        return timed.name
    return f"{_WORDS.get(timed.kind, timed.kind)} of {timed.name} (predicted)"


def _operator(call: StepCall, number: int, host_ns: int) -> dict[str, Any]:
    """Return the trace event of the operator that launches a kernel, with shapes in the format of torch's profiler."""
    args: dict[str, Any] = {"External id": number}
    if isinstance(call.made, CapturedOperator):
        given = arguments_of(call.made.inputs)
        args["Input Dims"] = [list(one.dims) for one in given]
        args["Input type"] = [_spelled(one.type) for one in given]
        args["Concrete Inputs"] = [one.value for one in given]
    if call.scope is not None:
        args |= {"phase": call.scope.phase, "module": call.scope.module, "range": call.scope.range}
    return {**_HOST, "cat": "cpu_op", "name": call.timed.name, **_span(host_ns, _HOST_NS), "args": args}


_SPELLED = {"c10::half": "c10::Half", "c10::bfloat16": "c10::BFloat16", "scalar": "Scalar", "scalarlist": "ScalarList"}


def _spelled(name: str) -> str:
    return _SPELLED.get(name, name)
