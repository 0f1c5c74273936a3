"""What a machine should be set to, from ``settings.toml``: the one place where such values and their reasons stand."""

import re
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
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{0,12})?|\.\d{1,12}")


class WantedValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value that is wanted.

    Attributes:
        value: the value; empty: leave it unset; ``*``: any.
        workloads: those that want it; empty: every one, and when none is named.
        gpus: beginnings of the architectures that it is for; empty: all.
        also: values that do as well, as patterns of a shell.
        when: a variable as ``NAME=VALUE`` without which the rule means nothing; of an argument also another argument,
            whose value is a pattern.
        least: the smallest number that does; ``None`` where the value is no number.
        most: the largest number that does, where there is a limit.
        default: the value of an argument that is not given, where it depends on what the rule is for; ``None``: the
            setting's.
    """

    value: str
    workloads: tuple[Workload, ...] = ()
    gpus: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    when: str = ""
    least: float | None = None
    most: float | None = None
    default: str | None = None

    def fits(self, workload: Workload | None, archs: Sequence[str], environment: Mapping[str, str]) -> bool:
        """Whether the rule is for this workload on these GPUs."""
        name, _, value = self.when.partition("=")
        return (
            (not self.workloads or workload in self.workloads)
            and (not self.gpus or any(arch.startswith(self.gpus) for arch in archs))
            and (not self.when or fnmatchcase(environment.get(name, "").strip(), value))
        )

    def accepts(self, value: str) -> bool:
        """Whether a value that is set is as good as the wanted one."""
        if self.least is not None:
            number = float(value) if _NUMBER.fullmatch(value.strip()) else None
            return number is not None and self.least <= number <= (number if self.most is None else self.most)
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
    programs: tuple[str, ...] = ()

    @property
    def bad(self) -> Literal["fail", "warn"]:
        """The status of a value that no rule accepts."""
        return "fail" if self.fails else "warn"

    def rule(
        self, workload: Workload | None, archs: Sequence[str], environment: Mapping[str, str]
    ) -> WantedValue | None:
        """The first rule that fits."""
        return next((rule for rule in self.rules if rule.fits(workload, archs, environment)), None)

    def default_of(self, rule: WantedValue) -> str | None:
        """Return the value of an argument that is not given; ``None`` where it is not known."""
        return self.default if rule.default is None else rule.default


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

    gpus = machine.reported or machine.gpus
    return tuple(dict.fromkeys(gpu.arch for gpu in gpus if gpu.arch)) or (load_gpu(DEFAULT_GPU)[0].name,)
