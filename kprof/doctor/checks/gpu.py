"""Checks of the GPUs, their driver, and their settings."""

import re
from collections import Counter
from pathlib import Path

from kprof.doctor.check import Seen, check, fail, ok, unknown, warn
from kprof.doctor.host import Host
from kprof.doctor.settings import settings, wanted_by
from kprof.doctor.versions import copies
from kprof.errors import KprofError
from kprof.inputs.gpu_report import ReportedGpu

_TORCH = "pip install torch"
_COMPUTE = settings()["current_compute_partition"]
_MEMORY = settings()["current_memory_partition"]
_LEVEL = wanted_by("performance-level")
_GOOD = {_LEVEL.rules[0].value, *_LEVEL.rules[0].also}
_SLOW = {"low", "profile_min_sclk", "profile_min_mclk"}
_KNOWN = {*_GOOD, *_SLOW, "manual", "profile_standard", "profile_exit"}
_SPEED = re.compile(r"(\d{1,3}(?:\.\d)?) GT/s")


@check(
    "cuda-gpu",
    "gpu",
    needs_cuda_gpu=True,
    why="kprof bench checks kernels on a CUDA GPU against their reference; times there are not those of an AMD GPU.",
)
def cuda_gpu(machine: Host) -> Seen:
    """Check whether ``kprof bench`` can use NVIDIA GPUs, to check kernels on a machine without an AMD GPU."""
    found = machine.cuda_gpus
    words = ", ".join(f"{found.count(name)} x {name}" for name in dict.fromkeys(found))
    files = [path for path in machine.entries("/dev", "nvidia") if path.name[6:].isdecimal()]
    if not files or not machine.at("/dev/nvidiactl").exists():
        fix = ("in a container: docker run --gpus all ...", "else: sudo modprobe nvidia")
        return warn(f"{words}, but no /dev/nvidia0 and /dev/nvidiactl", *fix)
    if not all(machine.usable(path) for path in (*files, machine.at("/dev/nvidiactl"))):
        return warn(f"{words}, but this user may not open /dev/nvidia*", "see who may use them: ls -l /dev/nvidia*")
    hidden = machine.environment.get("CUDA_VISIBLE_DEVICES")
    if hidden is not None and hidden.strip() in {"", "-1"}:
        return warn(f"{words}, hidden by CUDA_VISIBLE_DEVICES={hidden}", "unset CUDA_VISIBLE_DEVICES")
    return _cuda_software(machine, words)


def _cuda_software(machine: Host, words: str) -> Seen:
    """Check that torch and Triton are built for CUDA."""
    torch = copies(machine, "torch", "version.py", ("torch",))
    if not torch:
        return warn(f"{words}, but no torch", _TORCH)
    if "hip" in torch[0].values and machine.has_gpu:
        return ok(f"{words}, not used: torch is built for ROCm")
    if "cuda" not in torch[0].values:
        return warn(f"{words}, but torch {torch[0].version} cannot use it", "pip uninstall -y torch", _TORCH)
    triton = copies(machine, "triton", "__init__.py", ("triton",))
    if not triton or not (triton[0].folder / "backends" / "nvidia").is_dir():
        missing, again = ("Triton's NVIDIA backend", "--force-reinstall ") if triton else ("Triton", "")
        return warn(f"{words}, but no {missing}", f'pip install {again}"triton>=3.4"')
    return ok(f"{words}, for checking kernels with kprof bench")


@check("device-access", "gpu", needs_gpu=True, why="Kernels are started through /dev/kfd and /dev/dri/renderD*.")
def device_access(machine: Host) -> Seen:
    """Check that this user may use ``/dev/kfd`` and the GPUs' files in ``/dev/dri``."""
    files = ["/dev/kfd", *(f"/dev/dri/{gpu.render}" for gpu in machine.gpus if gpu.render)]
    missing = [file for file in files if not machine.at(file).exists()]
    if missing:
        container = "docker run --device=/dev/kfd --device=/dev/dri --group-add video --group-add render ..."
        return fail(f"{_some(missing)} missing", f"in a container: {container}", "else: sudo modprobe amdgpu")
    closed = [file for file in files if not machine.usable(machine.at(file))]
    if closed:
        return fail(
            f"{_some(closed)} not accessible to this user", "sudo usermod -aG render,video $USER", "log in again"
        )
    return ok(f"/dev/kfd and {len(files) - 1} in /dev/dri")


