"""Read measurements, and determine on which GPU they were made."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.errors import InputError
from kprof.hardware import machine
from kprof_analyzers.profiles.counters.machine import MeasuredGpu, gpu_of

if TYPE_CHECKING:
    from kprof.inputs.rocprof import Data
    from kprof.inputs.thread_trace import DecodedThreadTrace
    from kprof.inputs.torch_profiler import LinkedTrace


@dataclass(frozen=True)
class GpuMeasurements:
    """Measurements of one GPU.

    Attributes:
        data: data of ROCm's profilers; ``None`` if there are only traces.
        traces: traces of PyTorch's profiler.
        gpu: the measured GPU; ``None`` if there are only traces, and they do not name it.
        notes: caveats about the files.
        thread: a decoded thread trace; ``None`` without one.
    """

    data: "Data | None"
    traces: "tuple[LinkedTrace, ...]"
    gpu: MeasuredGpu | None
    notes: tuple[str, ...] = ()
    thread: "DecodedThreadTrace | None" = None

    @property
    def name(self) -> str | None:
        """Name of the product, or of the architecture if the product is unknown; ``None`` if neither is known."""
        if self.gpu is None:
            return None
        return self.gpu.product.name if self.gpu.product is not None else self.gpu.arch.name


def read(
    counters: Sequence[str | Path],
    traces: Sequence[str | Path],
    asked: str | None = None,
    thread_trace: str | Path | None = None,
) -> GpuMeasurements:
    """Read all measurements from files.

    Args:
        counters: files and folders of any ROCm profiler.
        traces: Kineto traces, folders of them, or tables that ``kprof ingest trace`` wrote.
        asked: architecture or product that the kernel is to be compiled for; ``None`` selects the measured one.
        thread_trace: a decoded thread trace, or its folder.

    Raises:
        KprofError: if a file cannot be read, the GPU of counters is unknown, or the files are from several GPUs or from
            another GPU than ``asked``.
    """
    from kprof.inputs import rocprof
    from kprof_analyzers.profiles.timeline.files import open_trace, trace_files

    opened = tuple(open_trace(file) for file in trace_files([Path(path) for path in traces])) if traces else ()
    gpu = _traced(opened)
    data = rocprof.read([str(path) for path in counters]) if counters else None
    notes = [_problem_text(i.severity, i.message, i.path) for i in data.issues if i.severity != "note"] if data else []
    notes += [_problem_text("warning", issue.message, trace.info.path) for trace in opened for issue in trace.issues]
    if data is not None:
        gpu = _counted(data, gpu, asked)
    if gpu is not None and asked is not None:
        _check(gpu, asked)
    thread = None if thread_trace is None else _thread(thread_trace)
    notes += [f"thread trace: {words}" for words in (thread.issues if thread is not None else ())]
    return GpuMeasurements(data, opened, gpu, tuple(notes), thread)


def _thread(path: str | Path) -> "DecodedThreadTrace":
    from kprof.inputs import thread_trace

    return thread_trace.read(path)


def _problem_text(severity: str, message: str, path: str) -> str:
    return f"{severity}: {message} ({path.replace(chr(92), '/').rsplit('/', 1)[-1]})"


def _traced(traces: "Sequence[LinkedTrace]") -> MeasuredGpu | None:
    found: dict[str, str] = {}
    for trace in traces:
        if trace.info.vendor == "nvidia":
            raise InputError("this trace is of an NVIDIA GPU", path=trace.info.path)
        for device in trace.info.devices:
            product = machine.product_in(device)
            if product is not None:
                found.setdefault(product, trace.info.path)
    if len(found) > 1:
        raise InputError(f"the traces are of several GPUs: {', '.join(found)}", hint="Pass the files of one GPU.")
    return _named(next(iter(found))) if found else None


def _named(product: str) -> MeasuredGpu:
    found = machine.find_product(product)
    assert found is not None
    return MeasuredGpu(machine.load(found.arch), found, found.compute_units, found.xcds, {}, "from the trace")


def _counted(data: "Data", traced: MeasuredGpu | None, asked: str | None) -> MeasuredGpu:
    """Return the GPU that the counters were measured on.

    If the files describe a GPU, it is returned even if it differs from ``asked``, so that the caller can report the
    difference.
    """
    agents = data.agents
    says = len(agents) and (agents["type"].astype(str) == "GPU").any()
    if not says:
        name = asked or (traced.product.name if traced is not None and traced.product is not None else None)
        return gpu_of(data, name)
    gpu = gpu_of(data)
    if traced is not None and _differ(gpu, traced):
        raise InputError(f"the counters are of {_name(gpu)}, the trace of {_name(traced)}")
    if gpu.product is None:
        # If the files only describe the architecture, the peaks are unknown. Use a named product of this architecture,
        # if there is one, because products have peaks.
        for name in (asked, traced.product.name if traced is not None and traced.product is not None else None):
            product = machine.find_product(name) if name else None
            if product is not None and product.arch == gpu.arch.name:
                return gpu_of(data, name)
    return gpu


def _differ(one: MeasuredGpu, other: MeasuredGpu) -> bool:
    if one.arch.name != other.arch.name:
        return True
    return one.product is not None and other.product is not None and one.product.name != other.product.name


def _check(gpu: MeasuredGpu, asked: str) -> None:
    product = machine.find_product(asked)
    arch = machine.load(product.arch if product is not None else asked)
    if _differ(gpu, MeasuredGpu(arch, product, None, None, {}, "")):
        raise InputError(
            f"this was measured on {_name(gpu)}, but --arch names {asked}",
            hint="Leave --arch out to compile for the GPU that was measured.",
        )


def _name(gpu: MeasuredGpu) -> str:
    return f"{gpu.product.name} ({gpu.arch.name})" if gpu.product is not None else gpu.arch.name
