"""Choosing an implementation from a dispatch table."""

import json
from math import log2
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.bench.document import BenchReport, Device, Measurement, Timing
from kprof.errors import KprofError
from kprof.kernel_spec import Kernel, Launch
from kprof.tuning.dispatch_table import (
    TABLE_VARIABLE,
    DispatchEntry,
    Table,
    choose,
    distance,
    entries_of,
    merge,
    read,
    select,
)

SHAPE = {"M": 1024, "N": 4096, "dtype": "fp16"}


def kernel(**fields: Any) -> Kernel:
    """A kernel without a function: enough for choosing."""
    base: dict[str, Any] = {
        "name": "toy",
        "entry": None,
        "summary": "",
        "launch": lambda _shape, _config: Launch({}, (1,)),
        "shapes": {"plain": SHAPE},
        "config": {"BLOCK": 16, "num_warps": 4},
        "arch_config": {"gfx950": {"BLOCK": 64}},
    }
    return Kernel(**{**base, **fields})


def entry(m: int, block: int, **fields: Any) -> DispatchEntry:
    """An entry for M rows."""
    return DispatchEntry(**{"kernel": "toy", "arch": "gfx942", "shape": {**SHAPE, "M": m}, "implementation": "toy",
                    "config": {"BLOCK": block}, "ms": 0.5, "device": "MI300X", **fields})  # fmt: skip


def test_exact_entry_wins() -> None:
    """Its configuration is completed with the defaults."""
    found = choose(kernel(), SHAPE, "gfx942", Table([entry(512, 8), entry(1024, 32), entry(2048, 128)]))

    assert (found.rule, found.distance, found.ms) == ("exact", 0, 0.5)
    assert found.config == {"BLOCK": 32, "num_warps": 4}


@pytest.mark.parametrize(("m", "block"), [(700, 8), (1100, 32), (1500, 128), (1448, 32), (4096, 128)])
def test_nearest_entry_by_logarithm(m: int, block: int) -> None:
    """1448 is nearer to 1024 than to 2048 by ratio; 4096 is just within a factor of two."""
    found = choose(kernel(), {**SHAPE, "M": m}, "gfx942", Table([entry(512, 8), entry(1024, 32), entry(2048, 128)]))

    assert (found.rule, found.config["BLOCK"]) == ("nearest", block)


@pytest.mark.parametrize(
    ("shape", "arch"),
    [
        ({**SHAPE, "M": 4200}, "gfx942"),
        ({**SHAPE, "dtype": "bf16"}, "gfx942"),
        ({**SHAPE, "N": 16384}, "gfx942"),
        (SHAPE, "gfx950"),
    ],
)
def test_nothing_near_means_the_defaults(shape: dict[str, Any], arch: str) -> None:
    """More than a factor of two away, another dtype, another architecture."""
    toy = kernel()

    found = choose(toy, shape, arch, Table([entry(1024, 32), entry(2048, 128)]))

    assert (found.rule, found.distance, found.measured) == ("default", None, None)
    assert found.config == toy.configure(arch)


def test_an_illegal_configuration_gives_way_to_the_next() -> None:
    """The nearest entry's block does not divide this M."""
    toy = kernel(legal=lambda shape, config, _arch: None if shape["M"] % config["BLOCK"] == 0 else "M % BLOCK")

    found = choose(toy, {**SHAPE, "M": 1040}, "gfx942", Table([entry(1024, 32), entry(1536, 16)]))

    assert (found.rule, found.config["BLOCK"]) == ("nearest", 16)


def test_a_knob_that_is_gone_gives_way_too() -> None:
    """A table outlives a kernel's knobs."""
    table = Table([entry(1024, 32, config={"OLD": 1})])

    found = choose(kernel(), SHAPE, "gfx942", table)

    assert found.rule == "default"
    assert "OLD" in found.reason


def test_another_library_is_an_implementation() -> None:
    """With no configuration of ours."""
    found = choose(kernel(), SHAPE, "gfx942", Table([entry(1024, 0, implementation="torch", config={})]))

    assert (found.implementation, found.config, found.rule) == ("torch", {}, "exact")


@given(st.dictionaries(st.sampled_from("ABC"), st.integers(1, 1 << 20), min_size=1), st.data())
def test_distance_is_symmetric_and_bounded(shape: dict[str, int], data: st.DataObject) -> None:
    """The sum of absolute log2 ratios, each at most 1."""
    other = {name: data.draw(st.integers(1, 1 << 20)) for name in shape}
    expected = [abs(log2(shape[n] / other[n])) for n in shape]

    found = distance(shape, other)

    assert found == distance(other, shape)
    assert distance(shape, shape) == 0
    if found is None:
        assert max(expected) > 1 - 1e-9
    else:
        assert found == pytest.approx(sum(expected), abs=1e-9)


@pytest.mark.parametrize(("left", "right"), [(0, 0), (-1, -1)])
def test_zero_and_negative_numbers_have_to_be_equal(left: int, right: int) -> None:
    """They have no logarithm."""
    assert distance({"A": left}, {"A": right}) == 0
    assert distance({"A": left}, {"A": 1}) is None
    assert distance({"A": True}, {"A": 1}) is None


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


@pytest.mark.triton
@pytest.mark.parametrize(
    ("shape", "implementation"),
    [
        ({"S": 2048, "DQK": 64, "DV": 64}, "mlstm_chunkwise_d64"),
        ({"S": 2048, "DQK": 128, "DV": 128}, "mlstm_chunkwise"),
        ({"S": 2000, "DQK": 64, "DV": 64}, "mlstm_chunkwise"),
        ({"S": 2048, "DQK": 64, "DV": 128}, "mlstm_chunkwise"),
    ],
)
def test_mlstm_goes_to_the_form_for_its_head(shape: dict[str, int], implementation: str) -> None:
    """Heads of 64 and whole chunks take the form made for them; everything else the general one."""
    pytest.importorskip("triton")

    found = select("mlstm_chunkwise", shape, "MI300X")

    assert (found.arch, found.implementation, found.rule) == ("gfx942", implementation, "default")


@pytest.mark.triton
def test_measured_dispatch_overrides_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table may say that the general kernel is faster even for heads of 64; the environment names the table."""
    pytest.importorskip("triton")
    import kprof

    path = tmp_path / "table.json"
    shape = {"B": 1, "S": 2048, "H": 8, "DQK": 64, "DV": 64, "dtype": "bf16", "gates": "usual"}
    general = DispatchEntry("mlstm_chunkwise", "gfx942", shape, "mlstm_chunkwise", {"CHUNK": 128}, 0.09)
    path.write_bytes(msgspec.json.encode(Table([general])))
    monkeypatch.setenv(TABLE_VARIABLE, str(path))

    found = kprof.select("mlstm_chunkwise", {"S": 2048, "DQK": 64, "DV": 64}, "gfx942")

    assert (found.implementation, found.rule, found.config["CHUNK"]) == ("mlstm_chunkwise", "exact", 128)
