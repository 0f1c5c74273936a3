"""``analyze/*.csv`` of rocprof-compute: the metrics that the tool itself derived."""

from kprof.inputs.csv_records import records as csv_records
from kprof.inputs.rocprof.columns import key
from kprof.inputs.rocprof.csv_table import heading
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.opening import Opened


def _recognise(opened: Opened) -> float:
    keys = [key(name) for name in heading(opened)]
    if keys[:1] == ["channel"]:
        return 1.0 if len(keys) > 1 else 0.0
    return float(keys[:1] == ["metric"] and bool({"avg", "value", "median"} & set(keys)))


def _read(opened: Opened, part: FileTables) -> None:
    import numpy as np

    names = [key(name) for name in heading(opened)]
    unit_at = next((names.index(name) for name in ("unit", "units") if name in names), None)
    if names[0] == "channel":
        # A row an L2 channel; each further column is a metric of it.
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


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


FORMAT = OtherFormat("derived metrics", "rocprof-compute", "summary", _recognise, _read)
