"""Fixtures of the MLIR reader's tests."""

from pathlib import Path

import pytest

from tests.compiler.conftest import matmul_request, pool  # noqa: F401

ARTIFACTS = Path(__file__).resolve().parents[2] / "artifacts" / "mlir"
LDS = {
    "matmul.gfx942.stages2.triton-3.4": 8192,
    "matmul.gfx942.stages3.triton-3.4": 16384,
    "matmul.gfx942.stages2.triton-3.6": 8192,
    "matmul.gfx942.stages3.triton-3.6": 16384,
    "matmul.gfx942.stages2.triton-3.9": 8192,
    "matmul.gfx942.stages3.triton-3.9": 16384,
    "matmul.gfx950.stages3.triton-3.9": 25456,
    "matmul.gfx1201.stages2.triton-3.9": 8192,
    "matmul.gfx1250.stages2.triton-3.9": 17872,
}
TTGIR = sorted(LDS)
TTIR = [f"matmul.triton-{version}" for version in ("3.4", "3.6", "3.9")]


def text(name: str) -> str:
    """The text of an artifact, by its name without suffix."""
    suffix = ".ttgir" if name in LDS else ".ttir"
    return (ARTIFACTS / (name + suffix)).read_text()


@pytest.fixture(params=TTGIR)
def ttgir(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Name and text of each TTGIR artifact."""
    return request.param, text(request.param)