def _some(files: list[str]) -> str:
    left = len(files) - 2
    return f"{', '.join(files[:2])}{f' and {left} more' if left > 0 else ''}"


@check(
    "driver",
    "gpu",
    needs_gpu=True,
    why="The driver schedules kernels and sets clocks; its version is part of every measurement.",
)
def driver(machine: Host) -> Seen:
    """Check the amdgpu kernel module, and report its version and the Linux kernel's version."""
    kernel = (machine.text("/proc/sys/kernel/osrelease") or "unknown")[:60]
    if not machine.at("/sys/module/amdgpu").is_dir():
        return fail(f"amdgpu is not loaded (Linux {kernel})", "sudo modprobe amdgpu")
    version = machine.text("/sys/module/amdgpu/version")
    # A driver without a version number is part of the Linux kernel; only ROCm's driver has a version number.
    return ok(f"amdgpu {version[:40]}, Linux {kernel}" if version else f"amdgpu of Linux {kernel}")


@check("gpu", "gpu", needs_gpu=True, why="A GPU that the compute driver does not list cannot run kernels.")
def gpu_listed(machine: Host) -> Seen:
    """Check that the compute driver lists all GPUs that are found on the PCI bus."""
    listed = machine.gpus
    if not listed:
        return fail(f"{machine.on_the_bus} on the bus, none in the driver", "sudo modprobe amdgpu")
    archs = sorted({gpu.arch for gpu in listed})
    words = f"{len(listed)} of {', '.join(arch or 'an unknown architecture' for arch in archs)}"
    if "" in archs:
        return unknown(words)
    return _not_modelled(words, archs) or ok(words)


@check(
    "reported-gpus",
    "gpu",
    needs_report=True,
    why="Predictions and published times are for the whole GPU; a partition has a share of its CUs.",
)
def reported_gpus(machine: Host) -> Seen:
    """Check the GPUs in the output of rocminfo or amd-smi: architectures, compute units and partitions."""
    counts = Counter(gpu.words for gpu in machine.reported)
    words = ", ".join(f"{count} x {name}" if count > 1 else name for name, count in counts.items())
    strange = _not_modelled(words, sorted({gpu.arch for gpu in machine.reported if gpu.arch}))
    if strange:
        return strange
    parts = list(dict.fromkeys(part for gpu in machine.reported if (part := _partition(gpu))))
    if parts:
        return warn(f"{words}: {'; '.join(parts)}")
    if any(not gpu.arch for gpu in machine.reported):
        return unknown(f"{words}: the report does not name the architecture")
    return ok(words)


def _not_modelled(words: str, archs: list[str]) -> Seen | None:
    """Return a warning about architectures without hardware data in kprof; ``None`` if all are known."""
    from kprof.hardware.machine import load

    strange = []
    for arch in archs:
        try:
            load(arch)
        except KprofError:
            strange.append(arch)
    if not strange:
        return None
    return warn(words, why=f"kprof has no hardware data for {', '.join(strange)}, so it predicts nothing for this GPU.")


def _partition(gpu: ReportedGpu) -> str:
    """Return a description of how a GPU is partitioned; empty if it is not partitioned."""
    from kprof.hardware.machine import find_product, product_in

    modes = [
        mode
        for mode, whole in ((gpu.compute_partition, "SPX"), (gpu.memory_partition, "NPS1"))
        if mode not in {"", whole}
    ]
    if modes:
        return f"partitioned as {' and '.join(modes)}"
    name = product_in(gpu.product)
    product = find_product(name) if name else None
    whole = product.compute_units if product is not None else None
    if product is not None and whole and gpu.compute_units and gpu.compute_units < whole:
        return f"{gpu.compute_units} of the {whole} CUs of an {product.name}"
    return ""


