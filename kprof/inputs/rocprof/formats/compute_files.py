"""Read the files of an Omniperf or rocprof-compute workload other than its counter files."""

from kprof.errors import InputError
from kprof.inputs.csv_records import records as csv_records
from kprof.inputs.rocprof.columns import key
from kprof.inputs.rocprof.csv_table import heading, read_table
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import array_of, factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.names import normalise
from kprof.inputs.rocprof.opening import Opened

_UNIT_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_SIGNATURE = {"workloadname", "command", "ipblocks", "timestamp", "version", "gpumodel", "gpuarch", "cupergpu"}
_UNKNOWN = {"", "NA", "N/A", "None"}
_NOT_ZERO = {"max_sclk", "max_mclk", "cu_per_gpu", "hbm_bw", "num_xcd", "total_l2_chan"}


def _is_kernel_list(opened: Opened) -> float:
    keys = [key(name) for name in heading(opened)]
    top = keys[:2] == ["kernelname", "count"] and any(name.startswith("sum(") for name in keys)
    return float(top or sorted(keys) == ["dispatchid", "gpuid", "kernelname"])


def _read_kernel_list(opened: Opened, part: FileTables) -> None:
    """Read ``pmc_kernel_top.csv`` or ``pmc_dispatch_info.csv``, which rocprof-compute derives from other files."""
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


def _is_metrics(opened: Opened) -> float:
    keys = [key(name) for name in heading(opened)]
    if keys[:1] == ["channel"]:
        return 1.0 if len(keys) > 1 else 0.0
    return float(keys[:1] == ["metric"] and bool({"avg", "value", "median"} & set(keys)))


def _read_metrics(opened: Opened, part: FileTables) -> None:
    """Read ``analyze/*.csv``, metrics that Omniperf or rocprof-compute derived from counters."""
    import numpy as np

    names = [key(name) for name in heading(opened)]
    unit_at = next((names.index(name) for name in ("unit", "units") if name in names), None)
    if names[0] == "channel":
        # Each row is an L2 channel, and each further column is a metric of that channel.
        shown = heading(opened)
        chosen = {place: f" {shown[place]}" for place in range(1, len(names)) if place != unit_at}
    else:
        chosen = {next(names.index(name) for name in ("avg", "value", "median") if name in names): ""}
    metrics, values, units = [], [], []
    lines = opened.head.decode("utf-8", "replace").splitlines()[1:]
    for number, record in enumerate(csv_records(lines, str(opened.path), first=2), 1):
        if len(record) != len(names):
            part.complain("cut-record", "error", f"{len(record)} fields where the heading has {len(names)}: the record "
                          "is not used", record=number)  # fmt: skip
            continue
        for place, suffix in chosen.items():
            metrics.append(record[0] + suffix)
            values.append(_number(record[place]))
            units.append(record[unit_at] if unit_at is not None else None)
    part.describe(rows=len(metrics))
    part.tables["metrics"] = {
        "table": factorised([opened.path.stem] * len(metrics)),
        "metric": factorised(metrics),
        "value": np.array(values, dtype=float),
        "unit": factorised(units),
    }


def _is_roofline(opened: Opened) -> float:
    keys = [key(name) for name in heading(opened)]
    return float("device" in keys and sum(name.endswith(("bw", "flops", "ops")) for name in keys) >= 3)


def _read_roofline(opened: Opened, part: FileTables) -> None:
    """Read ``roofline.csv``, peaks that Omniperf or rocprof-compute measured on the machine."""
    import numpy as np

    names = heading(opened)
    device = next(index for index, name in enumerate(names) if key(name) == "device")
    # Columns ending in Low and High are the bounds of the confidence interval.
    chosen = {i: n for i, n in enumerate(names) if i != device and not key(n).endswith(("low", "high"))}
    table = read_table(opened, {device: "int", **dict.fromkeys(chosen, "float")}, part)
    devices = array_of(table.columns[device])
    part.describe(rows=table.rows)
    part.tables["peaks"] = {
        "device": np.tile(np.asarray(devices), len(chosen)),
        "name": factorised([name for name in chosen.values() for _ in range(table.rows)]),
        "value": np.concatenate([np.asarray(array_of(table.columns[i]), dtype=float) for i in chosen]),
    }


def _is_system(opened: Opened) -> float:
    keys = {key(name) for name in heading(opened)}
    return float(len(keys & _SIGNATURE) / len(_SIGNATURE) >= 0.6)


def _read_system(opened: Opened, part: FileTables) -> None:
    """Read ``sysinfo.csv``, a single record about the machine."""
    import pandas as pd

    lines = opened.head.decode("utf-8", "replace").splitlines()
    records = list(csv_records(lines[1:2], str(opened.path), first=2))
    names = heading(opened)
    if not records:
        raise InputError("the file has a heading but no record", path=str(opened.path), place="line 2")
    record = records[0]
    if len(record) != len(names):
        part.complain("cut-record", "error", f"{len(record)} fields where the heading has {len(names)}", record=1)
    values = {}
    for name, value in zip(names, record, strict=False):
        # A clock or size of 0 means that the tool could not determine it.
        if value.strip() not in _UNKNOWN and not (name in _NOT_ZERO and value.strip() in {"0", "0.0"}):
            values[name] = value.strip()
    unknown = sorted(set(names) & _NOT_ZERO - values.keys())
    if unknown:
        part.complain("unknown-property", "note", f"the tool could not determine {', '.join(unknown)}")
    version = values.get("version", "")
    rocm = f"ROCm {values['rocm_version']}" if "rocm_version" in values else ""
    part.describe(
        rows=1,
        tool="Omniperf" if version in {"1", "2"} else "rocprof-compute",
        version=", ".join(text for text in (f"{version}.x" if version else "", rocm) if text) or None,
    )
    part.tables["systems"] = {"name": factorised(list(values)), "value": factorised(list(values.values()))}
    part.tables["agents"] = {
        "agent": pd.array([None], dtype="Int64"),
        "type": factorised(["GPU"]),
        "name": factorised([values.get("gpu_arch")]),
        "product": factorised([values.get("gpu_model")]),
        **{ours: pd.array([_count(values.get(theirs))], dtype="Int64")
           for ours, theirs in (("cu_count", "cu_per_gpu"), ("xcd_count", "num_xcd"), ("wavefront_size", "wave_size"),
                                ("max_clock_mhz", "max_sclk"))},
    }  # fmt: skip


def _count(text: str | None) -> int | None:
    try:
        number = int(float(text)) if text else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and 0 <= number < 1 << 31 else None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


FORMATS = (
    OtherFormat("kernel list", "rocprof-compute", "summary", _is_kernel_list, _read_kernel_list),
    OtherFormat("derived metrics", "rocprof-compute", "summary", _is_metrics, _read_metrics),
    OtherFormat("measured peaks", "rocprof-compute", "system", _is_roofline, _read_roofline),
    OtherFormat("workload system", "rocprof-compute", "system", _is_system, _read_system),
)
