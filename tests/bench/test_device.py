"""What is known about a GPU."""

from types import SimpleNamespace
from typing import Any

import pytest

from kprof.bench import device
from kprof.bench.device import describe, known_limits, limit_type, with_given
from kprof.bench.document import MachinePeaks
from kprof.errors import KprofError


def test_mi300x_has_its_published_peaks() -> None:
    """AMD's data sheet: 5.3 TB/s, 1307.4 TFLOP/s in fp16, 2614.9 in fp8, a 256 MB Infinity Cache."""
    limits = known_limits("AMD Instinct MI300X")

    assert limits.memory_gbs == 5300
    assert (limits.tflops["fp16"], limits.tflops["fp8"]) == (1307.4, 2614.9)
    assert limits.cache_bytes == 256 << 20
    assert "MI300X" in limits.source["memory_gbs"]


def test_unknown_product_has_no_limits() -> None:
    """Nothing is invented."""
    assert known_limits("NVIDIA H200") == MachinePeaks()


def test_given_limits_win() -> None:
    """And say so."""
    limits = with_given(known_limits("MI300X"), {"gbs": 4000, "fp16": 900.5})

    assert (limits.memory_gbs, limits.tflops["fp16"], limits.tflops["bf16"]) == (4000, 900.5, 1307.4)
    assert limits.source["memory_gbs"] == "given"


@pytest.mark.parametrize(
    "given", [{"fp17": 3}, {"gbs": 0}, {"gbs": -1}, {"gbs": "fast"}, {"fp16": float("inf")}, {"fp16": True}]
)
def test_bad_limits_are_refused(given: dict[str, object]) -> None:
    """A limit is a positive number of a known kind."""
    with pytest.raises(KprofError):
        with_given(MachinePeaks(), given)


def test_all_eight_bit_floats_share_a_peak() -> None:
    """The matrix unit does not care which of the formats it is."""
    assert {limit_type(t) for t in ("fp8e4b8", "fp8e4nv", "fp8e5")} == {"fp8"}
    assert limit_type("bf16") == "bf16"


def torch_with(properties: Any, *, hip: str | None = None, cuda: str | None = None) -> Any:
    """A torch that sees one GPU, or none."""
    return SimpleNamespace(
        __version__="2.11.0",
        version=SimpleNamespace(hip=hip, cuda=cuda),
        cuda=SimpleNamespace(
            is_available=lambda: properties is not None, get_device_properties=lambda _number: properties
        ),
    )


def seen(monkeypatch: pytest.MonkeyPatch, torch: Any) -> device.Device:
    """What is described with this torch."""
    monkeypatch.setattr(device, "_torch", lambda: torch)
    monkeypatch.setattr(device, "_triton_version", lambda: "3.6.0")
    return describe()


def test_an_mi300x_is_described_from_the_hardware_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The architecture without its features; the Infinity Cache, not the 4 MiB of L2 that the driver tells."""
    properties = SimpleNamespace(
        name="AMD Instinct MI300X", gcnArchName="gfx942:sramecc+:xnack-", total_memory=192 << 30, L2_cache_size=4 << 20
    )

    found = seen(monkeypatch, torch_with(properties, hip="7.0"))

    assert (found.backend, found.arch, found.versions["hip"]) == ("rocm", "gfx942", "7.0")
    assert (found.limits.cache_bytes, found.limits.memory_gbs) == (256 << 20, 5300)


def test_an_unknown_amd_gpu_has_no_made_up_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the driver tells, and L2 is not the last cache for sure."""
    properties = SimpleNamespace(name="AMD Future", gcnArchName="gfx999", total_memory=1 << 30, L2_cache_size=4 << 20)

    found = seen(monkeypatch, torch_with(properties, hip="9.0"))

    assert (found.arch, found.limits) == ("gfx999", MachinePeaks())


def test_cuda_is_described_by_its_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    """L2 is the last cache there."""
    properties = SimpleNamespace(name="NVIDIA H200", major=9, minor=0, total_memory=1 << 37, L2_cache_size=60 << 20)

    found = seen(monkeypatch, torch_with(properties, cuda="13.0"))

    assert (found.backend, found.arch) == ("cuda", "sm_90")
    assert found.limits == MachinePeaks(cache_bytes=60 << 20, source={"cache_bytes": "the driver"})


@pytest.mark.parametrize(
    ("build", "words"), [({}, "built for the CPU only"), ({"hip": "7.0"}, "HIP_VISIBLE_DEVICES=''")]
)
def test_why_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch, build: dict[str, str], words: str) -> None:
    """A torch for the CPU, or GPUs hidden by the environment."""
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "")

    with pytest.raises(KprofError, match="no GPU that torch") as caught:
        seen(monkeypatch, torch_with(None, **build))

    assert words in caught.value.message
