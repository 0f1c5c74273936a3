"""Checks of the host's settings: CPU, memory and IOMMU."""

import re
from collections import Counter

from kprof.doctor.check import Seen, check, ok, unknown, warn
from kprof.doctor.host import Host
from kprof.doctor.settings import wanted_by

_C_STATES = wanted_by("c-states")
_GOVERNOR = wanted_by("cpu-governor")
_HUGE_PAGES = wanted_by("huge-pages")
_IOMMU = wanted_by("iommu")
_NUMA = wanted_by("numa-balancing")
_CHOSEN = re.compile(r"\[(always|madvise|never)\]")


@check("c-states", "host", needs_gpu=True, source=_C_STATES.source, why=_C_STATES.why)
def c_states(machine: Host) -> Seen:
    """Check whether the CPU's deep sleep states, C2 and deeper, are switched off."""
    on: dict[str, str] = {}
    seen = False
    # All CPUs of a machine have the same states, so the first CPU with readable states is enough.
    for cpu in machine.entries("/sys/devices/system/cpu", "cpu"):
        states = machine.entries(cpu / "cpuidle", "state")
        for state in states:
            name, disabled = machine.text(state / "name"), machine.number(state / "disable")
            if name is None or disabled is None:
                continue
            seen = True
            if name.startswith("C") and name[1:2].isdecimal() and name[1:2] >= "2" and not disabled:
                on[name[:16]] = state.name.removeprefix("state")
        if seen:
            break
    if not seen:
        return unknown("the kernel does not report it, as in virtual machines")
    if on:
        fixes = [f"sudo cpupower idle-set -d {number}" for number in on.values() if number.isdecimal()]
        return warn(f"{', '.join(on)} in use", *fixes)
    return ok("C2 and deeper are off")


@check("cpu-governor", "host", source=_GOVERNOR.source, why=_GOVERNOR.why)
def cpu_governor(machine: Host) -> Seen:
    """Check the frequency governors of all CPUs."""
    found = Counter(
        governor[:24]
        for cpu in machine.entries("/sys/devices/system/cpu", "cpu")
        if (governor := machine.text(cpu / "cpufreq" / "scaling_governor")) is not None
    )
    if not found:
        return unknown("the kernel does not report it, as in virtual machines")
    words = ", ".join(f"{name} on {count}" for name, count in sorted(found.items()))
    if all(map(_GOVERNOR.rules[0].accepts, found)):
        return ok(words)
    return warn(words, *_GOVERNOR.fix)


@check("huge-pages", "host", needs_gpu=True, source=_HUGE_PAGES.source, why=_HUGE_PAGES.why)
def huge_pages(machine: Host) -> Seen:
    """Check whether large host buffers may get transparent huge pages."""
    chosen = _CHOSEN.search(machine.text(_HUGE_PAGES.file) or "")
    if chosen is None:
        return unknown("the kernel does not report it")
    return ok(chosen[1]) if _HUGE_PAGES.rules[0].accepts(chosen[1]) else warn(chosen[1], *_HUGE_PAGES.fix)


@check("iommu", "host", source=_IOMMU.source, why=_IOMMU.why)
def iommu(machine: Host) -> Seen:
    """Check for IOMMU pass-through: in the GPU's IOMMU group if readable, else on the Linux kernel's command line."""
    kinds = {
        kind[:24]
        for _, device in machine.devices
        if (kind := machine.text(device / "iommu_group" / "type")) is not None
    }
    if kinds == {"identity"}:
        return ok("pass-through")
    line = machine.text("/proc/cmdline")
    if kinds:
        return _translated(f"the GPU's accesses are translated ({', '.join(sorted(kinds))})", machine)
    if line is None:
        return unknown("the kernel's command line cannot be read")
    words = line.split()
    if _IOMMU.name in words:
        return ok(_IOMMU.name)
    if {"iommu=off", "amd_iommu=off", "intel_iommu=off"} & set(words):
        return ok("off")
    if not machine.entries("/sys/kernel/iommu_groups"):
        return ok("none in use")
    return _translated(f"{_IOMMU.name} is not on the kernel's command line", machine)


def _translated(found: str, machine: Host) -> Seen:
    intel = "GenuineIntel" in (machine.text("/proc/cpuinfo") or "")
    option = f"intel_iommu=on {_IOMMU.name}" if intel else _IOMMU.name
    return warn(found, *(fix.replace(_IOMMU.name, option) for fix in _IOMMU.fix))


@check("numa-balancing", "host", source=_NUMA.source, why=_NUMA.why)
def numa_balancing(machine: Host) -> Seen:
    """Check whether the Linux kernel moves memory between NUMA nodes automatically."""
    value = machine.number(_NUMA.file)
    if value is None:
        nodes = machine.entries("/sys/devices/system/node", "node")
        return ok("one NUMA node only") if len(nodes) == 1 else unknown("the kernel does not report it")
    return ok("off") if _NUMA.rules[0].accepts(str(value)) else warn("on", *_NUMA.fix)
