"""Fixtures for the tests of the API."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GFX942 = Path(__file__).parents[1] / "artifacts" / "gfx942"


@pytest.fixture
def run(kprof: Callable[..., Any]) -> Callable[..., Any]:
    """The ``kprof`` program, under a name that leaves ``kprof`` to the module."""
    return kprof


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """A kernel as it lies in Triton's cache: assembly with its metadata."""
    path = tmp_path / "kernel" / "matmul.amdgcn"
    path.parent.mkdir()
    shutil.copy(GFX942 / "matmul.triton-3.9.0.amdgcn", path)
    metadata = {"name": "matmul", "num_warps": 4, "shared": 16384, "triton_version": "3.9.0"}
    path.with_suffix(".json").write_text(json.dumps(metadata))
    return path
