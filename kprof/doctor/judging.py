"""Compare a machine's settings with ``settings.toml``."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kprof.doctor.document import SettingOutcome, Status
from kprof.doctor.host import Host
from kprof.doctor.settings import ANY, HostSetting, WantedValue, Workload, archs_of, settings
from kprof.doctor.versions import copies

_FIRST = 0x100
_ACS = 0x0D
_CONTROL = 6
_SOURCE_VALIDATION = 1
_MAX_CONFIG_BYTES = 4096


@dataclass(frozen=True)
class Probed:
    """Current state of a setting.

    Attributes:
        value: value in the form in which ``settings.toml`` writes it; ``None`` if it is not known.
        words: description of the state for people.
        devices: PCI addresses of the devices with a wrong setting, which the fix names.
    """

    value: str | None
    words: str
    devices: tuple[str, ...] = ()


def acs(machine: Host) -> Probed:
    """Check whether PCIe access control validates request sources (``SrcValid+`` of ``lspci -vvv``) on any device.

    The register is not in the first 64 bytes of a device's configuration space; only root may read further.
    """
    on: list[str] = []
    hidden = 0
    devices = machine.entries("/sys/bus/pci/devices")
    for device in devices:
        data = machine.data(device / "config") or b""
        if len(data) <= _FIRST:
            # The configuration space of a conventional PCI device has exactly this size, so it was read completely.
            hidden += len(data) < _FIRST
            continue
        control = _acs_control(data)
        if control is not None and control & _SOURCE_VALIDATION:
            on.append(device.name)
    if on:
        return Probed("on", f"source validation is on for {len(on)} PCI device{'s' * (len(on) > 1)}", tuple(on))
    if hidden or not devices:
        return Probed(None, "only root may read it: sudo lspci -vvv | grep -i 'acsctl.*srcvalid+'")
    return Probed("off", "off")


def _acs_control(data: bytes) -> int | None:
    """Return the control register of the access control capability; ``None`` if the device has no such capability."""
    offset, seen = _FIRST, set()
    while _FIRST <= offset <= min(len(data), _MAX_CONFIG_BYTES) - _CONTROL - 2 and offset not in seen:
        seen.add(offset)
        header = int.from_bytes(data[offset : offset + 4], "little")
        if header & 0xFFFF == _ACS:
            return int.from_bytes(data[offset + _CONTROL : offset + _CONTROL + 2], "little")
        offset = header >> 20
    return None


def gpus(machine: Host) -> Probed:
    """Return the number of GPUs that can run collectives; partitions of one GPU count as one."""
    count = len(machine.reported) or len(machine.devices)
    return Probed(str(count), f"{count}") if count else Probed(None, "the driver lists none")


PROBES: Mapping[str, Callable[[Host], Probed]] = {"acs": acs, "gpus": gpus}


_VERSION_FILES = {
    "torch": "version.py",
    "triton": "__init__.py",
    "vllm": "_version.py",
    "sglang": "version.py",
}
_MOST_SHOWN = 60
_MOST_DEVICES = 64


def judged(machine: Host, workload: Workload | None) -> list[SettingOutcome]:
    """Return the results for every setting that is relevant on this machine and has no check of its own.

    Linux kernel parameters and files of sysfs are only relevant on machines with an AMD GPU. Without a GPU and without
    a workload, only settings that are set but should not be set are reported.
    """
    looked_at = [setting for setting in settings().values() if not setting.check and setting.kind != "argument"]
    found = [_outcome(setting, machine, workload) for setting in looked_at]
    return [outcome for outcome in found if outcome is not None]


def unseen(machine: Host, workload: Workload | None) -> list[SettingOutcome]:
    """Return results for the program arguments recommended for a workload, if no command line was passed."""
    found = []
    for setting in settings().values():
        rule = setting.rule(workload, archs_of(machine), machine.environment)
        if setting.kind == "argument" and rule is not None and not rule.when and rule.value:
            found.append(judged_setting(setting, "unknown", "not seen from here", suggested(setting, rule)))
    return found


def _outcome(setting: HostSetting, machine: Host, workload: Workload | None) -> SettingOutcome | None:
    rule = setting.rule(workload, archs_of(machine), machine.environment)
    if setting.kind == "environment":
        return _variable(setting, rule, machine, workload)
    if rule is None:
        return None
    if setting.kind == "library":
        return _library(setting, rule, machine)
    if not machine.has_gpu:
        return None
    if setting.kind == "kernel parameter":
        return _parameter(setting, rule, machine)
    return _file(setting, rule, machine)


def _variable(
    setting: HostSetting, rule: WantedValue | None, machine: Host, workload: Workload | None
) -> SettingOutcome:
    value = machine.environment.get(setting.name, "").strip()
    shown = f"{value[:_MOST_SHOWN]}" if value else "not set"
    other = _other_version(setting, machine)
    if other:
        return judged_setting(setting, "ok", f"{shown}, and not read by {other}")
    if rule is None:
        values = [each for each in setting.rules if not each.when]
        if not value or value == setting.default or any(each.accepts(value) for each in values):
            return judged_setting(setting, "ok", shown)
        return judged_setting(setting, setting.bad, shown, wanted(setting), [f"unset {setting.name}"])
    if not value:
        asked = rule.value not in {"", setting.default} and (machine.has_gpu or workload is not None)
        if not asked:
            return judged_setting(setting, "ok", shown, rule.value)
        value = f"{rule.value}, or {setting.program} in the program" if setting.program else rule.value
        return judged_setting(setting, "warn", shown, value, _exports(setting, rule))
    if rule.accepts(value):
        return judged_setting(setting, "ok", shown, rule.value)
    return judged_setting(setting, setting.bad, shown, wanted_value(rule), _exports(setting, rule))


def _bad(setting: HostSetting) -> Status:
    return "fail" if setting.fails else "warn"


def _exports(setting: HostSetting, rule: WantedValue) -> list[str]:
    if not rule.value:
        return [f"unset {setting.name}"]
    value = setting.example if rule.value == ANY else rule.value
    return [f"export {setting.name}={shlex.quote(value)}"]


def wanted(setting: HostSetting) -> str:
    """Return the recommended values and their workloads: ``2 (training, multi-gpu)``."""
    parts = []
    for rule in setting.rules:
        value = f">= {rule.value}" if setting.kind == "library" else wanted_value(rule)
        about = [", ".join(rule.workloads), f"on {', '.join(rule.gpus)}" if rule.gpus else "", _with(rule.when)]
        about = [each for each in about if each]
        parts.append(f"{value} ({', '.join(about)})" if about else value)
    return "; ".join(parts)


def wanted_value(rule: WantedValue) -> str:
    """Return the recommended value and the alternatives: ``not set or 0``."""
    if rule.least is not None:
        return f"{rule.least:g} or more" if rule.most is None else f"{rule.least:g} to {rule.most:g}"
    if ANY in {rule.value, *rule.also}:
        return "any value"
    *others, last = [rule.value or "not set", *rule.also]
    return f"{', '.join(others)} or {last}" if others else last


def suggested(setting: HostSetting, rule: WantedValue) -> str:
    """Return the value to try for an argument that is not on the command line."""
    if rule.least is not None:
        return wanted_value(rule)
    return "" if rule.value == "given" else setting.example or rule.value


def _with(condition: str) -> str:
    return f"with {condition}" if condition else ""


def _parameter(setting: HostSetting, rule: WantedValue, machine: Host) -> SettingOutcome:
    line = machine.text("/proc/cmdline")
    if line is None:
        return judged_setting(setting, "unknown", "the kernel's command line cannot be read", rule.value)
    if setting.name in line.split():
        return judged_setting(setting, "ok", "set", rule.value)
    return judged_setting(setting, setting.bad, "not on the kernel's command line", rule.value, list(setting.fix))


def _file(setting: HostSetting, rule: WantedValue, machine: Host) -> SettingOutcome:
    found = PROBES[setting.probe](machine) if setting.probe else _read(setting, machine)
    if found.value is None:
        return judged_setting(setting, "unknown", found.words, rule.value)
    if rule.accepts(found.value):
        return judged_setting(setting, "ok", found.words, rule.value)
    return judged_setting(setting, setting.bad, found.words, rule.value, list(_fixes(setting, found)))


def _read(setting: HostSetting, machine: Host) -> Probed:
    text = machine.text(setting.file)
    return Probed(text, text[:_MOST_SHOWN]) if text else Probed(None, "the kernel does not report it")


def _fixes(setting: HostSetting, found: Probed) -> Iterator[str]:
    for fix in setting.fix:
        if "{device}" in fix:
            yield from (fix.format(device=shlex.quote(device)) for device in found.devices[:_MOST_DEVICES])
        else:
            yield fix


def _library(setting: HostSetting, rule: WantedValue, machine: Host) -> SettingOutcome:
    version = _installed(setting.name, machine)
    if not version:
        return judged_setting(setting, "ok", "not installed, or its version is not given", f">= {rule.value}")
    if _number(version) >= _number(rule.value):
        return judged_setting(setting, "ok", version, f">= {rule.value}")
    return judged_setting(setting, setting.bad, version, f">= {rule.value}", list(setting.fix))


def _other_version(setting: HostSetting, machine: Host) -> str:
    """Return the installed package's version if this version does not read the variable; else an empty text."""
    for bound, too_old in ((setting.since, True), (setting.until, False)):
        package, _, limit = bound.partition(" ")
        version = _installed(package, machine) if package else ""
        if version and (_number(version) < _number(limit)) == too_old:
            return f"{package} {version}"
    return ""


def _installed(package: str, machine: Host) -> str:
    """Return the version of a package; empty when it is not installed or its version is not known."""
    found = copies(machine, package, _VERSION_FILES[package], (package,))
    return found[0].version if found and _number(found[0].version) else ""


def _number(version: str) -> tuple[int, ...]:
    """Return the major and minor number of a version, ``(2, 8)`` for ``2.8.0+rocm6.4``; empty if it is invalid."""
    match = re.match(r"(\d{1,5})\.(\d{1,5})", version)
    return (int(match[1]), int(match[2])) if match else ()


def judged_setting(
    setting: HostSetting, status: Status, found: str, value: str = "", fix: list[str] | None = None
) -> SettingOutcome:
    """Return the result for a setting, with its reason and source."""
    return SettingOutcome(
        name=setting.name,
        kind=setting.kind,
        status=status,
        found=found,
        wanted=value,
        why=setting.why,
        fix=fix or [],
        source=setting.source,
    )
