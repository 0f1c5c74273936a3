"""``roofline.csv`` of a workload: peaks that Omniperf or rocprof-compute measured on the machine itself."""

from kprof.inputs.rocprof.columns import key
from kprof.inputs.rocprof.csv_table import heading, read_table
from kprof.inputs.rocprof.format import OtherFormat
from kprof.inputs.rocprof.frames import array_of, factorised
from kprof.inputs.rocprof.model import FileTables
from kprof.inputs.rocprof.opening import Opened


def _recognise(opened: Opened) -> float:
    keys = [key(name) for name in heading(opened)]
    return float("device" in keys and sum(name.endswith(("bw", "flops", "ops")) for name in keys) >= 3)


def _read(opened: Opened, part: FileTables) -> None:
    import numpy as np

    names = heading(opened)
    device = next(index for index, name in enumerate(names) if key(name) == "device")
    # The columns between are the confidence interval (...Low, ...High).
    chosen = {i: n for i, n in enumerate(names) if i != device and not key(n).endswith(("low", "high"))}
    table = read_table(opened, {device: "int", **dict.fromkeys(chosen, "float")}, part)
    devices = array_of(table.columns[device])
    part.describe(rows=table.rows)
    part.tables["peaks"] = {
        "device": np.tile(np.asarray(devices), len(chosen)),
        "name": factorised([name for name in chosen.values() for _ in range(table.rows)]),
        "value": np.concatenate([np.asarray(array_of(table.columns[i]), dtype=float) for i in chosen]),
    }


FORMAT = OtherFormat("measured peaks", "rocprof-compute", "system", _recognise, _read)
