"""Dispatch tables: what is written into them, and what is no table."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kprof.bench.document import BenchReport, Device, Measurement, Timing
from kprof.errors import KprofError
from kprof.tuning.dispatch_table import DispatchEntry, entries_of, merge, read

SHAPE = {"M": 1024, "N": 4096, "dtype": "fp16"}


def entry(m: int, block: int, **fields: Any) -> DispatchEntry:
    """An entry for M rows."""
    return DispatchEntry(**{"kernel": "toy", "arch": "gfx942", "shape": {**SHAPE, "M": m}, "implementation": "toy",
                    "config": {"BLOCK": block}, "ms": 0.5, "device": "MI300X", **fields})  # fmt: skip


def report(*measurements: Measurement) -> BenchReport:
    """A benchmark on an MI300X."""
    device = Device("AMD Instinct MI300X", "rocm", "gfx942", {"triton": "3.6.0"}, 1 << 37)
    return BenchReport("0.1.0", device, list(measurements))


def measured(provider: str, ms: float, status: str = "ok", m: int = 1024, **fields: Any) -> Measurement:
    """One measurement."""
    timing = Timing(ms, ms, ms, ms, 20, "events", 1, 2)
    shape = {**SHAPE, "M": m}
    return Measurement("toy", "plain", shape, provider, status, timing=timing, **fields)  # type: ignore[arg-type]


def test_the_fastest_right_result_is_written() -> None:
    """A wrong or less accurate one never is; every right one is told."""
    found = entries_of(
        report(
            measured("triton", 0.5, config={"BLOCK": 16}),
            measured("tuned", 0.4, config={"BLOCK": 64}),
            measured("torch", 0.3, "inaccurate"),
            measured("sdpa", 0.45),
            measured("sdpa", 0.1, m=8),
        )
    )

    assert [(e.implementation, e.config, e.ms) for e in found] == [("toy", {"BLOCK": 64}, 0.4), ("sdpa", {}, 0.1)]
    assert found[0].compared == {"triton": 0.5, "tuned": 0.4, "sdpa": 0.45}
    assert found[0].versions == {"triton": "3.6.0"}


def test_table_survives_the_way_through_a_file(tmp_path: Path) -> None:
    """A new entry replaces the old one for the same problem and keeps the others."""
    path = tmp_path / "table.json"
    path.write_bytes(msgspec.json.encode(merge(None, [entry(512, 8), entry(1024, 32)])))

    table = merge(read(path), [entry(1024, 64)])

    assert [(e.shape["M"], e.config["BLOCK"]) for e in table.entries] == [(512, 8), (1024, 64)]
    assert json.loads(path.read_text())["schema"] == "kprof.dispatch/1"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"entries": []} trailing', '{"schema": "kprof.dispatch/2", "entries": []}',
     '{"entries": [{"kernel": 3}]}', "[" * 100_000, "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")],
)  # fmt: skip
def test_what_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    """One clear message with the path, never a traceback."""
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(KprofError, match="not a dispatch table"):
        read(path)


def test_missing_table_is_named(tmp_path: Path) -> None:
    """With its path."""
    with pytest.raises(KprofError) as caught:
        read(tmp_path / "absent.json")

    assert caught.value.path == str(tmp_path / "absent.json")