@check("partition", "gpu", needs_gpu=True, source=_COMPUTE.source, why=f"{_COMPUTE.why} {_MEMORY.why}")
def partition(machine: Host) -> Seen:
    """Check the compute and memory partition modes of GPUs with several dies."""
    modes: dict[str, str] = {}
    fixes: list[str] = []
    for name, device in machine.devices:
        compute = machine.text(device / _COMPUTE.name)
        memory = machine.text(device / _MEMORY.name)
        if compute is None and memory is None:
            continue
        modes[name] = f"{(compute or 'unknown')[:12]}/{(memory or 'unknown')[:12]}"
        for value, wanted in ((compute, _COMPUTE), (memory, _MEMORY)):
            if value is not None and not wanted.rules[0].accepts(value):
                fixes.append(wanted.fix[0].format(device=name))
    if not modes:
        if any(_divisible(gpu.arch) for gpu in machine.gpus):
            return unknown("the driver reports no mode")
        return ok("GPUs of this architecture cannot be divided")
    words = ", ".join(sorted(set(modes.values())))
    if fixes:
        return warn(words, *fixes[:8])
    return unknown(words) if "unknown" in words else ok(words)


def _divisible(arch: str) -> bool:
    """Return whether GPUs of an architecture can be partitioned; True for unknown architectures."""
    from kprof.hardware.machine import architectures, load

    if arch not in architectures():
        return True
    return any((product.xcds or 1) > 1 for product in load(arch).products.values())


@check(
    "pcie-link",
    "gpu",
    needs_gpu=True,
    source="the Linux kernel's documentation of PCI in sysfs",
    why="Copies to and from the host are slower on a narrower link; times of kernels alone are not affected.",
)
def pcie_link(machine: Host) -> Seen:
    """Compare the PCIe link's speed and width with the maximum that both ends support."""
    links: set[str] = set()
    slower = False
    for _, device in machine.devices:
        now, most = (_link_speed(machine.text(device / f"{which}_link_speed")) for which in ("current", "max"))
        width, widest = (machine.number(device / f"{which}_link_width") for which in ("current", "max"))
        if now is None or width is None:
            continue
        links.add(f"{now:g} GT/s x{width}")
        slower |= (most is not None and now < most) or (widest is not None and width < widest)
    if not links:
        return unknown("the driver does not report it")
    words = ", ".join(sorted(links))
    if slower:
        fix = "under load: cat /sys/class/drm/renderD*/device/current_link_speed"
        return warn(f"{words}, less than possible (an idle GPU may lower its link)", fix)
    return ok(words)


def _link_speed(text: str | None) -> float | None:
    found = _SPEED.match(text or "")
    return float(found[1]) if found else None


@check("performance-level", "gpu", needs_gpu=True, source=_LEVEL.source, why=_LEVEL.why)
def performance_level(machine: Host) -> Seen:
    """Check the driver's performance level, which may fix the clocks."""
    levels = {
        name: level
        for name, device in machine.devices
        if (level := machine.text(device / "power_dpm_force_performance_level")) is not None
    }
    words = ", ".join(sorted({level[:24] for level in levels.values()}))
    if not levels or not set(levels.values()) <= _KNOWN:
        return unknown(words or "the driver does not report it")
    fixes = [_LEVEL.fix[0].format(device=name) for name, level in levels.items() if level not in _GOOD]
    if set(levels.values()) & _SLOW:
        return fail(words, *fixes[:8])
    return warn(words, *fixes[:8]) if fixes else ok(words)


@check(
    "power-cap",
    "gpu",
    needs_gpu=True,
    source="the Linux kernel's documentation of amdgpu",
    why="Matrix kernels run at the clock that the power limit allows; below the usual limit they are slower.",
)
def power_cap(machine: Host) -> Seen:
    """Check whether the power limit was lowered below its default."""
    caps: list[str] = []
    fixes: list[str] = []
    for name, device in machine.devices:
        for monitor in machine.entries(device / "hwmon", "hwmon"):
            cap, usual = (machine.number(monitor / file) for file in ("power1_cap", "power1_cap_default"))
            most = machine.number(monitor / "power1_cap_max")
            usual = usual or most
            if cap is None or usual is None or cap <= 0:
                continue
            caps.append(f"{cap / 1e6:.0f} of {usual / 1e6:.0f} W")
            if cap < usual:
                fixes.append(f"echo {usual} | sudo tee {_hwmon(name, monitor)}/power1_cap")
    if not caps:
        return unknown("the driver does not report it")
    words = ", ".join(sorted(set(caps)))
    return warn(words, *fixes[:8]) if fixes else ok(words)


def _hwmon(name: str, monitor: Path) -> str:
    return f"/sys/class/drm/{name}/device/hwmon/{monitor.name}"
