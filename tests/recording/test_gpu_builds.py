"""A torch that was built for a GPU, on a machine without one: it has a guard and kernels of its own."""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest

from kprof.recording import torch_guard
from kprof.recording.operator_tally import OperatorTally
from kprof.recording.torch_operators import DeviceOperators
from kprof.simulation.patches import Patches

torch = pytest.importorskip("torch")


@pytest.fixture
def registry() -> Iterator[ctypes.Array]:
    """Torch's device guards, by device type; put back afterwards."""
    library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libc10.so"))
    guards = (ctypes.c_void_p * 2).in_dll(library, "_ZN3c104impl26device_guard_impl_registryE")
    before = list(guards)
    yield guards
    guards[0], guards[1] = before


@pytest.mark.parametrize("own", [None, 0x1000], ids=["none", "one that asks a driver"])
def test_the_guard_of_the_gpu_is_the_cpus(registry, own):
    """For as long as a program is recorded, whether torch has one of its own or not."""
    registry[1] = own
    remove = torch_guard.install()
    assert registry[1] == registry[0]
    remove()
    assert registry[1] == own


def test_a_kernel_that_is_gone_is_not_called(monkeypatch):
    """Torch's own is left in its place, which would ask a driver."""
    patches, operators = Patches(), DeviceOperators(lambda: OperatorTally(lambda *_: 0, lambda: 0))
    monkeypatch.setattr(operators, "_has", lambda _name, _key: True)
    operators.install(patches)
    try:
        named = torch.library.Library("kprof_gone", "DEF")
        named.define("f(Tensor x) -> Tensor")
        named.define("g(Tensor x) -> Tensor")
        library = torch.library.Library("kprof_gone", "IMPL")
        library.impl("f", lambda x: x, "CUDA")
        assert operators.key(torch.ops.kprof_gone.f.default) == torch._C.DispatchKey.CUDA
        assert operators.key(torch.ops.kprof_gone.g.default) is None
        library._destroy()
        assert operators.key(torch.ops.kprof_gone.f.default) is None
    finally:
        operators.remove()
        patches.undo()
