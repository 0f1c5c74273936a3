"""Traces made for the tests, and where the published ones lie."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).resolve()
SAMPLES = HERE.parents[5] / "shared" / "samples"


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("kineto_builder", HERE.parents[3] / "artifacts/kineto/builder.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def kineto() -> ModuleType:
    """The builder's module: ``kineto.Builder()``, ``kineto.small_model(builder)``."""
    return _load()


@pytest.fixture
def samples() -> Path:
    """Published traces; skipped where a clone has none."""
    if not SAMPLES.is_dir():
        pytest.skip("the published samples (../shared/samples) are not here")
    return SAMPLES
