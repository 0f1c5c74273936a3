"""The driver that Triton finds: it describes the simulated GPU, and loads and launches nothing."""

from collections.abc import Callable, Sequence
from typing import Any

from kprof.simulation.gpu import SimulatedGpu


class _Answers:
    """Methods that are the same for every GPU driver of Triton."""

    get_current_device: Callable[[], int]
    bench: Any

    def get_device_interface(self) -> Any:
        import torch

        return torch.cuda

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cuda", self.get_current_device())

    def get_benchmarker(self) -> Any:
        return self.bench

    def map_python_to_cpp_type(self, ty: str) -> str:
        return "hipDeviceptr_t" if ty.startswith("*") else ty

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        del tensormaps_info
        return args

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(1, dtype=torch.int, device=self.get_active_torch_device())

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        del alignment, stream
        import torch

        return torch.empty(size, dtype=torch.int8, device=self.get_active_torch_device())


def make_driver(device: SimulatedGpu, current: Callable[[], int], stream: Callable[[int], int], bench: Any) -> Any:
    """Return a driver for Triton.

    Args:
        device: the GPU to simulate.
        current: returns the index of the current device.
        stream: returns the current stream of a device.
        bench: replacement for ``do_bench``.
    """
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase

    target = GPUTarget("hip", device.arch, device.wavefront_size)

    class RecordingDriver(_Answers, DriverBase):  # type: ignore[misc]
        """Replacement for Triton's HIP driver."""

        def __init__(self) -> None:
            self.utils = _Utilities(device)
            self.bench = bench
            self.launcher_cls = _no_launcher
            self.get_current_device = current
            self.get_current_stream = stream
            self.set_current_device = _set_device
            self.get_device_capability = lambda _index=None: device.capability

        @staticmethod
        def is_active() -> bool:
            return True

        def get_current_target(self) -> Any:
            return target

    return RecordingDriver()


def class_of(driver: Any) -> Any:
    """Return a replacement for the driver's class in Triton's list of backends, which always creates this driver."""

    class Always:
        """Replacement for Triton's ``HIPDriver``."""

        is_active = staticmethod(driver.is_active)

        def __new__(cls) -> Any:
            return driver

    return Always


class _Utilities:
    """Replacement for the driver's ``utils``, which libraries use."""

    def __init__(self, device: SimulatedGpu) -> None:
        self._device = device

    def get_device_properties(self, index: int = 0) -> dict[str, Any]:
        """Return the simulated GPU's properties, in the form of Triton's HIP driver."""
        del index
        device = self._device
        return {
            "max_shared_mem": device.lds_bytes,
            "max_num_regs": device.registers_per_cu,
            "multiprocessor_count": device.compute_units,
            "sm_clock_rate": device.clock_mhz * 1000,
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
            "arch": device.full_arch,
            "warpSize": device.wavefront_size,
            "max_threads_per_sm": device.threads_per_cu,
            "cooperativeLaunch": 1,
        }

    def load_binary(self, name: str, kernel: Any, shared: int, index: int) -> Sequence[int]:
        """Return handles of zero, no registers or spills, and the largest workgroup, without loading anything."""
        del name, kernel, shared, index
        return (0, 0, 0, 0, 1024)

    def unload_module(self, module: Any) -> None:
        """Do nothing, because nothing was loaded."""


def _set_device(index: Any) -> None:
    import torch

    torch.cuda.set_device(index)


def _no_launcher(source: Any, metadata: Any) -> Callable[..., None]:
    del source, metadata

    def launch(*_args: Any) -> None:
        """Do nothing: kernels that were compiled outside of the recording do not run either."""

    return launch
