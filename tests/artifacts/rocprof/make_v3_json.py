"""The JSON of rocprofv3."""

import json
from typing import Any

from run import COUNTS, RUN, write

AGENTS = [
    {"id": {"handle": 800}, "type": 1, "name": "AMD EPYC", "node_id": 0, "logical_node_id": 0},
    {
        "id": {"handle": 900},
        "type": 2,
        "name": "gfx942",
        "product_name": "AMD Instinct MI300X",
        "node_id": 6,
        "logical_node_id": 4,
        "cu_count": 304,
        "num_xcc": 8,
        "wave_front_size": 64,
        "lds_size_in_kb": 64,
    },
]
STRINGS = {
    "buffer_records": [
        {"kind": "NONE", "operations": []},
        {"kind": "KERNEL_DISPATCH", "operations": ["", "COMPLETE"]},
        {"kind": "HIP_RUNTIME_API", "operations": ["hipMalloc", "hipLaunchKernel"]},
        {"kind": "MEMORY_COPY", "operations": ["NONE", "MEMORY_COPY_HOST_TO_DEVICE"]},
    ]
}
HIP_CALLS = [
    {
        "kind": 2,
        "operation": 1,
        "thread_id": 77,
        "correlation_id": {"internal": 1},
        "start_timestamp": 999000,
        "end_timestamp": 999800,
    }
]
COPIES = [
    {
        "kind": 3,
        "operation": 1,
        "thread_id": 77,
        "start_timestamp": 5000,
        "end_timestamp": 5400,
        "src_agent_id": {"handle": 800},
        "dst_agent_id": {"handle": 900},
        "bytes": 4096,
    }
]


def v3_json() -> None:
    """rocprofv3 JSON."""
    process = {
        "metadata": {"pid": 77},
        "agents": AGENTS,
        "counters": [{"id": {"handle": 1000 + n}, "name": name} for n, name in enumerate(COUNTS)],
        "strings": STRINGS,
        "kernel_symbols": symbols(),
        "callback_records": {"counter_collection": counted()},
        "buffer_records": {
            "kernel_dispatch": dispatches(),
            "hsa_api": [],
            "hip_api": HIP_CALLS,
            "memory_copy": COPIES,
        },
    }
    write("v3_json/results.json", json.dumps({"rocprofiler-sdk-tool": [process]}))


def symbols() -> list[dict[str, Any]]:
    """The kernels, with their registers."""
    return [
        {
            "kernel_id": len(name),
            "kernel_name": f"{name}.kd",
            "formatted_kernel_name": name,
            "sgpr_count": sgprs,
            "arch_vgpr_count": vgprs,
            "accum_vgpr_count": agprs,
        }
        for name, *_, vgprs, agprs, sgprs in RUN[:2]
    ]


def dispatches() -> list[dict[str, Any]]:
    """The launches, with their times."""
    return [
        {
            "kind": 1,
            "operation": 1,
            "thread_id": 77,
            "correlation_id": {"internal": number},
            "start_timestamp": start,
            "end_timestamp": end,
            "stream_id": {"handle": 5},
            "dispatch_info": {
                "agent_id": {"handle": 900},
                "queue_id": {"handle": 1},
                "kernel_id": len(name),
                "dispatch_id": number,
                "private_segment_size": 0,
                "group_segment_size": lds,
                "workgroup_size": {"x": group, "y": 1, "z": 1},
                "grid_size": dict(zip("xyz", grid, strict=True)),
            },
        }
        for name, number, start, end, grid, group, lds, *_ in RUN
    ]


def counted() -> list[dict[str, Any]]:
    """What each launch counted, in two instances of the unit."""
    return [
        {
            "dispatch_data": {"dispatch_info": record["dispatch_info"]},
            "records": [
                {"counter_id": {"handle": 1000 + n}, "value": values[at] / 2}
                for n, values in enumerate(COUNTS.values())
                for _half in (0, 1)
            ],
        }
        for at, record in enumerate(dispatches())
    ]
