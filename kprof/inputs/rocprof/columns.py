"""Map the column headings of all profiler versions to common column names.

A key is a heading in lower case without ``_``, ``-`` and blanks, so that ``Dispatch_ID``, ``Dispatch_Id`` and
rocpd2csv's headings in capitals have the same key. A heading that is in no table of this module is unknown. In a wide
file (one row per dispatch), an unknown heading is a counter. In any other file, its column is skipped with a note.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

Kind = Literal["int", "uint", "float", "text", "name", "agent", "time", "skip"]
"""Type of a column: ``time`` is an int that may have been rounded, ``agent`` is ``4`` or ``"Agent 4"``."""

Column = tuple[str, Kind]

_SQUEEZE = re.compile(r"[\s_\-]+")
_REPEATED = re.compile(r"_\d{1,2}$")
# An instance number has at most four digits, because no GPU has 10,000 channels.
_INSTANCE = re.compile(r"^(.*)\[([0-9]{1,4})\]$")


@lru_cache(maxsize=1 << 12)
def key(heading: str) -> str:
    """Return a heading's key. Results are cached, because every format looks up the same headings."""
    return _SQUEEZE.sub("", heading).lower()


DISPATCH: Mapping[str, Column] = {
    "index": ("dispatch_id", "int"),
    "dispatchid": ("dispatch_id", "int"),
    "kernelname": ("kernel_name", "name"),
    "gpuid": ("agent", "agent"),
    "agentid": ("agent", "agent"),
    "queueid": ("queue_id", "int"),
    "streamid": ("stream_id", "int"),
    "pid": ("process_id", "int"),
    "processid": ("process_id", "int"),
    "tid": ("thread_id", "int"),
    "threadid": ("thread_id", "int"),
    "kernelid": ("kernel_id", "int"),
    "correlationid": ("correlation_id", "int"),
    "grd": ("grid_work_items", "int"),
    "gridsize": ("grid_work_items", "int"),
    "gridsizex": ("grid_x", "int"),
    "gridsizey": ("grid_y", "int"),
    "gridsizez": ("grid_z", "int"),
    "wgr": ("workgroup_work_items", "int"),
    "workgroupsize": ("workgroup_work_items", "int"),
    "workgroupsizex": ("workgroup_x", "int"),
    "workgroupsizey": ("workgroup_y", "int"),
    "workgroupsizez": ("workgroup_z", "int"),
    "lds": ("lds_bytes", "int"),
    "ldsperworkgroup": ("lds_bytes", "int"),
    "ldsblocksize": ("lds_bytes", "int"),
    "groupsegmentsize": ("lds_bytes", "int"),
    "scr": ("scratch_bytes", "int"),
    "scratchperworkitem": ("scratch_bytes", "int"),
    "scratchsize": ("scratch_bytes", "int"),
    "privatesegmentsize": ("scratch_bytes", "int"),
    "archvgpr": ("vgprs", "int"),
    "vgprcount": ("vgprs", "int"),
    "vgpr": ("vgprs", "int"),
    "accumvgpr": ("agprs", "int"),
    "accumvgprcount": ("agprs", "int"),
    "sgpr": ("sgprs", "int"),
    "sgprcount": ("sgprs", "int"),
    "wavesize": ("wavefront_size", "int"),
    "starttimestamp": ("start_ns", "time"),
    "beginns": ("start_ns", "time"),
    "endtimestamp": ("end_ns", "time"),
    "endns": ("end_ns", "time"),
    "durationns": ("stated_duration_ns", "time"),
    "dispatchns": ("queued_ns", "time"),
    "completens": ("completed_ns", "time"),
    "queueindex": ("queue_index", "skip"),
    "sig": ("signal", "skip"),
    "obj": ("kernel_object", "skip"),
    "kind": ("kind", "skip"),
    "guid": ("guid", "skip"),
    "xccindex": ("xcc_index", "skip"),
    "ordinal": ("ordinal", "skip"),
    "countername": ("counter", "text"),
    "countervalue": ("value", "float"),
}

CALL: Mapping[str, Column] = {
    "domain": ("domain", "text"),
    "function": ("function", "text"),
    "processid": ("process_id", "int"),
    "threadid": ("thread_id", "int"),
    "correlationid": ("correlation_id", "int"),
    "starttimestamp": ("start_ns", "time"),
    "endtimestamp": ("end_ns", "time"),
    "guid": ("guid", "skip"),
}

