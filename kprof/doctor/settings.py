"""Recommended settings of a machine. ``settings.toml`` is the only file with these values and their reasons."""

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
    """A recommended value of a setting.

    Attributes:
        value: the value; "" means unset; ``*`` means any.
        workloads: workloads to which the rule applies; if empty, it applies to every workload, and if no workload is
            named.
        gpus: prefixes of the architectures to which the rule applies; empty for all.
        also: acceptable alternatives, as shell patterns.
        when: condition of the rule: a variable as ``NAME=VALUE``; for an argument, also another argument, with a
            pattern as its value.
        least: minimum of a numeric value; ``None`` if the value is not a number.
        most: maximum of a numeric value, if there is one.
        default: default of an argument that depends on the rule's workload or GPU; ``None``: the setting's default.
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
        """Return whether the rule applies to this workload on these GPUs."""
        name, _, value = self.when.partition("=")
        return (
            (not self.workloads or workload in self.workloads)
            and (not self.gpus or any(arch.startswith(self.gpus) for arch in archs))
            and (not self.when or fnmatchcase(environment.get(name, "").strip(), value))
        )

    def accepts(self, value: str) -> bool:
        """Return whether a value is the recommended one, an alternative, or within the limits."""
        if self.least is not None:
            number = float(value) if _NUMBER.fullmatch(value.strip()) else None
            return number is not None and self.least <= number <= (number if self.most is None else self.most)
        return any(fnmatchcase(value.lower(), each.lower()) for each in (self.value, *self.also))


class HostSetting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A variable, kernel parameter, kernel file, library or argument. The fields are explained in ``settings.toml``."""

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
        """Status of the setting if no rule accepts its value."""
        return "fail" if self.fails else "warn"

    def rule(
        self, workload: Workload | None, archs: Sequence[str], environment: Mapping[str, str]
    ) -> WantedValue | None:
        """Return the first rule that applies."""
        return next((rule for rule in self.rules if rule.fits(workload, archs, environment)), None)

    def default_of(self, rule: WantedValue) -> str | None:
        """Return the default value of an argument; ``None`` if it is not known."""
        return self.default if rule.default is None else rule.default


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sources: dict[str, str]
    setting: dict[str, dict[str, Any]]


@cache
def settings() -> Mapping[str, HostSetting]:
    """Return settings by name, in the file's order; ``source`` is replaced by the full citation.

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
    """Return the first setting in the file that belongs to a check."""
    return next(setting for setting in settings().values() if setting.check == check)


def archs_of(machine: Host) -> tuple[str, ...]:
    """Return the architectures of the machine's GPUs; without a GPU, that of the MI300X, which the guides describe."""
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.hardware.machine import load_gpu

    gpus = machine.reported or machine.gpus
    return tuple(dict.fromkeys(gpu.arch for gpu in gpus if gpu.arch)) or (load_gpu(DEFAULT_GPU)[0].name,)
