"""Counter files in JSON: rocprof v1 and rocprofv3."""

from validation.fuzz.readers._counters import read_named
from validation.fuzz.target import Target

TARGET = Target(
    lambda data, folder: read_named(data, folder, "c.json"),
    ("rocprof/**/*.json",),
    words=(
        "rocprofiler-sdk-tool",
        "callback_records",
        "counter_collection",
        "kernel_symbols",
        "dispatch_info",
        "agents",
    ),
    runs=150,
)
