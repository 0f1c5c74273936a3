"""The makers of made-up measurements."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def _module(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"measured_{path.stem}", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def making() -> ModuleType:
    """``making.py``: counter files."""
    return _module(HERE / "making.py")


@pytest.fixture(scope="session")
def builder() -> ModuleType:
    """The builder of Kineto traces."""
    return _module(HERE.parents[2] / "artifacts" / "kineto" / "builder.py")
