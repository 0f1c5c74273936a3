"""Choosing an implementation: by the table, by published times, by the model."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kprof.errors import KprofError
from kprof.kernel_spec import Kernel
from kprof.tuning.choice import ConsideredImplementation, choose, select
from kprof.tuning.dispatch_table import TABLE_VARIABLE, DispatchEntry, Table
from tests.tuning.choice.toys import SHAPE, entry, kernel


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
    assert "OLD" in found.notes[0]


def test_another_library_is_an_implementation() -> None:
    """With no configuration of ours."""
    found = choose(kernel(), SHAPE, "gfx942", Table([entry(1024, 0, implementation="torch", config={})]))

    assert (found.implementation, found.config, found.rule) == ("torch", {}, "exact")


def predictions(monkeypatch: pytest.MonkeyPatch, times: dict[str, float | None]) -> None:
    """Have the model say these milliseconds of kernels; ``None``: it cannot, other names: they cannot do it."""
    import sys

    def candidates(*_: Any) -> list[tuple[Kernel, ConsideredImplementation]]:
        return [
            (kernel(name=name), ConsideredImplementation(name, "unknown", reason="not predicted")) for name in times
        ]

    def timed(forms: Any, *_: Any) -> list[ConsideredImplementation]:
        known = ((one, times[one.implementation]) for _, one in forms)
        return [
            one if ms is None else ConsideredImplementation(one.implementation, "predicted", ms, ms / 2, ms * 1.5)
            for one, ms in known
        ]

    module = sys.modules["kprof.tuning.choice.choose"]
    monkeypatch.setattr(module, "bundled", candidates)
    monkeypatch.setattr(module, "predicted", timed)


def machine() -> Any:
    """MI300X's architecture and itself."""
    from kprof.hardware.machine import load_gpu

    found, product = load_gpu("MI300X")
    return {"machine": found, "product": product}


def test_the_fastest_prediction_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """With how far it is ahead; everything considered is listed, fastest first, what has no time behind."""
    predictions(monkeypatch, {"toy": 0.2, "other": 0.1, "third": None})

    found = choose(kernel(), SHAPE, "gfx942", None, **machine())

    assert (found.implementation, found.rule, found.basis, found.ms) == ("other", "predicted", "predicted", 0.1)
    assert "2.00 times as fast as the next" in found.reason
    assert [(one.implementation, one.ms) for one in found.candidates] == [("other", 0.1), ("toy", 0.2), ("third", None)]


def test_times_that_the_model_does_not_tell_apart_leave_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two per cent are a tie; twenty are not."""
    predictions(monkeypatch, {"toy": 0.102, "other": 0.1})
    tie = choose(kernel(), SHAPE, "gfx942", None, **machine())
    predictions(monkeypatch, {"toy": 0.120, "other": 0.1})
    clear = choose(kernel(), SHAPE, "gfx942", None, **machine())

    assert (tie.implementation, clear.implementation) == ("toy", "other")
    assert "not distinguished from other" in tie.reason


def test_without_any_time_the_kernels_own_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time is made up."""
    predictions(monkeypatch, {"toy": None, "other": None})

    found = choose(kernel(), SHAPE, "gfx942", None, **machine())

    assert (found.implementation, found.rule, found.basis, found.ms) == ("toy", "default", "unknown", None)


