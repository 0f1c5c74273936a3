"""The normalised tables of one or several traces: what ran on the GPU, who asked for it, and from where.

Times are whole nanoseconds on the trace's own clock, sizes are bytes, indexes point into the lists of the same
:class:`LinkedTrace` and are -1 where nothing is known. ``None`` means that the trace does not say.
"""

from functools import partial
from typing import Any, Literal

import msgspec

from kprof.inputs.torch_profiler.columns import Records
from kprof.inputs.torch_profiler.issues import TraceIssue

Size = tuple[int, int, int]
GridUnit = Literal["workgroups", "work-items"]


class Activity(msgspec.Struct, gc=False):
    """One thing the GPU did: a kernel, a copy or a memset.

    Attributes:
        kind: ``kernel``, ``copy`` or ``memset``.
        rank: process of a distributed job.
        device: as the trace numbers it: on ROCm the HSA node, not the HIP ordinal.
        launch, operator: index of the API call and of the CPU operator that caused it, or -1.
        workgroups: grid in workgroups, ``None`` when not known or not sure.
        work_items: grid in work-items.
        grid_as_written, grid_unit: the trace's own figure and what it counts.
        graph: it ran as a node of a graph launch.
        bytes: size of a copy or memset.
        collective, group_size, elements, element_type: of a communication kernel, where the trace says.
    """

    name: str
    kind: Literal["kernel", "copy", "memset"]
    rank: int
    device: int | None
    stream: int | None
    start_ns: int
    duration_ns: int
    correlation: int | None = None
    external_id: int | None = None
    launch: int = -1
    operator: int = -1
    workgroups: Size | None = None
    workgroup_size: Size | None = None
    work_items: Size | None = None
    grid_as_written: Size | None = None
    grid_unit: GridUnit | None = None
    graph: bool = False
    bytes: int | None = None
    lds_bytes: int | None = None
    registers: int | None = None
    collective: str | None = None
    group: str | None = None
    group_size: int | None = None
    elements: int | None = None
    element_type: str | None = None


class RuntimeCall(msgspec.Struct, gc=False):
    """One call of the HIP or CUDA runtime.

    Attributes:
        operator: innermost CPU operator around it on its thread, or -1.
        frame: innermost kept Python frame around it, or -1.
        activities: how many GPU activities carry its correlation id; hundreds for a graph launch.
        grid, block: as the call was given them.
        lds_bytes: dynamic LDS of the launch.
    """

    name: str
    rank: int
    thread: int | None
    start_ns: int
    duration_ns: int
    correlation: int | None = None
    external_id: int | None = None
    operator: int = -1
    frame: int = -1
    activities: int = 0
    grid: Size | None = None
    block: Size | None = None
    lds_bytes: int | None = None


class Operator(msgspec.Struct, gc=False):
    """One CPU operator (``aten::mm``) or user annotation (``ProfilerStep#3``).

    Attributes:
        parent: innermost operator around it on its thread, or -1.
        frame: innermost kept Python frame around it, or -1.
        forward: for a backward operator the forward operator with its sequence number, or -1.
        input_dims, input_types: JSON text as written.
        concrete_inputs: scalars and lists of them as JSON text, of convolutions and attention, whose work they decide.
        kernel_file, kernel_hash, num_warps, num_stages: what Inductor says of a Triton kernel it launches.
    """

    name: str
    kind: Literal["operator", "annotation"]
    rank: int
    thread: int | None
    start_ns: int
    duration_ns: int
    external_id: int | None = None
    sequence: int | None = None
    forward_thread: int | None = None
    parent: int = -1
    frame: int = -1
    forward: int = -1
    input_dims: str | None = None
    input_types: str | None = None
    concrete_inputs: str | None = None
    kernel_file: str | None = None
    kernel_hash: str | None = None
    num_warps: int | None = None
    num_stages: int | None = None


class PythonFrame(msgspec.Struct, gc=False):
    """One Python function call; ``module`` when it is the forward of an ``nn.Module``."""

    name: str
    rank: int
    thread: int | None
    start_ns: int
    duration_ns: int
    parent: int = -1
    module: bool = False


class MemoryEvent(msgspec.Struct, gc=False):
    """One allocation (positive) or release (negative) in the caching allocator, in bytes."""

    rank: int
    time_ns: int
    bytes: int
    device_type: int | None = None
    device: int | None = None
    total_allocated: int | None = None
    total_reserved: int | None = None


