"""Patch ``torch.cuda`` and related modules to answer for the simulated GPU."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kprof.recording import torch_random, torch_streams
from kprof.recording.device_memory import MEMORY
from kprof.simulation.gpu import HIP_VERSION, torch_properties

if TYPE_CHECKING:
    from kprof.recording.torch_device import StandInDevice

_NOTHING = (
    "init", "_lazy_init", "synchronize", "ipc_collect", "empty_cache", "reset_max_memory_cached",
    "reset_accumulated_memory_stats",
    "set_per_process_memory_fraction", "_sleep", "set_sync_debug_mode",
)  # fmt: skip
_ZERO = (
    "memory_reserved", "max_memory_reserved", "memory_cached", "max_memory_cached", "device_memory_used",
    "memory_usage", "utilization", "temperature", "power_draw", "get_sync_debug_mode",
)  # fmt: skip
_TRUE = ("is_available", "is_initialized", "_is_compiled", "is_bf16_supported")


def install(device: "StandInDevice") -> None:
    """Patch ``torch.cuda``, ``torch.version``, ``torch.accelerator`` and ``torch.distributed``."""
    import torch

    patches = device.patches
    _versions(device)
    patches.update(torch.cuda, {name: _constant(None) for name in _NOTHING if hasattr(torch.cuda, name)})
    patches.update(torch.cuda, {name: _constant(0) for name in _ZERO if hasattr(torch.cuda, name)})
    patches.update(torch.cuda, {name: _constant(True) for name in _TRUE if hasattr(torch.cuda, name)})
    patches.update(torch.cuda, _device(device))
    patches.update(torch.cuda, _memory(device))
    torch_random.install(device)
    patches.update(torch.cuda, torch_streams.answers(device))
    if getattr(torch.cuda, "_initialized", None) is False:
        patches.set(torch.cuda, "_initialized", True)
    if hasattr(torch.cuda, "nvtx"):
        patches.update(
            torch.cuda.nvtx, {"range_push": _constant(0), "range_pop": _constant(0), "mark": _constant(None)}
        )
    # Inductor and Triton call these C++ functions directly.
    for name, answer in (
        ("_cuda_getCurrentRawStream", device.raw_stream),
        ("_cuda_getDeviceCount", _count),
        ("_cuda_getDevice", device.current_index),
        ("_cuda_setDevice", device.set_index),
        ("_cuda_synchronize", _constant(None)),
    ):
        patches.set(torch._C, name, answer)  # noqa: SLF001
    _allocation(device)
    _accelerator(device)
    _distributed(device)


def _allocation(device: "StandInDevice") -> None:
    """Patch the allocation function of Inductor's generated code, which bypasses all operators."""
    import torch

    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)  # noqa: SLF001
    if guards is None or not hasattr(guards, "_empty_strided_cuda"):
        return

    def empty_strided(size: Any, stride: Any, dtype: Any) -> Any:
        return torch.empty_strided(size, stride, dtype=dtype, device="cuda")

    device.patches.set(guards, "_empty_strided_cuda", empty_strided)


def _constant(value: Any) -> Callable[..., Any]:
    def answer(*_args: Any, **_kwargs: Any) -> Any:
        return value

    return answer


def _own(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def _count() -> int:
    """Return the number of devices: one for each process of a distributed program on this machine."""
    text = os.environ.get("LOCAL_WORLD_SIZE", "1")
    return max(1, int(text)) if text.isdigit() else 1


def _versions(device: "StandInDevice") -> None:
    import torch

    device.patches.set(torch.version, "hip", HIP_VERSION)
    if hasattr(torch.version, "rocm"):
        device.patches.set(torch.version, "rocm", HIP_VERSION)
    device.patches.set(torch.version, "cuda", None)


def _device(device: "StandInDevice") -> dict[str, Any]:
    gpu = device.gpu

    class CurrentDevice:
        """Replacement for ``torch.cuda.device``: makes a device current inside a context."""

        def __init__(self, target: Any) -> None:
            self.idx = device.index_of(target)
            self.prev_idx = -1

        def __enter__(self) -> None:
            self.prev_idx = device.set_index(-1 if self.idx is None else self.idx)

        def __exit__(self, *_: object) -> None:
            device.set_index(self.prev_idx)

    class CurrentOf(CurrentDevice):
        """Replacement for ``torch.cuda.device_of``."""

        def __init__(self, tensor: Any) -> None:
            super().__init__(tensor.device)

    def set_device(target: Any) -> None:
        index = device.index_of(target)
        if index is not None:
            device.set_index(index)

    return {
        "device": CurrentDevice,
        "_DeviceGuard": CurrentDevice,
        "device_of": CurrentOf,
        "set_device": set_device,
        "current_device": device.current_index,
        "_exchange_device": _own(device.set_index),
        "_maybe_exchange_device": _own(device.set_index),
        "device_count": _count,
        "get_device_name": _constant(gpu.name),
        "get_device_capability": _constant(gpu.capability),
        "get_device_properties": _constant(torch_properties(gpu)),
        "get_arch_list": lambda: [gpu.arch],
        "can_device_access_peer": _constant(True),
        "is_tf32_supported": _constant(False),
    }


def _memory(device: "StandInDevice") -> dict[str, Any]:
    from collections import defaultdict

    total = device.gpu.memory_bytes

    def of(answer: Callable[[int], Any]) -> Callable[..., Any]:
        def asked(target: Any = None) -> Any:
            index = device.current_index() if target is None else device.index_of(target)
            return answer(device.current_index() if index is None else index)

        return asked

    return {
        "memory_allocated": of(MEMORY.now),
        "max_memory_allocated": of(MEMORY.peak),
        "reset_peak_memory_stats": of(MEMORY.reset),
        "reset_max_memory_allocated": of(MEMORY.reset),
        "mem_get_info": _constant((total, total)),
        "memory_stats": lambda *_args: defaultdict(int),
        "memory_summary": _constant(""),
        "memory_snapshot": lambda *_args: [],
        "list_gpu_processes": _constant(""),
    }


def _accelerator(device: "StandInDevice") -> None:
    import torch

    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    values = {
        "is_available": _constant(True),
        "device_count": _count,
        "current_accelerator": lambda *_args, **_kwargs: torch.device("cuda"),
        # Dynamo distinguishes functions by identity, so each name needs its own function.
        "current_device_index": _own(device.current_index),
        "current_device_idx": _own(device.current_index),
        "set_device_index": _own(torch.cuda.set_device),
        "set_device_idx": _own(torch.cuda.set_device),
        "current_stream": _own(torch.cuda.current_stream),
        "set_stream": _own(torch.cuda.set_stream),
        "synchronize": _constant(None),
        "empty_cache": _constant(None),
        "device_index": torch.cuda.device,
    }
    device.patches.update(accelerator, {name: value for name, value in values.items() if hasattr(accelerator, name)})


def _distributed(device: "StandInDevice") -> None:
    """Connect processes through gloo instead of RCCL, because their tensors are in CPU memory."""
    import torch

    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available():
        return
    from torch.distributed import distributed_c10d

    def over_gloo(plain: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            args = tuple("gloo" if isinstance(a, str) and "nccl" in a else a for a in args)
            if "nccl" in str(kwargs.get("backend")):
                kwargs["backend"] = "gloo"
            kwargs.pop("device_id", None)
            return plain(*args, **kwargs)

        return call

    for owner in (distributed, distributed_c10d):
        for name in ("init_process_group", "new_group"):
            if hasattr(owner, name):
                device.patches.set(owner, name, over_gloo(getattr(owner, name)))
        device.patches.set(owner, "is_nccl_available", _constant(True))
