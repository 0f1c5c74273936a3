"""Document of a benchmark run: schema ``kprof.bench/1``.

The description of each field contains its unit. An absent value is unknown, not zero.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from kprof.output.assignments import assigned

SCHEMA = "kprof.bench/1"

Status = Literal[
    "ok",
    "wrong",
    "out_of_memory",
    "unsupported",
    "not_installed",
    "crashed",
    "timeout",
    "error",
    "unchecked",
    "inaccurate",
]
"""Outcome of a measurement.

``unchecked``: timed without a reference to compare the result with. ``inaccurate``: another provider's result that
exceeds the kernel's tolerance although it is the same function, for example with scores in half precision; it is timed
and reported.
"""


class MachinePeaks(msgspec.Struct, frozen=True, omit_defaults=True):
    """Peak rates of the machine, as far as they are known.

    Attributes:
        memory_gbs: device memory bandwidth in 1e9 bytes per second.
        tflops: peak of dense matrix products in 1e12 operations per second, by element type (``fp16``).
        cache_bytes: size of the last-level cache.
        source: origin of the figures: ``kprof's hardware data``, ``measured``, ``given``.
    """

    memory_gbs: float | None = None
    tflops: dict[str, float] = {}
    cache_bytes: int | None = None
    source: dict[str, str] = {}


class Device(msgspec.Struct, frozen=True):
    """The GPU that ran the measurements.

    Attributes:
        name: name in the driver.
        backend: ``rocm`` or ``cuda``.
        arch: architecture such as ``gfx942`` or ``sm_90``.
        versions: versions of ``torch``, ``triton``, and ``hip`` or ``cuda``.
        memory_bytes: size of the device memory.
        limits: peak rates.
    """

    name: str
    backend: Literal["rocm", "cuda"]
    arch: str
    versions: dict[str, str]
    memory_bytes: int
    limits: MachinePeaks = MachinePeaks()

    @property
    def gpu(self) -> str:
        """Product name, whose number of CUs affects launches; the architecture if kprof does not know the product."""
        from kprof.hardware.machine import find_product, product_in

        product = find_product(product_in(self.name) or "")
        return self.arch if product is None or product.arch != self.arch else product.name


class Error(msgspec.Struct, frozen=True):
    """Difference of one output from the reference.

    Attributes:
        output: name of the output.
        shape: its dimensions.
        max_absolute: largest absolute difference.
        relative: norm of the difference divided by the norm of the reference.
        worst_ratio: largest difference in units of the tolerance; values up to 1 are correct. ``None``: not a number.
        index: index of the element with the largest ratio.
        got, expected: values of that element.
        rtol, atol: the tolerance: ``atol + rtol * |expected|``.
        mismatched: number of elements beyond the tolerance.
        elements: number of elements compared.
    """

    output: str
    shape: list[int]
    max_absolute: float | None
    relative: float | None
    worst_ratio: float | None
    index: list[int]
    got: float | None
    expected: float | None
    rtol: float
    atol: float
    mismatched: int
    elements: int


class Timing(msgspec.Struct, frozen=True):
    """Times of one call in milliseconds.

    Attributes:
        median, p10, p90, least: statistics over the samples.
        samples: number of samples; a sample is one call (``events``) or the average of a graph's calls (``graph``).
        method: ``graph`` (launched as one device graph) or ``events`` (each call between two device events).
        calls: number of calls in a sample.
        buffers: number of input and output sets that the calls rotate through.
        note: why the timing method differs from the requested one.
        span: begin and end of all samples in seconds of the machine's monotonic clock, if several GPUs ran at once.
    """

    median: float
    p10: float
    p90: float
    least: float
    samples: int
    method: Literal["graph", "events"]
    calls: int
    buffers: int
    note: str = ""
    span: tuple[float, float] | None = None


class Measurement(msgspec.Struct, frozen=True, omit_defaults=True):
    """Result of one provider on one problem.

    Attributes:
        kernel, case, shape: the problem; ``case`` is ``custom`` if its parameters were set by hand.
        provider: ``triton``, ``tuned``, ``torch``, ``sdpa``, ``naive``, ``aiter``, ``ck``, ``vllm``, or another kernel
            that solves it.
        config: knobs that a Triton kernel ran with.
        status: outcome of the measurement.
        message: what went wrong.
        values: contents of the floating-point input tensors, one of :data:`kprof.bench.values.VALUES`.
        errors: one entry for each output that was compared.
        timing: times; absent unless the result was correct or could not be checked.
        tflops, gbs: rates from the problem's minimum operations and bytes and the median time.
        percent: share of the binding limit of the machine, 0 to 100.
        bound: the binding limit: ``memory`` or ``compute``.
        trace: PyTorch profiler trace of the run.
        kept: folder with the instructions, MLIR and metadata of the Triton kernels that ran.
        gpu: index of the GPU if several ran at once, counted from 0 among those that torch sees.
    """

    kernel: str
    case: str
    shape: dict[str, Any]
    provider: str
    status: Status
    config: dict[str, Any] = {}
    message: str = ""
    values: str = "own"
    errors: list[Error] = []
    timing: Timing | None = None
    tflops: float | None = None
    gbs: float | None = None
    percent: float | None = None
    bound: str | None = None
    trace: str | None = None
    kept: str | None = None
    gpu: int | None = None

    @property
    def who(self) -> str:
        """The provider, and the GPU if several ran at once."""
        return self.provider if self.gpu is None else f"{self.provider} on GPU {self.gpu}"


class BenchReport(msgspec.Struct, frozen=True):
    """The whole document.

    Attributes:
        kprof: version of kprof that wrote it.
        device: the GPU that ran the measurements.
        measurements: results in the order in which they ran.
        published: results that others published for the same cases, on their hardware.
        notes: remarks on the run as a whole.
    """

    kprof: str
    device: Device
    measurements: list[Measurement]
    published: list[dict[str, Any]] = []
    notes: list[str] = []
    schema: Literal["kprof.bench/1"] = "kprof.bench/1"


class BenchTask(msgspec.Struct, frozen=True):
    """A measurement for a worker process.

    Attributes:
        target: bundled kernel or file, as for :func:`kprof.targets.library.load`.
        case, shape: the problem, with resolved dtypes.
        provider: provider to measure, see :class:`Measurement`.
        config: knobs on top of the kernel's defaults.
        seed: seed of the random inputs.
        values: contents of the floating-point input tensors, one of :data:`kprof.bench.values.VALUES`.
        warmup_ms, rep_ms: time to run before and during measuring, in milliseconds.
        use_graph: whether to launch through a device graph; ``None``: only short kernels.
        check_only: whether to compare results without timing.
        profile: file for a PyTorch profiler trace.
        keep: folder for the compiler's outputs of the Triton kernels that run.
        device: description of the device with its limits.
        together: whether the worker announces that its samples can begin and waits for a signal, so that several GPUs
            begin at the same time.
    """

    target: str
    case: str
    shape: dict[str, Any]
    provider: str
    config: dict[str, Any] = {}
    seed: int = 0
    values: str = "own"
    warmup_ms: float = 25.0
    rep_ms: float = 100.0
    use_graph: bool | None = None
    check_only: bool = False
    profile: str | None = None
    keep: str | None = None
    device: Device | None = None
    together: bool = False


def rates(
    timing: Timing, flops: int | None, traffic: int | None, limits: MachinePeaks, dtype: str | None
) -> dict[str, float | str | None]:
    """Return TFLOP/s, GB/s and the share of the machine's binding limit, for :class:`Measurement`.

    Args:
        timing: the measured times.
        flops: operations of one call; ``None`` when not known.
        traffic: minimum number of bytes that one call has to move; ``None`` when not known.
        limits: limits of the device; a rate without a known limit gets no percentage.
        dtype: element type whose matrix peak applies.
    """
    seconds = timing.median / 1e3
    tflops = flops / seconds / 1e12 if flops else None
    gbs = traffic / seconds / 1e9 if traffic else None
    shares: dict[str, float] = {}
    if gbs is not None and limits.memory_gbs:
        shares["memory"] = 100 * gbs / limits.memory_gbs
    if tflops is not None and dtype is not None and limits.tflops.get(dtype):
        shares["compute"] = 100 * tflops / limits.tflops[dtype]
    bound = max(shares, key=lambda name: shares[name], default=None)
    return {"tflops": tflops, "gbs": gbs, "percent": shares[bound] if bound else None, "bound": bound}


def flat(measurement: Measurement) -> Mapping[str, Any]:
    """Return a measurement as one flat row for a CSV file; fields without a value are ``None``."""
    timing, worst = measurement.timing, max(measurement.errors, key=lambda e: e.worst_ratio or 0, default=None)
    return {
        "kernel": measurement.kernel,
        "case": measurement.case,
        "shape": assigned(measurement.shape),
        "provider": measurement.provider,
        "gpu": measurement.gpu,
        "config": assigned(measurement.config),
        "status": measurement.status,
        "ms": timing.median if timing else None,
        "ms_p10": timing.p10 if timing else None,
        "ms_p90": timing.p90 if timing else None,
        "samples": timing.samples if timing else None,
        "method": timing.method if timing else None,
        "tflops": measurement.tflops,
        "gbs": measurement.gbs,
        "percent_of_limit": measurement.percent,
        "bound": measurement.bound,
        "max_abs_error": worst.max_absolute if worst else None,
        "error_in_tolerances": worst.worst_ratio if worst else None,
        "message": measurement.message,
    }
