"""What the installed Triton says of its environment switches."""

import pytest

from kprof.compiler.switches import switches
from kprof.compiler.versions import CODE_SWITCHES, installed
from kprof.hardware.machine import load

pytestmark = pytest.mark.triton


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AMDGCN_USE_BUFFER_OPS", "TRITON_HIP_USE_ASYNC_COPY", "TRITON_HIP_USE_BLOCK_PINGPONG"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("arch", ["gfx90a", "gfx942", "gfx950"])
def test_triton_and_the_table_agree(arch: str) -> None:
    said = switches(arch)
    known = {name: load(arch).triton.is_on(name, installed().numbers) for name in CODE_SWITCHES}
    assert {name: said[name] for name in known} == known


def test_a_variable_that_is_set_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMDGCN_USE_BUFFER_OPS", "0")
    monkeypatch.setenv("TRITON_HIP_USE_BLOCK_PINGPONG", "1")
    monkeypatch.setenv("TRITON_HIP_USE_ASYNC_COPY", "0")
    said = switches("gfx90a")
    assert (said["AMDGCN_USE_BUFFER_OPS"], said["TRITON_HIP_USE_BLOCK_PINGPONG"]) == (False, True)
    assert said["TRITON_HIP_USE_ASYNC_COPY"] is False


def test_only_switches_of_code_are_named() -> None:
    assert not [name for name in switches("gfx942") if "DUMP" in name or "PATH" in name]
