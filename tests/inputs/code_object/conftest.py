"""Tools shared by the tests of the code object reader."""

import shutil

import pytest


def _tool(name: str) -> str:
    for candidate in (f"{name}-22", f"{name}-21", f"{name}-20", f"{name}-19", name):
        found = shutil.which(candidate)
        if found is not None:
            return found
    return pytest.skip(f"{name} is not installed")


@pytest.fixture(scope="session")
def llvm_mc() -> str:
    """Newest llvm-mc installed."""
    return _tool("llvm-mc")


@pytest.fixture(scope="session")
def llvm_objdump() -> str:
    """Newest llvm-objdump installed."""
    return _tool("llvm-objdump")
