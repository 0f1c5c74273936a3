"""``sysinfo.csv`` of an Omniperf or rocprof-compute workload: one record about the machine."""

from kprof.errors import InputError
from kprof.inputs.csv_records import records as csv_records
from kprof.inputs.rocprof.columns import key
from kprof.inputs.rocprof.csv_table import heading
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.opening import Opened

_SIGNATURE = {"workloadname", "command", "ipblocks", "timestamp", "version", "gpumodel", "gpuarch", "cupergpu"}
_UNKNOWN = {"", "NA", "N/A", "None"}
_NOT_ZERO = {"max_sclk", "max_mclk", "cu_per_gpu", "hbm_bw", "num_xcd", "total_l2_chan"}


def _recognise(opened: Opened) -> float:
    keys = {key(name) for name in heading(opened)}
    return float(len(keys & _SIGNATURE) / len(_SIGNATURE) >= 0.6)


def _read(opened: Opened, part: FileTables) -> None:
    import pandas as pd

    lines = opened.head.decode("utf-8", "replace").splitlines()
    records = list(csv_records(lines[1:2], str(opened.path), first=2))
    names = heading(opened)
    if not records:
        raise InputError("the heading is there but not the record", path=str(opened.path), place="line 2")
    record = records[0]
    if len(record) != len(names):
        part.complain("cut-record", "error", f"{len(record)} fields where the heading has {len(names)}", record=1)
    values = {}
    for name, value in zip(names, record, strict=False):
        # A clock or a size of 0 means that the tool did not find out.
        if value.strip() not in _UNKNOWN and not (name in _NOT_ZERO and value.strip() in {"0", "0.0"}):
            values[name] = value.strip()
    unknown = sorted(set(names) & _NOT_ZERO - values.keys())
    if unknown:
        part.complain("unknown-property", "note", f"the tool could not tell {', '.join(unknown)}")
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
        **{ours: pd.array([_number(values.get(theirs))], dtype="Int64")
           for ours, theirs in (("cu_count", "cu_per_gpu"), ("xcd_count", "num_xcd"), ("wavefront_size", "wave_size"),
                                ("max_clock_mhz", "max_sclk"))},
    }  # fmt: skip


def _number(text: str | None) -> int | None:
    try:
        number = int(float(text)) if text else None
    except (ValueError, OverflowError):
        return None
    return number if number is not None and 0 <= number < 1 << 31 else None


FORMAT = OtherFormat("workload system", "rocprof-compute", "system", _recognise, _read)
