"""Replacement for the Python package ``amdsmi``, which libraries query to choose their code for AMD GPUs."""

import sys
from collections.abc import Callable
from enum import Enum
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from kprof.simulation.gpu import SimulatedGpu

NAME = "amdsmi"


class AmdSmiException(Exception):  # noqa: N818  # its name in amdsmi
    """Exception that functions of ``amdsmi`` raise."""


class AmdSmiMemoryType(Enum):
    """Kinds of memory to query."""

    VRAM = 0
    VIS_VRAM = 1
    GTT = 2


def install(gpu: SimulatedGpu) -> Callable[[], None]:
    """Replace ``amdsmi``, installed or not, by a module that reports one GPU; return a function that undoes this.

    Functions that are not simulated are missing from the module, so a program's own fallback runs.
    """
    before = sys.modules.get(NAME)
    sys.modules[NAME] = _module(gpu)

    def remove() -> None:
        if before is None:
            sys.modules.pop(NAME, None)
        else:
            sys.modules[NAME] = before

    return remove


def _module(gpu: SimulatedGpu) -> ModuleType:
    handle = object()

    def memory(_handle: Any, kind: AmdSmiMemoryType) -> int:
        return 0 if kind is AmdSmiMemoryType.GTT else gpu.memory_bytes

    def link(*_handles: Any) -> Any:
        raise AmdSmiException("there is one GPU")

    answers: dict[str, Callable[..., Any]] = {
        "amdsmi_init": lambda *_flags: None,
        "amdsmi_shut_down": lambda: None,
        "amdsmi_get_processor_handles": lambda: [handle],
        "amdsmi_get_gpu_asic_info": lambda _handle: _asic(gpu),
        "amdsmi_get_gpu_device_uuid": lambda _handle: "00000000-0000-0000-0000-000000000000",
        "amdsmi_get_gpu_device_bdf": lambda _handle: "0000:00:00.0",
        "amdsmi_get_gpu_memory_total": memory,
        "amdsmi_get_gpu_memory_usage": lambda _handle, _kind: 0,
        "amdsmi_topo_get_numa_node_number": lambda _handle: 0,
        "amdsmi_topo_get_link_type": link,
    }
    module = ModuleType(NAME, __doc__)
    module.__spec__ = ModuleSpec(NAME, None)
    vars(module).update(answers, AmdSmiException=AmdSmiException, AmdSmiMemoryType=AmdSmiMemoryType)
    return module


def _asic(gpu: SimulatedGpu) -> dict[str, Any]:
    """Return the GPU's data as ``amdsmi_get_gpu_asic_info`` does. PCI numbers are unknown: the simulation has none."""
    unknown = "N/A"
    return {
        "market_name": gpu.name,
        "vendor_id": "0x1002",
        "vendor_name": "Advanced Micro Devices Inc. [AMD/ATI]",
        "subvendor_id": "0x1002",
        "device_id": unknown,
        "rev_id": unknown,
        "asic_serial": unknown,
        "oam_id": unknown,
        "num_compute_units": gpu.compute_units,
        "target_graphics_version": gpu.arch,
    }
