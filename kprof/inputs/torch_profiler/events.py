"""Types for the events of a trace. Fields that they do not declare are not decoded."""

import msgspec

# These values occur as numbers and as text ("stream 7", "0x0", "3004819264"), even in the same file.
Loose = int | float | str | None


class SlimArgs(msgspec.Struct, gc=False):
    """The event arguments that are needed for sums by device."""

    device: Loose = None
    rank: Loose = None


class SlimEvent(msgspec.Struct, gc=False):
    """The fields of an event that are needed for sums by name. Times are microseconds as written; integers are exact.

    Attributes:
        ph: phase: ``X`` complete, ``M`` metadata, ``s``/``f`` flow ends, ``i`` instant, ``B``/``E`` begin and end.
        tid: thread or stream; needed only to pair begin and end.
        cat: category; empty for metadata.
        dur: duration; ``None`` if there is none.
    """

    ph: str = ""
    cat: str = ""
    name: str = ""
    ts: int | float | None = None
    dur: int | float | None = None
    pid: Loose = None
    tid: Loose = None
    args: SlimArgs | None = None


class FullArgs(
    msgspec.Struct,
    gc=False,
    rename={
        "external_id": "External id",
        "external_id_old": "external id",
        "sequence": "Sequence number",
        "forward_thread": "Fwd thread id",
        "input_dims": "Input Dims",
        "input_dims_old": "Input dims",
        "input_types": "Input type",
        "concrete_inputs": "Concrete Inputs",
        "shared_memory": "shared memory",
        "registers": "registers per thread",
        "collective": "Collective name",
        "group_size": "Group size",
        "group_name": "Process Group Name",
        "in_elements": "In msg nelems",
        "element_type": "dtype",
        "alloc_bytes": "Bytes",
        "total_allocated": "Total Allocated",
        "total_reserved": "Total Reserved",
        "device_id": "Device Id",
        "device_type": "Device Type",
    },
):
    """All arguments that are stored in a table. Nested values stay JSON text."""

    device: Loose = None
    stream: Loose = None
    rank: Loose = None
    correlation: Loose = None
    external_id: Loose = None
    external_id_old: Loose = None
    kind: Loose = None
    grid: msgspec.Raw = msgspec.Raw()
    block: msgspec.Raw = msgspec.Raw()
    bytes: Loose = None
    size: Loose = None
    shared_memory: Loose = None
    registers: Loose = None
    kernel: Loose = None
    sequence: Loose = None
    forward_thread: Loose = None
    input_dims: msgspec.Raw = msgspec.Raw()
    input_dims_old: msgspec.Raw = msgspec.Raw()
    input_types: msgspec.Raw = msgspec.Raw()
    concrete_inputs: msgspec.Raw = msgspec.Raw()
    collective: Loose = None
    group_size: Loose = None
    group_name: Loose = None
    in_elements: Loose = None
    element_type: Loose = None
    alloc_bytes: Loose = None
    total_allocated: Loose = None
    total_reserved: Loose = None
    device_id: Loose = None
    device_type: Loose = None
    kernel_file: Loose = None
    kernel_hash: Loose = None
    num_warps: Loose = None
    num_stages: Loose = None
    name: Loose = None


class FullEvent(msgspec.Struct, gc=False):
    """An event like :class:`SlimEvent`, with all arguments that are stored in a table."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    ts: int | float | None = None
    dur: int | float | None = None
    pid: Loose = None
    tid: Loose = None
    args: FullArgs | None = None


AnyEvent = SlimEvent | FullEvent
