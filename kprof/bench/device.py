"""Describe the GPU of this process: its name, its limits, or why there is none."""

import os
from collections.abc import Mapping
from typing import Any

from kprof.bench.document import Device, MachinePeaks
from kprof.errors import HardwareError, KprofError
from kprof.hardware.machine import find_product

UNKNOWN_CACHE_BYTES = 256 << 20
"""Assumed size of the last-level cache if it is not known: the largest of any product known here (MI300X)."""

_PEAKS = {
    "fp64": ("matrix_fp64", "valu_fp64"),
    "fp32": ("matrix_fp32", "valu_fp32_packed", "valu_fp32"),
    "fp16": ("matrix_fp16",),
    "bf16": ("matrix_bf16", "matrix_fp16"),
    "fp8": ("matrix_fp8",),
    "i8": ("matrix_i8", "matrix_fp8"),
}


def use(gpu: int) -> None:
    """Select the GPU that this process works on.

    Args:
        gpu: index from 0 among the GPUs that torch sees.

    Raises:
        KprofError: torch is missing or sees fewer GPUs.
    """
    torch = _torch()
    count = torch.cuda.device_count()
    if gpu and gpu >= count:
        raise HardwareError(f"no GPU {gpu}: torch {torch.__version__} can use {count} here{_why(torch)}")
    if gpu:
        torch.cuda.set_device(gpu)


def describe(gpu: int = 0) -> Device:
    """Describe one of the GPUs that torch sees.

    Raises:
        KprofError: torch or Triton is missing, or torch can use no GPU.
    """
    torch = _torch()
    if not torch.cuda.is_available():
        raise HardwareError(f"no GPU that torch {torch.__version__} can use here{_why(torch)}")
    properties = torch.cuda.get_device_properties(gpu)
    versions = {"torch": str(torch.__version__), "triton": _triton_version()}
    backend = "rocm" if torch.version.hip else "cuda"
    versions["hip" if torch.version.hip else "cuda"] = str(torch.version.hip or torch.version.cuda)
    arch = str(getattr(properties, "gcnArchName", "")).partition(":")[0]
    if backend == "cuda":
        arch = f"sm_{properties.major}{properties.minor}"
    limits = known_limits(properties.name) if backend == "rocm" else MachinePeaks()
    # On ROCm the driver reports the size of L2, behind which there may be a larger cache.
    if backend == "cuda" and (cache := getattr(properties, "L2_cache_size", 0)):
        source = {**limits.source, "cache_bytes": "the driver"}
        limits = MachinePeaks(limits.memory_gbs, limits.tflops, int(cache), source)
    memory = int(properties.total_memory)
    name = str(properties.name)
    return Device(name, "rocm" if torch.version.hip else "cuda", arch, versions, memory, limits)


def known_limits(name: str) -> MachinePeaks:
    """Return an AMD product's limits from kprof's hardware data; for an unknown product all limits are missing.

    Args:
        name: the product's name in the driver, for example ``AMD Instinct MI300X``.
    """
    product = find_product(name)
    if product is None:
        return MachinePeaks()
    tflops = {}
    for dtype, names in _PEAKS.items():
        peak = next((product.peaks[n] for n in names if n in product.peaks), None)
        if peak is not None:
            tflops[dtype] = peak
    memory = product.memory.get("hbm")
    last = next((product.memory[n] for n in ("mall", "l2") if n in product.memory), None)
    return MachinePeaks(
        memory_gbs=memory.bandwidth_gbs if memory else None,
        tflops=tflops,
        cache_bytes=last.size_bytes if last else None,
        source=dict.fromkeys(("memory_gbs", "tflops", "cache_bytes"), f"kprof's hardware data on {product.name}"),
    )


def with_given(limits: MachinePeaks, given: Mapping[str, Any]) -> MachinePeaks:
    """Return limits overridden by a user's figures: ``gbs=4800``, ``fp16=990`` (in 1e12 operations per second).

    Raises:
        KprofError: an unknown name, or a figure that is not a positive number.
    """
    tflops, source, memory = dict(limits.tflops), dict(limits.source), limits.memory_gbs
    for name, value in given.items():
        if name not in {"gbs", *_PEAKS}:
            raise KprofError(f"no limit {name!r}", hint=f"the limits are gbs, {', '.join(_PEAKS)}")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise KprofError(f"the limit {name} is not a positive number: {value!r}")
        source["memory_gbs" if name == "gbs" else f"tflops {name}"] = "given"
        if name == "gbs":
            memory = float(value)
        else:
            tflops[name] = float(value)
    return MachinePeaks(memory, tflops, limits.cache_bytes, source)


def measured_limits(device: Device) -> MachinePeaks:
    """Return limits, measuring those that are not known: a 2 GiB copy, and 8192-sized matrix products in fp16 and bf16.

    torch's results are a lower bound of the machine's limits, so percentages of them can exceed 100.
    """
    from kprof.bench.timing import time_calls

    torch = _torch()
    limits = device.limits
    memory, tflops, source = limits.memory_gbs, dict(limits.tflops), dict(limits.source)
    if memory is None:
        size = min(2 << 30, device.memory_bytes // 8)
        buffers = [{"x": torch.randint(0, 255, (size,), dtype=torch.uint8, device="cuda")}]
        timing = time_calls(lambda b: b["x"].clone(), buffers, warmup_ms=20, rep_ms=60, use_graph=False)
        memory, source["memory_gbs"] = 2 * size / timing.median / 1e6, "measured: torch copy"
        del buffers
    for name, dtype in (("fp16", torch.float16), ("bf16", torch.bfloat16)):
        if name in tflops:
            continue
        pair = [{k: torch.randn(8192, 8192, device="cuda", dtype=dtype) for k in "ab"}]
        timing = time_calls(lambda p: p["a"] @ p["b"], pair, warmup_ms=30, rep_ms=60, use_graph=False)
        tflops[name], source[f"tflops {name}"] = 2 * 8192**3 / timing.median / 1e9, "measured: torch matmul 8192"
        del pair
    torch.cuda.empty_cache()
    return MachinePeaks(memory, tflops, limits.cache_bytes, source)


def limit_type(dtype: str) -> str:
    """Return the key of an element type in :class:`MachinePeaks`: ``fp8`` for every 8-bit float."""
    return "fp8" if dtype.startswith("fp8") else dtype


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        hint = "install torch for ROCm (or CUDA): https://pytorch.org/get-started/locally"
        raise HardwareError(f"torch is needed to run kernels on a GPU: {error}", hint=hint) from error
    return torch


def _triton_version() -> str:
    try:
        import triton
    except ImportError as error:
        raise HardwareError(f"Triton is needed to run kernels: {error}", hint="pip install triton") from error
    return str(triton.__version__)


def _why(torch: Any) -> str:
    if not torch.version.hip and not torch.version.cuda:
        return ": this torch was built for the CPU only"
    hidden = [f"{n}={os.environ[n]!r}" for n in ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")
              if n in os.environ]  # fmt: skip
    return f" ({', '.join(hidden)})" if hidden else ""
