"""``kprof.occupancy``."""

import json
from collections.abc import Callable
from typing import Any

import pytest

import kprof
from kprof.errors import HardwareError, KprofError


def test_one_kernel_answers_directly() -> None:
    found = kprof.occupancy(arch="gfx942", vgpr=168, lds=32768, num_warps=4)

    # 168 VGPRs: 512 / 168 = 3 wavefronts a SIMD; LDS: two workgroups of 32 KiB in 64 KiB, a wavefront of each a SIMD.
    assert (found.waves_per_simd, found.limiter) == (2.0, "lds")
    assert found.kernels[0].occupancy.limits["vgpr"] == 3
    assert found.ok


def test_several_architectures_have_no_single_answer() -> None:
    found = kprof.occupancy(arch=["gfx942", "gfx950"], vgpr=128)

    assert [kernel.arch for kernel in found.kernels] == ["gfx942", "gfx950"]
    with pytest.raises(KprofError, match="2 kernels"):
        _ = found.waves_per_simd


def test_the_document_is_the_commands(run: Callable[..., Any]) -> None:
    written = run(
        "occupancy", "--arch", "gfx942,MI250X", "--vgpr", 100, "--lds", "32K", "--curve", "vgpr", "--json", "-"
    )

    found = kprof.occupancy(arch="gfx942,MI250X", vgpr=100, lds="32K", curve="vgpr")

    assert json.loads(found.to_json()) == json.loads(written.out)


def test_a_launch_that_cannot_be_is_told() -> None:
    found = kprof.occupancy(arch="gfx942", vgpr=128, lds=65537)

    assert not found.ok
    assert found.summary.startswith("gfx942: cannot launch")


def test_the_frame_has_a_row_a_kernel() -> None:
    frame = kprof.occupancy(arch="gfx942,gfx1100", vgpr=128, lds=0).to_frame()

    assert list(frame["arch"]) == ["gfx942", "gfx1100"]
    assert list(frame["vgpr"]) == [128, 128]
    assert frame["product"].isna().all()
    assert frame["waves_per_simd"].tolist() == [
        k.occupancy.waves_per_simd for k in kprof.occupancy(arch="gfx942,gfx1100", vgpr=128).kernels
    ]


def test_what_is_wrong_is_told_by_kind() -> None:
    with pytest.raises(HardwareError, match="no architecture"):
        kprof.occupancy(arch="gfx0", vgpr=3)
    with pytest.raises(KprofError, match="--vgpr is missing"):
        kprof.occupancy(arch="gfx942")
    with pytest.raises(KprofError, match="--lds takes bytes"):
        kprof.occupancy(arch="gfx942", vgpr=3, lds="much")


def test_the_notebook_shows_the_numbers() -> None:
    html = kprof.occupancy(arch="gfx942", vgpr=128, lds="32K")._repr_html_()

    assert "2 / 8" in html
    assert "<script" not in html
