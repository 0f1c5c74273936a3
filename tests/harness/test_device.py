"""What is known about a GPU."""

import pytest

from kprof.errors import KprofError
from kprof.harness.bench_document import Limits
from kprof.harness.device import known_limits, limit_type, with_given


def test_mi300x_has_its_published_peaks() -> None:
    """AMD's data sheet: 5.3 TB/s, 1307.4 TFLOP/s in fp16, 2614.9 in fp8, a 256 MB Infinity Cache."""
    limits = known_limits("AMD Instinct MI300X")

    assert limits.memory_gbs == 5300
    assert (limits.tflops["fp16"], limits.tflops["fp8"]) == (1307.4, 2614.9)
    assert limits.cache_bytes == 256 << 20
    assert "MI300X" in limits.source["memory_gbs"]


def test_unknown_product_has_no_limits() -> None:
    """Nothing is invented."""
    assert known_limits("NVIDIA H200") == Limits()


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
        with_given(Limits(), given)


def test_all_eight_bit_floats_share_a_peak() -> None:
    """The matrix unit does not care which of the formats it is."""
    assert {limit_type(t) for t in ("fp8e4b8", "fp8e4nv", "fp8e5")} == {"fp8"}
    assert limit_type("bf16") == "bf16"
