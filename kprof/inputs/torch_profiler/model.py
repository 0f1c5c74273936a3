"""The normalised tables of a trace: GPU activities, the calls that launched them, and the operators around those.

Times are integer nanoseconds on the trace's own clock, and sizes are bytes. Indexes refer to the lists of the same
:class:`LinkedTrace` and are -1 if unknown. ``None`` means that the trace does not contain the value.
"""

from functools import partial
from typing import Any, Literal

import msgspec

from kprof.inputs.torch_profiler.columns import Records
from kprof.inputs.torch_profiler.issues import TraceIssue

Size = tuple[int, int, int]
GridUnit = Literal["workgroups", "work-items"]


class Activity(msgspec.Struct, gc=False):
    """One GPU activity: a kernel, a copy or a memset.

    Attributes:
        kind: ``kernel``, ``copy`` or ``memset``.
        rank: process of a distributed job.
        device: device number in the trace: on ROCm the HSA node, not the HIP ordinal.
        launch, operator: index of the API call and of the CPU operator that caused it, or -1.
        workgroups: grid in workgroups; ``None`` if unknown or uncertain.
        work_items: grid in work-items.
        grid_as_written, grid_unit: grid as written in the trace, and its unit.
        graph: whether it ran as a node of a graph launch.
        bytes: size of a copy or memset.
        collective, group_size, elements, element_type: collective, number of ranks, number of elements and their type
            for a communication kernel, if the trace contains them.
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
        operator: index of the innermost enclosing CPU operator on its thread, or -1.
        frame: index of the innermost enclosing Python frame that was kept, or -1.
        activities: number of GPU activities with its correlation id; hundreds for a graph launch.
        grid, block: grid and block passed to the call.
        lds_bytes: dynamic LDS of the launch in bytes.
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
        parent: index of the innermost enclosing operator on its thread, or -1.
        frame: index of the innermost enclosing Python frame that was kept, or -1.
        forward: for a backward operator, index of the forward operator with its sequence number, or -1.
        input_dims, input_types: JSON text as written.
        concrete_inputs: scalars and lists of scalars as JSON text; only for convolutions and attention, whose work
            depends on them.
        kernel_file, kernel_hash, num_warps, num_stages: Inductor's description of a Triton kernel that it launches.
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
    """One Python function call; ``module`` is true if the function is the forward of an ``nn.Module``."""

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
    """Information about a complete trace: file, devices, versions, ranks and numbers of events.

    Attributes:
        path: path of the file.
        vendor: ``amd``, ``nvidia``, or ``None`` if unknown.
        devices: product names as written; may be empty strings.
        wavefront_sizes: lanes per wavefront of each device for which the trace contains them.
        versions: ``hip_runtime_version``, ``cuda_driver_version``, ``roctracer_version``, ... as written.
        ranks: ranks found in the trace.
        base_time_ns: offset that converts times to wall-clock time; 0 if they are wall-clock times already.
        events: number of events in the file.
        categories: number of events by category as written.
        bytes_read: size of the unpacked text in bytes.
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
    """All tables read from one file, linked by indexes."""

    info: TraceInfo
    activities: Records[Activity] = msgspec.field(default_factory=partial(Records, Activity))
    launches: Records[RuntimeCall] = msgspec.field(default_factory=partial(Records, RuntimeCall))
    operators: Records[Operator] = msgspec.field(default_factory=partial(Records, Operator))
    frames: Records[PythonFrame] = msgspec.field(default_factory=partial(Records, PythonFrame))
    memory: Records[MemoryEvent] = msgspec.field(default_factory=partial(Records, MemoryEvent))
    issues: tuple[TraceIssue, ...] = ()

    def operator_chain(self, index: int) -> list[Operator]:
        """Return an operator and its enclosing operators, innermost first."""
        chain: list[Operator] = []
        while index >= 0:
            operator = self.operators[index]
            chain.append(operator)
            index = operator.parent
        return chain

    def frame_chain(self, index: int) -> list[PythonFrame]:
        """Return a Python frame and its enclosing frames, innermost first."""
        chain: list[PythonFrame] = []
        while index >= 0:
            frame = self.frames[index]
            chain.append(frame)
            index = frame.parent
        return chain

    def operator_name(self, index: int) -> str:
        """Return the name of an operator, or "" for index -1."""
        return str(self.operators.words("name")[index]) if index >= 0 else ""

    def operator_names(self, index: int) -> list[str]:
        """Return the names of an operator and its enclosing operators, innermost first."""
        names, parents = self.operators.words("name"), self.operators.numbers("parent").data
        chain: list[str] = []
        while index >= 0:
            chain.append(names[index])
            index = parents[index]
        return chain

    def modules(self, activity: Activity) -> list[str]:
        """Return the names of an activity's modules, innermost first; a backward operator has its forward's modules."""
        return self.modules_of(activity.launch, activity.operator)

    def modules_of(self, launch: int, operator: int) -> list[str]:
        """Return the module names as in :meth:`modules`, for the launch and operator of an activity."""
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
    """Return the trace's information from the metadata before and after the list of events."""
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