COPY: Mapping[str, Column] = {
    "kind": ("kind", "skip"),
    "guid": ("guid", "skip"),
    "direction": ("direction", "text"),
    "operation": ("direction", "text"),
    "streamid": ("stream_id", "int"),
    "threadid": ("thread_id", "int"),
    "sourceagentid": ("source_agent", "agent"),
    "destinationagentid": ("destination_agent", "agent"),
    "copybytes": ("bytes", "int"),
    "size": ("bytes", "int"),
    "correlationid": ("correlation_id", "int"),
    "starttimestamp": ("start_ns", "time"),
    "endtimestamp": ("end_ns", "time"),
}

ALLOCATION: Mapping[str, Column] = {
    "kind": ("kind", "skip"),
    "guid": ("guid", "skip"),
    "operation": ("operation", "text"),
    "agentid": ("agent", "agent"),
    "allocationsize": ("bytes", "int"),
    "size": ("bytes", "int"),
    "address": ("address", "text"),
    "queueid": ("queue_id", "int"),
    "threadid": ("thread_id", "int"),
    "allocflags": ("flags", "int"),
    "correlationid": ("correlation_id", "int"),
    "starttimestamp": ("start_ns", "time"),
    "endtimestamp": ("end_ns", "time"),
}

SAMPLE: Mapping[str, Column] = {
    "sampletimestamp": ("time_ns", "time"),
    "execmask": ("exec_mask", "uint"),
    "dispatchid": ("dispatch_id", "int"),
    "instruction": ("instruction", "text"),
    "instructioncomment": ("source_line", "text"),
    "correlationid": ("correlation_id", "int"),
    "waveissuedinstruction": ("issued", "int"),
    "instructiontype": ("instruction_type", "text"),
    "stallreason": ("stall_reason", "text"),
    "wavecount": ("wave_count", "int"),
}

STATS: Mapping[str, Column] = {
    "name": ("name", "name"),
    "calls": ("calls", "int"),
    "totaldurationns": ("total_ns", "float"),
    "averagens": ("average_ns", "float"),
    "percentage": ("percentage", "float"),
    "minns": ("min_ns", "float"),
    "maxns": ("max_ns", "float"),
    "stddev": ("stddev_ns", "float"),
}

AGENT: Mapping[str, Column] = {
    "nodeid": ("node_id", "int"),
    "logicalnodeid": ("logical_node_id", "int"),
    "agenttype": ("type", "text"),
    "name": ("name", "text"),
    "productname": ("product", "text"),
    "cucount": ("cu_count", "int"),
    "simdcount": ("simd_count", "int"),
    "simdpercu": ("simd_per_cu", "int"),
    "numxcc": ("xcd_count", "int"),
    "wavefrontsize": ("wavefront_size", "int"),
    "maxengineclkfcompute": ("max_clock_mhz", "int"),
    "ldssizeinkb": ("lds_kib", "int"),
}

LEVELS = ("SQ_IFETCH_LEVEL", "SQ_INST_LEVEL_LDS", "SQ_INST_LEVEL_SMEM", "SQ_INST_LEVEL_VMEM", "SQ_LEVEL_WAVES")
"""Counters whose time integral is in ``SQ_ACCUM_PREV_HIRES`` if they were collected directly before it."""


def is_repeated(heading: str, known: Mapping[str, Column]) -> bool:
    """Return whether a heading is a metadata column to which joining files has added a number (``wave_size_1``).

    A number alone is no proof: ``SQC_DCACHE_REQ_READ_1`` is a counter.
    """
    return bool(_REPEATED.search(heading)) and key(_REPEATED.sub("", heading)) in known


def instance_of(counter: str) -> tuple[str, int]:
    """Split ``TCC_REQ[127]`` into ``("TCC_REQ", 127)``; the number is -1 for a counter without brackets."""
    match = _INSTANCE.match(counter)
    return (match[1], int(match[2])) if match else (counter, -1)


def accumulated(counters: Sequence[str]) -> str | None:
    """Return the name to use for ``SQ_ACCUM_PREV_HIRES``, for example ``SQ_LEVEL_WAVES_ACCUM``.

    The name contains the counter of :data:`LEVELS` that was collected with it. Return ``None`` unless ``counters``
    contains exactly one counter of :data:`LEVELS`.
    """
    present = [name for name in LEVELS if name in counters]
    return f"{present[0]}_ACCUM" if len(present) == 1 else None