class TraceInfo(msgspec.Struct):
    """Where a trace comes from.

    Attributes:
        path: the file.
        vendor: ``amd``, ``nvidia`` or ``None`` when the trace does not tell.
        devices: product names as written; may be empty strings.
        wavefront_sizes: lanes of a wavefront of each device, as far as written.
        versions: ``hip_runtime_version``, ``cuda_driver_version``, ``roctracer_version``, ... as written.
        ranks: ranks found in it.
        base_time_ns: what to add to times for the wall clock; 0 when they are wall-clock times already.
        events: events in the file.
        categories: category as written to number of events.
        bytes_read: size of the unpacked text.
    """

    path: str
    vendor: Literal["amd", "nvidia"] | None = None
    devices: list[str] = []
    wavefront_sizes: list[int] = []
    versions: dict[str, str] = {}
    ranks: list[int] = []
    world_size: int | None = None
    base_time_ns: int = 0
    events: int = 0
    categories: dict[str, int] = {}
    bytes_read: int = 0


class LinkedTrace(msgspec.Struct):
    """Everything read from one file, linked."""

    info: TraceInfo
    activities: Records[Activity] = msgspec.field(default_factory=partial(Records, Activity))
    launches: Records[RuntimeCall] = msgspec.field(default_factory=partial(Records, RuntimeCall))
    operators: Records[Operator] = msgspec.field(default_factory=partial(Records, Operator))
    frames: Records[PythonFrame] = msgspec.field(default_factory=partial(Records, PythonFrame))
    memory: Records[MemoryEvent] = msgspec.field(default_factory=partial(Records, MemoryEvent))
    issues: tuple[TraceIssue, ...] = ()

    def operator_chain(self, index: int) -> list[Operator]:
        """An operator and those around it, innermost first."""
        chain: list[Operator] = []
        while index >= 0:
            operator = self.operators[index]
            chain.append(operator)
            index = operator.parent
        return chain

    def frame_chain(self, index: int) -> list[PythonFrame]:
        """A Python frame and those around it, innermost first."""
        chain: list[PythonFrame] = []
        while index >= 0:
            frame = self.frames[index]
            chain.append(frame)
            index = frame.parent
        return chain

    def operator_name(self, index: int) -> str:
        """Of one operator, and nothing of -1."""
        return str(self.operators.words("name")[index]) if index >= 0 else ""

    def operator_names(self, index: int) -> list[str]:
        """Names of an operator and of those around it, innermost first."""
        names, parents = self.operators.words("name"), self.operators.numbers("parent").data
        chain: list[str] = []
        while index >= 0:
            chain.append(names[index])
            index = parents[index]
        return chain

    def modules(self, activity: Activity) -> list[str]:
        """Names of the modules an activity ran for, innermost first, a backward pass by its forward operator."""
        return self.modules_of(activity.launch, activity.operator)

    def modules_of(self, launch: int, operator: int) -> list[str]:
        """As :meth:`modules`, by what launched an activity."""
        if not len(self.frames):
            return []
        names = self._modules_at(self.launches.numbers("frame").data[launch] if launch >= 0 else -1)
        frames, forward = self.operators.numbers("frame").data, self.operators.numbers("forward").data
        parents = self.operators.numbers("parent").data
        index = operator
        while index >= 0 and not names:
            names = self._modules_at(frames[index])
            if not names and forward[index] >= 0:
                names = self._modules_at(frames[forward[index]])
            index = parents[index]
        return names

    def _modules_at(self, frame: int) -> list[str]:
        names, modules = self.frames.words("name"), self.frames.words("module")
        parents = self.frames.numbers("parent").data
        found: list[str] = []
        while frame >= 0:
            if modules[frame]:
                found.append(names[frame])
            frame = parents[frame]
        return found


def info_from(metadata: dict[str, Any], path: str) -> TraceInfo:
    """What the metadata around the events says."""
    devices = metadata.get("deviceProperties")
    properties = [d for d in devices if isinstance(d, dict)] if isinstance(devices, list) else []
    names = [str(d.get("name", "")) for d in properties]
    sizes = [d["warpSize"] for d in properties if isinstance(d.get("warpSize"), int)]
    versions = {
        key: str(value) for key, value in metadata.items() if key.endswith("_version") or key == "schemaVersion"
    }
    distributed = metadata.get("distributedInfo")
    world = distributed.get("world_size") if isinstance(distributed, dict) else None
    base = metadata.get("baseTimeNanoseconds")
    return TraceInfo(
        path=path,
        vendor=_vendor(metadata, names),
        devices=names,
        wavefront_sizes=sizes,
        versions=versions,
        world_size=world if isinstance(world, int) else None,
        base_time_ns=base if isinstance(base, int) else 0,
    )


def _vendor(metadata: dict[str, Any], devices: list[str]) -> Literal["amd", "nvidia"] | None:
    keys = " ".join(metadata)
    if "hip_" in keys or "roctracer" in keys or "rocprofiler" in keys or any("AMD" in d for d in devices):
        return "amd"
    if "cuda_" in keys or "cupti" in keys or any(d.startswith(("NVIDIA", "Tesla", "GeForce")) for d in devices):
        return "nvidia"
    return None
