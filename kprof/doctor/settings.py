"""What a machine should be set to, from ``settings.toml``: the one place where such values and their reasons stand."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from kprof.doctor.host import Host
from kprof.inputs.boundary import toml_of

Workload = Literal["inference", "training", "tuning", "multi-gpu", "vllm", "sglang"]
Kind = Literal["environment", "kernel parameter", "sysfs", "library", "argument"]
WORKLOADS: tuple[Workload, ...] = get_args(Workload)

_FILE = Path(__file__).with_name("settings.toml")
ANY = "*"


class WantedValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is wanted.

    Attributes:
        value: the value; empty: leave it unset; ``*``: any.
        workloads: those that want it; empty: every one, and when none is named.
        gpus: beginnings of the architectures that it is for; empty: all.
        also: values that do as well, as patterns of a shell.
        when: a variable as ``NAME=VALUE`` without which the rule means nothing.
    """

    value: str
    workloads: tuple[Workload, ...] = ()
    gpus: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    when: str = ""

    def fits(self, workload: Workload | None, archs: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether the rule is for this workload on these GPUs."""
        name, _, value = self.when.partition("=")
        return (
            (not self.workloads or workload in self.workloads)
            and (not self.gpus or any(arch.startswith(self.gpus) for arch in archs))
            and (not self.when or environment.get(name, "").strip() == value)
        )

    def accepts(self, value: str) -> bool:
        """Whether a value that is set is as good as the wanted one."""
        return any(fnmatchcase(value.lower(), each.lower()) for each in (self.value, *self.also))


class HostSetting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable, kernel parameter, file of the kernel or library. The fields are explained in ``settings.toml``."""

    kind: Kind
    why: str
    source: str
    rules: tuple[WantedValue, ...]
    name: str = ""
    default: str | None = None
    program: str = ""
    example: str = ""
    fails: bool = False
    since: str = ""
    until: str = ""
    file: str = ""
    probe: str = ""
    check: str = ""
    fix: tuple[str, ...] = ()

    def rule(
        self, workload: Workload | None, archs: Sequence[str], environment: Mapping[str, str]
    ) -> WantedValue | None:
        """The first rule that fits."""
        return next((rule for rule in self.rules if rule.fits(workload, archs, environment)), None)


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sources: dict[str, str]
    setting: dict[str, dict[str, Any]]


@cache
def settings() -> Mapping[str, HostSetting]:
    """Name to setting, in the order of the file; ``source`` is spelled out.

    Raises:
        KprofError: the file is not TOML.
        msgspec.ValidationError: an entry has an unknown field or value.
        KeyError: an entry names a source that is not in the file.
    """
    table = msgspec.convert(toml_of(_FILE.read_text(encoding="utf-8"), str(_FILE)), _Table)
    return {
        name: msgspec.convert({**entry, "name": name, "source": table.sources[entry["source"]]}, HostSetting)
        for name, entry in table.setting.items()
    }


def wanted_by(check: str) -> HostSetting:
    """The first setting that a check judges."""
    return next(setting for setting in settings().values() if setting.check == check)


def archs_of(machine: Host) -> tuple[str, ...]:
    """Architectures of the machine's GPUs; without one that of the MI300X, which the guides are for."""
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.hardware.machine import load_gpu

    return tuple(dict.fromkeys(gpu.arch for gpu in machine.gpus if gpu.arch)) or (load_gpu(DEFAULT_GPU)[0].name,)
