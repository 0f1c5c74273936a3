"""Types for the parts of rocprofv3's JSON that kprof uses; the decoder skips all other parts."""

import msgspec


class Handle(msgspec.Struct):
    """An identifier that is written as an object: ``{"handle": 37946}``."""

    handle: int = 0


class Correlation(msgspec.Struct):
    """Correlation id that connects an API call with the operation that it started."""

    internal: int = 0


class Axes(msgspec.Struct):
    """Three sizes in work-items."""

    x: int = 1
    y: int = 1
    z: int = 1


class Agent(msgspec.Struct):
    """A CPU or GPU, with sizes as reported by HSA."""

    id: Handle = msgspec.field(default_factory=Handle)
    type: int = 0
    name: str = ""
    product_name: str = ""
    node_id: int | None = None
    logical_node_id: int | None = None
    cu_count: int | None = None
    simd_count: int | None = None
    num_xcc: int | None = None
    wave_front_size: int | None = None
    max_engine_clk_fcompute: int | None = None
    lds_size_in_kb: int = 0


class KernelSymbol(msgspec.Struct):
    """A kernel symbol; most symbols are never launched."""

    kernel_id: int = 0
    kernel_name: str = ""
    formatted_kernel_name: str = ""
    sgpr_count: int | None = None
    arch_vgpr_count: int | None = None
    accum_vgpr_count: int | None = None

    @property
    def name(self) -> str:
        """The demangled name, or the symbol if there is none."""
        return self.formatted_kernel_name or self.kernel_name


class DispatchInfo(msgspec.Struct):
    """Kernel, agent, queue and sizes of a launch."""

    agent_id: Handle = msgspec.field(default_factory=Handle)
    queue_id: Handle = msgspec.field(default_factory=Handle)
    kernel_id: int = 0
    dispatch_id: int = 0
    private_segment_size: int = 0
    group_segment_size: int = 0
    workgroup_size: Axes = msgspec.field(default_factory=Axes)
    grid_size: Axes = msgspec.field(default_factory=Axes)


class CounterValue(msgspec.Struct):
    """Value of one instance of a counter."""

    counter_id: Handle = msgspec.field(default_factory=Handle)
    value: float = 0.0


class Record(msgspec.Struct):
    """A record of any kind (dispatch, call, copy). Fields that its kind does not have keep their defaults."""

    kind: int = -1
    operation: int = -1
    thread_id: int = 0
    correlation_id: Correlation = msgspec.field(default_factory=Correlation)
    start_timestamp: int = 0
    end_timestamp: int = 0
    dispatch_info: DispatchInfo | None = None
    dispatch_data: "Record | None" = None
    stream_id: Handle = msgspec.field(default_factory=Handle)
    src_agent_id: Handle = msgspec.field(default_factory=Handle)
    dst_agent_id: Handle = msgspec.field(default_factory=Handle)
    agent_id: Handle = msgspec.field(default_factory=Handle)
    bytes: int | None = None
    allocation_size: int | None = None
    records: list[CounterValue] = []

    @property
    def info(self) -> DispatchInfo:
        """The dispatch, which may be nested in ``dispatch_data``."""
        if self.dispatch_info is not None:
            return self.dispatch_info
        return self.dispatch_data.info if self.dispatch_data is not None else DispatchInfo()


class ProgramCounter(msgspec.Struct):
    """Code object and offset at which a sample was taken."""

    code_object_id: int | None = None
    code_object_offset: int | None = None


class Snapshot(msgspec.Struct):
    """State of the arbiter in stochastic sampling."""

    stall_reason: str | None = None


class SampleRecord(msgspec.Struct):
    """A PC sample.

    Only stochastic sampling writes the last four fields. Some versions of rocprofv3 do not write ``exec_mask``.
    """

    pc: ProgramCounter = msgspec.field(default_factory=ProgramCounter)
    exec_mask: int | None = None
    timestamp: int | None = None
    dispatch_id: int | None = None
    corr_id: Correlation | None = None
    correlation_id: Correlation | None = None
    wave_issued: bool | int | None = None
    inst_type: str | None = None
    wave_count: int | None = None
    snapshot: Snapshot = msgspec.field(default_factory=Snapshot)

    @property
    def correlation(self) -> int | None:
        """The correlation id, which has one of two names, or ``None``."""
        found = self.corr_id or self.correlation_id
        return found.internal if found else None


class Sample(msgspec.Struct):
    """A sample and the index of its instruction in ``strings``; -1 if the code object could not be decoded."""

    record: SampleRecord = msgspec.field(default_factory=SampleRecord)
    inst_index: int = -1


class BufferRecords(msgspec.Struct):
    """Lists of trace records, one list per kind."""

    kernel_dispatch: list[Record] = []
    hip_api: list[Record] = []
    hsa_api: list[Record] = []
    marker_api: list[Record] = []
    rccl_api: list[Record] = []
    rocdecode_api: list[Record] = []
    rocjpeg_api: list[Record] = []
    memory_copy: list[Record] = []
    memory_allocation: list[Record] = []
    scratch_memory: list[Record] = []
    counter_collection: list[Record] = []
    pc_sample_host_trap: list[Sample] = []
    pc_sample_stochastic: list[Sample] = []


class CallbackRecords(msgspec.Struct):
    """Counter records, which rocprofv3 writes under ``callback_records``."""

    counter_collection: list[Record] = []


class Operations(msgspec.Struct):
    """Names of the operations of one kind of record."""

    kind: str = ""
    operations: list[str] = []


class MarkerText(msgspec.Struct):
    """Text that a program passed to a range or mark, by the correlation id of the call."""

    key: int = 0
    value: str = ""


class Strings(msgspec.Struct):
    """Names to which records refer by index."""

    buffer_records: list[Operations] = []
    pc_sample_instructions: list[str] = []
    pc_sample_comments: list[str] = []
    marker_api: list[MarkerText] = []


class Counter(msgspec.Struct):
    """Id and name of a counter."""

    id: Handle = msgspec.field(default_factory=Handle)
    name: str = ""


class Metadata(msgspec.Struct):
    """Metadata of the process."""

    pid: int = 0


class ProfiledProcess(msgspec.Struct):
    """One profiled process."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    agents: list[Agent] = []
    counters: list[Counter] = []
    strings: Strings = msgspec.field(default_factory=Strings)
    kernel_symbols: list[KernelSymbol] = []
    callback_records: CallbackRecords = msgspec.field(default_factory=CallbackRecords)
    buffer_records: BufferRecords = msgspec.field(default_factory=BufferRecords)


class Document(msgspec.Struct):
    """Root object of the file."""

    processes: list[ProfiledProcess] = msgspec.field(name="rocprofiler-sdk-tool", default_factory=list)
