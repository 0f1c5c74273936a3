"""The configuration ``[tool.kprof]``: the kernels to check, and their limits."""

import datetime as dt
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import msgspec

from kprof.errors import HardwareError, InputError, KprofError, near
from kprof.gate.rules import Metric
from kprof.gate.toml_place import Keys, line_of
from kprof.hardware.machine import load as load_architecture
from kprof.inputs import boundary

FILES = ("kprof.toml", "pyproject.toml")
_LARGEST_BITS = 53
METRICS: tuple[str, ...] = get_args(Metric)
WATCHED: tuple[Metric, ...] = ("vgpr_spills", "sgpr_spills", "scratch_bytes", "waves_per_simd", "time_us")
"""Metrics compared with the baseline by default; ``time_us`` means the first available metric of :data:`COSTS`."""


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Limits for a compiled kernel; fields that are not set do not limit anything.

    Attributes:
        max_vgpr_spills: spilled VGPRs per lane.
        max_sgpr_spills: spilled SGPRs.
        max_scratch_bytes: private memory per lane, in bytes.
        max_lds_bytes: LDS per workgroup in bytes, dynamic part included.
        max_vgpr_allocated: vector registers allocated to a wavefront, including AGPRs and padding.
        max_sgpr: SGPRs.
        min_waves_per_simd: achievable wavefronts per SIMD.
        max_time_us: predicted time of the launch in microseconds.
    """

    max_vgpr_spills: int | None = None
    max_sgpr_spills: int | None = None
    max_scratch_bytes: int | None = None
    max_lds_bytes: int | None = None
    max_vgpr_allocated: int | None = None
    max_sgpr: int | None = None
    min_waves_per_simd: float | None = None
    max_time_us: float | None = None

    def over(self, other: "Budget") -> "Budget":
        """Return this budget, completed with limits of the other budget where this one has none."""
        return msgspec.structs.replace(other, **_limits(self))


class KernelEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One ``[[tool.kprof.kernel]]``: a target and how to compile it.

    Attributes:
        target: a target as for ``kprof analyze kernel``: a bundled name, ``file.py::function``, a file, a directory.
            Relative to the configuration's folder.
        arch: architectures that replace those of :class:`Config`.
        case: names of the kernel's cases; empty for its first case.
        all_configs: whether to check every configuration that the kernel lists.
        config: knobs that override the kernel's own.
        shape: problem parameters that override the case's.
        signature: argument types of a kernel without cases.
        constexpr: compile-time arguments of a kernel without cases.
        grid: workgroups of the launch, numbers or formulas such as ``cdiv(M,BLOCK_M)``; without a grid no time is
            predicted.
        env: Triton's environment switches for the compile.
        budget: limits of this kernel.
        arch_budget: limits of this kernel on one architecture.
        forbid: rules, by identifier or name, that must not find anything in this kernel.
        require: rules that must be checked; if a rule cannot be checked, the verdict is *cannot tell*.
    """

    target: str
    arch: list[str] = []
    case: list[str] = []
    all_configs: bool = False
    config: dict[str, Any] = {}
    shape: dict[str, Any] = {}
    signature: str | None = None
    constexpr: dict[str, Any] = {}
    grid: list[int | str] = []
    env: dict[str, str] = {}
    budget: Budget = Budget()
    arch_budget: dict[str, Budget] = {}
    forbid: list[str] = []
    require: list[str] = []


