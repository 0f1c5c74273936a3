"""``pmc_kernel_top.csv`` and ``pmc_dispatch_info.csv``: lists that rocprof-compute made from the other files."""

from kprof.inputs.csv_records import records as csv_records
from kprof.inputs.rocprof.columns import key
from kprof.inputs.rocprof.csv_table import heading
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.names import normalise
from kprof.inputs.rocprof.opening import Opened

_UNIT_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def _recognise(opened: Opened) -> float:
    keys = [key(name) for name in heading(opened)]
    top = keys[:2] == ["kernelname", "count"] and any(name.startswith("sum(") for name in keys)
    return float(top or sorted(keys) == ["dispatchid", "gpuid", "kernelname"])


def _read(opened: Opened, part: FileTables) -> None:
    import numpy as np

    names = [key(name) for name in heading(opened)]
    text = opened.head.decode("utf-8", "replace")
    records = [r for r in csv_records(text.splitlines(keepends=True), str(opened.path)) if r][1:]
    good = [record for record in records if len(record) == len(names)]
    if len(good) < len(records):
        part.complain("cut-record", "error", f"{len(records) - len(good)} records have a wrong number of fields "
                      "and are not used", count=len(records) - len(good))  # fmt: skip
    part.describe(rows=len(good))
    if "count" not in names:
        return
    total = next(place for place, name in enumerate(names) if name.startswith("sum("))
    scale = _UNIT_NS.get(names[total][4:].rstrip(")"), 1.0)
    kernels = [record[names.index("kernelname")] for record in good]
    part.tables["stats"] = {
        "name": factorised(kernels),
        "kernel_name": factorised([normalise(kernel) for kernel in kernels]),
        "calls": np.array([_number(record[1]) for record in good]),
        "total_ns": np.array([_number(record[total]) * scale for record in good]),
    }


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


FORMAT = OtherFormat("kernel list", "rocprof-compute", "summary", _recognise, _read)