def test_a_table_that_is_too_far_away_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model decides, and the nearest entry is told with its distance."""
    predictions(monkeypatch, {"toy": 0.2})

    found = choose(kernel(), SHAPE, "gfx942", Table([entry(100, 8)]), **machine())

    assert found.rule == "predicted"
    assert any("M=1024 for 100" in note for note in found.notes)


def test_an_entry_tells_all_that_was_compared() -> None:
    """With the times that were measured beside the fastest."""
    table = Table([entry(1024, 32, compared={"triton": 0.5, "torch": 0.7})])

    found = choose(kernel(), SHAPE, "gfx942", table)

    assert [(one.implementation, one.ms, one.basis) for one in found.candidates] == [
        ("toy (defaults)", 0.5, "measured"),
        ("torch", 0.7, "measured"),
    ]


def test_nothing_that_can_do_it_is_an_error() -> None:
    """With the reason."""
    toy = kernel(unsupported=lambda _arch, _shape: "no such instruction")

    with pytest.raises(KprofError, match="no such instruction"):
        choose(toy, SHAPE, "gfx942", None)


@pytest.mark.triton
@pytest.mark.parametrize("sizes", [(1, 2048), (1, 4096), (2, 2048), (2, 4096)])
def test_mlstm_of_64_goes_to_the_general_form(sizes: tuple[int, int]) -> None:
    """Published times of both forms have it ahead: 0.57 for 0.68 ms and so on."""
    pytest.importorskip("triton")

    found = select("mlstm_chunkwise", {"B": sizes[0], "S": sizes[1], "DQK": 64, "DV": 64}, "MI300X", predict=False)

    assert (found.arch, found.implementation, found.rule, found.distance) == (
        "gfx942",
        "mlstm_chunkwise",
        "published",
        0,
    )
    assert {one.implementation for one in found.candidates} >= {"mlstm_chunkwise", "mlstm_chunkwise_d64"}


@pytest.mark.triton
@pytest.mark.parametrize(
    ("length", "rule", "implementation"),
    [
        (2048, "published", "ck"),
        (2500, "published", "ck"),
        (512, "published", "aiter"),
        (16384, "default", "flash_attention"),
    ],
)
def test_published_times_of_attention_decide_where_they_are_near(length: int, rule: str, implementation: str) -> None:
    """Beyond the factor of two the nearest one is named, and not used."""
    pytest.importorskip("triton")
    shape = {"B": 4, "H": 8, "HK": 8, "SQ": length, "SK": length, "D": 256}

    found = select("flash_attention", shape, "MI300X", predict=False)

    assert (found.rule, found.implementation) == (rule, implementation)
    assert any("SQ=16384 for 4096" in note for note in found.notes) == (length == 16384)


@pytest.mark.triton
def test_published_times_are_of_one_product() -> None:
    """MI325X is the same architecture; times of MI300X are not taken for it, and that is said."""
    pytest.importorskip("triton")

    found = select("flash_attention", {"SQ": 512, "SK": 512, "D": 256, "H": 8, "HK": 8}, "MI325X", predict=False)

    assert found.rule == "default"
    assert "times were published for MI300X only" in found.notes


@pytest.mark.triton
def test_forms_are_compared_by_the_model() -> None:
    """Real compiles: one row is nothing for matrix instructions; stream-K is considered too."""
    pytest.importorskip("triton")

    found = select("gemm", {"M": 1, "N": 4096, "K": 4096}, "MI300X", predict=True)

    times = {one.implementation: one.ms for one in found.candidates if one.basis == "predicted"}
    assert times.keys() == {"gemm", "gemm_streamk", "gemm_multiply_reduce"}
    assert found.implementation == min(times, key=lambda name: times[name] or 0.0)
    assert found.rule == "predicted"


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


@pytest.mark.triton
def test_what_nobody_can_run_is_no_answer() -> None:
    """The times of heads of 128 are of programs that are not here, with a number of heads that is not given."""
    pytest.importorskip("triton")
    problem = {"B": 1, "S": 2048, "DQK": 128, "DV": 128}

    found = select("mlstm_chunkwise", problem, "MI300X", predict=True)

    assert (found.implementation, found.rule, found.basis) == ("mlstm_chunkwise", "predicted", "predicted")
    assert found.config
    assert found.ms == pytest.approx(next(one.ms for one in found.candidates if one.basis == "predicted"))
    outside = {one.implementation for one in found.candidates if not one.runs}
    assert outside == {"stock Triton", "AMD-optimised Triton"}


@pytest.mark.triton
def test_a_ratio_orders_forms_and_its_times_count_for_nothing() -> None:
    """The form that was published as 1.19 times as fast has the model's time, and not the published 0.57 ms."""
    pytest.importorskip("triton")

    found = select("mlstm_chunkwise", {"B": 1, "S": 2048, "DQK": 64, "DV": 64}, "MI300X", predict=True)

    assert (found.implementation, found.rule, found.basis) == ("mlstm_chunkwise", "published", "predicted")
    assert found.reason.startswith("published as 1.19 times as fast as mlstm_chunkwise_d64")
    assert found.ms is not None
    assert found.ms < 0.57