class GateProgram(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One ``[[tool.kprof.program]]``: a program that the check records itself, without a GPU.

    Attributes:
        command: the program and its arguments; ``python`` means the Python that runs kprof. It runs in the
            configuration's folder.
        arch: architectures that replace those of :class:`Config`.
        name: name in results; by default the command.
        budget: limits of its kernels.
        arch_budget: limits of its kernels on one architecture.
        forbid: rules that must not find anything in its kernels.
        require: rules that must be checked; if a rule cannot be checked, the verdict is *cannot tell*.
    """

    command: list[str]
    arch: list[str] = []
    name: str = ""
    budget: Budget = Budget()
    arch_budget: dict[str, Budget] = {}
    forbid: list[str] = []
    require: list[str] = []

    def entry(self) -> KernelEntry:
        """Return the configuration entry that applies to the program's kernels."""
        return KernelEntry(
            target=self.name or shlex.join(self.command),
            arch=self.arch,
            budget=self.budget,
            arch_budget=self.arch_budget,
            forbid=self.forbid,
            require=self.require,
        )


class Allowance(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One ``[[tool.kprof.allow]]``: a regression that is temporarily accepted.

    Attributes:
        what: a metric such as ``vgpr_spills``, or a rule's identifier or name.
        reason: reason why it is accepted, for later readers.
        until: last day of validity, a TOML date.
        kernel: kernels to which it applies, with ``*`` and ``?`` as in file names.
        arch: architectures to which it applies, in the same form.
        limit: worst accepted value of a metric, or accepted number of findings of a rule.
    """

    what: str
    reason: str
    until: dt.date
    kernel: str = "*"
    arch: str = "*"
    limit: float | None = None


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Content of ``[tool.kprof]``.

    Attributes:
        arch: architectures or products to check.
        baseline: file of the accepted state, relative to the configuration's folder.
        fail_on: minimum severity at which a finding fails the check, unless it is in the baseline.
        watch: metrics that must not get worse than in the baseline.
        budget: limits of all kernels.
        arch_budget: limits of all kernels on one architecture.
        forbid: rules that must not find anything.
        require: rules that must be checked; if a rule cannot be checked, the verdict is *cannot tell*.
        kernel: kernels to check.
        program: programs to record, whose kernels are checked.
        allow: regressions that are temporarily accepted.
    """

    arch: list[str] = []
    baseline: str | None = None
    fail_on: Literal["note", "warning", "error", "never"] = "warning"
    watch: list[Metric] = msgspec.field(default_factory=lambda: list(WATCHED))
    budget: Budget = Budget()
    arch_budget: dict[str, Budget] = {}
    forbid: list[str] = []
    require: list[str] = []
    kernel: list[KernelEntry] = []
    program: list[GateProgram] = []
    allow: list[Allowance] = []

    def budget_for(self, entry: KernelEntry, arch: str) -> Budget:
        """Return the limits of one kernel on one architecture; more specific limits override general ones."""
        result = _budget_on(arch, entry.arch_budget).over(entry.budget)
        return result.over(_budget_on(arch, self.arch_budget)).over(self.budget)


def _budget_on(arch: str, budgets: Mapping[str, Budget]) -> Budget:
    """Return the budget of an architecture, which may be named by one of its products."""
    return next((budget for name, budget in budgets.items() if load_architecture(name).name == arch), Budget())


def find(start: Path) -> Path:
    """Return the nearest ``kprof.toml``, or ``pyproject.toml`` with ``[tool.kprof]``, in this folder or a parent.

    Raises:
        KprofError: no such file exists, or a folder contains both.
    """
    for folder in (start, *start.parents):
        found = [path for path in map(folder.joinpath, FILES) if path.is_file() and _configures(path)]
        if len(found) > 1:
            hint = "Keep one of them, or select one with --config-file."
            raise InputError(
                f"{found[0].name} and [tool.kprof] of {found[1].name} both configure this folder",
                path=str(found[0]),
                hint=hint,
            )
        if found:
            return found[0]
    raise InputError(
        "no kprof.toml and no [tool.kprof] in a pyproject.toml, here or above",
        path=str(start),
        hint='Minimal pyproject.toml: [tool.kprof] with arch = ["gfx942"] and one '
        "[[tool.kprof.kernel]] with target; in kprof.toml the same without tool.kprof.",
    )


def load(path: Path) -> Config:
    """Read and check a configuration.

    Raises:
        KprofError: the file cannot be read, is no TOML, or has an unknown key or a value of the wrong type. The error
            contains the line.
    """
    text, data = _read(path)
    table = _table(data, path)
    prefix: Keys = ("tool", "kprof") if path.name != "kprof.toml" else ()
    if table is None:
        raise InputError("there is no [tool.kprof]", path=str(path))
    source = _Source(path, text, prefix)
    source.known(table, Config, ())
    try:
        config = msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        message, _, at = str(error).partition(" - at ")
        where = _keys(at.strip("`"))
        raise InputError(
            f"{'.'.join(map(str, where))}: {message[:1].lower()}{message[1:]}",
            path=str(path),
            place=source.place(where),
        ) from None
    source.programs(config)
    source.empty(config)
    source.gpus(config)
    if not config.kernel and not config.program:
        entry = "[[tool.kprof.kernel]]" if prefix else "[[kernel]]"
        raise InputError("no kernel is configured", path=str(path), hint=f"Add {entry} with a target.")
    for index, allowance in enumerate(config.allow):
        if not allowance.reason.strip():
            place = source.place(("allow", index, "reason"))
            raise InputError("an allowance needs a reason", path=str(path), place=place)
        if allowance.limit is not None and (problem := _no_limit(allowance.limit)):
            place = source.place(("allow", index, "limit"))
            raise InputError(problem, path=str(path), place=place)
    return config


@dataclass(frozen=True)
class _Source:
    """Text of a configuration, in which the lines of keys are found for error messages."""

    path: Path
    text: str
    prefix: Keys

    def known(self, data: Any, kind: Any, at: Keys) -> None:
        """Raise an error for unknown keys; msgspec's type check would report them without line and suggestions."""
        if get_origin(kind) is list and isinstance(data, list):
            for index, item in enumerate(data):
                self.known(item, get_args(kind)[0], (*at, index))
        elif get_origin(kind) is dict and isinstance(data, dict):
            for name, item in data.items():
                self.known(item, get_args(kind)[1], (*at, name))
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(data, dict):
            fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
            for name, item in data.items():
                if name not in fields:
                    outer = name == "tool" and not at and not self.prefix
                    where = ".".join(str(part) for part in at) or "the configuration"
                    raise InputError(
                        f"{where} has no key {name!r}{near(name, fields)}",
                        path=str(self.path),
                        place=self.place((*at, name)),
                        hint="In kprof.toml, tables have no tool.kprof prefix: [budget], [[kernel]]."
                        if outer
                        else None,
                    )
                self.known(item, fields[name], (*at, name))

    def programs(self, config: Config) -> None:
        """Raise an error for programs without a command, or with equal names, which would share a baseline entry."""
        commands: dict[str, list[str] | None] = {entry.target: None for entry in config.kernel}
        for index, program in enumerate(config.program):
            if not program.command:
                place = self.place(("program", index, "command"))
                raise InputError("a program needs a command", path=str(self.path), place=place)
            name = program.entry().target
            if commands.setdefault(name, program.command) != program.command:
                text = f"another program or kernel is called {name!r}: they would share an entry in the baseline"
                place = self.place(("program", index, "name" if program.name else "command"))
                raise InputError(text, path=str(self.path), place=place, hint="Give it another name.")

    def empty(self, config: Config) -> None:
        """Raise an error for empty names: an empty baseline would be ignored, an empty target would mean the folder."""
        named: list[tuple[Keys, str | None]] = [(("baseline",), config.baseline)]
        named += [(("kernel", index, "target"), entry.target) for index, entry in enumerate(config.kernel)]
        for keys, value in named:
            if value is not None and not value.strip():
                raise InputError(f"{keys[-1]} is empty", path=str(self.path), place=self.place(keys))

    def gpus(self, config: Config) -> None:
        """Raise an error for unknown names of GPUs, since a budget for them would limit nothing."""
        tables: list[tuple[Keys, Config | KernelEntry | GateProgram]] = [((), config)]
        tables += [(("kernel", index), entry) for index, entry in enumerate(config.kernel)]
        tables += [(("program", index), program) for index, program in enumerate(config.program)]
        for at, table in tables:
            self._numbers(table, at)
            seen: dict[str, str] = {}
            for keys, name in [
                *(((*at, "arch"), name) for name in table.arch),
                *(((*at, "arch_budget", name), name) for name in table.arch_budget),
            ]:
                try:
                    arch = load_architecture(name).name
                except KprofError as error:
                    raise HardwareError(
                        error.message, path=str(self.path), place=self.place(keys), hint=error.hint
                    ) from None
                if keys[-1] == name and seen.setdefault(arch, name) != name:
                    text = f"arch_budget.{seen[arch]} and arch_budget.{name} are both for {arch}"
                    raise InputError(text, path=str(self.path), place=self.place(keys))

    def _numbers(self, table: "Config | KernelEntry | GateProgram", at: Keys) -> None:
        """Raise an error for limits that are negative or not finite."""
        budgets = [(("budget",), table.budget), *((("arch_budget", n), b) for n, b in table.arch_budget.items())]
        for keys, budget in budgets:
            for name, value in _limits(budget).items():
                problem = _no_limit(value) or (
                    f"{value} is not a valid limit; it must be at least 0" if value < 0 else ""
                )
                if problem:
                    place = self.place((*at, *keys, name))
                    raise InputError(f"{name}: {problem}", path=str(self.path), place=place)

    def place(self, keys: Keys) -> str | None:
        """Return the line of a key as text, ``line 12``, or ``None`` if it cannot be found."""
        line = line_of(self.text, (*self.prefix, *keys))
        return None if line is None else f"line {line}"


def _configures(path: Path) -> bool:
    if path.name == "kprof.toml":
        return True
    # If there is a kprof.toml, a pyproject.toml that does not mention kprof is not parsed, because errors in it concern
    # other tools.
    if path.with_name("kprof.toml").is_file() and b"kprof" not in boundary.read_bytes(path):
        return False
    return _table(_read(path)[1], path) is not None


def _no_limit(value: float) -> str:
    """Return why a number cannot be a limit: TOML integers may exceed the range of floats and of JSON integers."""
    if isinstance(value, int):
        return (
            f"a number of {value.bit_length()} bits is not a valid limit" if value.bit_length() > _LARGEST_BITS else ""
        )
    return "" if math.isfinite(value) else f"{value} is not a valid limit"


def _limits(budget: Budget) -> dict[str, float]:
    return {name: value for name in budget.__struct_fields__ if (value := getattr(budget, name)) is not None}


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    text = boundary.read_text(path)
    return text, boundary.toml_of(text, str(path))


def _table(data: Mapping[str, Any], path: Path) -> Any:
    if path.name == "kprof.toml":
        return data
    tool = data.get("tool")
    return tool.get("kprof") if isinstance(tool, dict) else None


def _keys(place: str) -> Keys:
    """Return the parts of a path such as ``$.kernel[0].budget``."""
    parts: list[str | int] = []
    for part in place.removeprefix("$").lstrip(".").split("."):
        name, *indexes = part.replace("]", "").split("[")
        parts += [name] if name else []
        parts += [int(index) for index in indexes if index.isdigit()]
    return tuple(parts)
