"""Judge the arguments of a command line by ``settings.toml``, and by each other."""

import re
from collections.abc import Iterator, Mapping

from kprof.doctor.command_line import ServerCommand
from kprof.doctor.document import SettingOutcome
from kprof.doctor.host import Host
from kprof.doctor.judging import judged_setting, suggested, wanted_value
from kprof.doctor.settings import HostSetting, WantedValue, archs_of, settings

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_SHOWN = 60
_EVERY = {"gpu", "auto"}
_NODES = ("--nnodes", "--node-rank", "--hostfile", "-hostfile", "--host", "-H")


def judge_arguments(machine: Host, command: ServerCommand) -> list[SettingOutcome]:
    """Every argument that the guides say something about, given or not."""
    found = []
    values = {**machine.environment, **command.arguments}
    for setting in settings().values():
        if setting.kind != "argument" or (setting.programs and not set(setting.programs) & set(command.programs)):
            continue
        rule = setting.rule(command.workload, archs_of(machine), values)
        given = command.arguments.get(setting.name)
        if rule is None or (given is None and (setting.default is not None or not rule.value)):
            continue
        found.append(_judged(setting, rule, given))
    return [*found, *_counts(machine, command)]


def unjudged(command: ServerCommand) -> list[str]:
    """Arguments that the guides say nothing about."""
    known = {setting.name for setting in settings().values() if setting.kind == "argument"} | {
        "-np",
        "--nproc-per-node",
    }
    return [name for name in command.arguments if name not in known]


def _judged(setting: HostSetting, rule: WantedValue, given: str | None) -> SettingOutcome:
    if given is None:
        return judged_setting(setting, "unknown", "not given, may help", suggested(setting, rule))
    shown = given[:_SHOWN] if given else "given"
    if given.startswith("$"):
        return judged_setting(setting, "unknown", f"{shown}, whose value is not in the line", wanted_value(rule))
    good = bool(rule.value) and (rule.accepts(given) or (rule.value == "given" and not given))
    return judged_setting(setting, "ok" if good else setting.bad, shown, wanted_value(rule), list(setting.fix))


def _counts(machine: Host, command: ServerCommand) -> Iterator[SettingOutcome]:
    """Processes and GPUs of a line, which must agree."""
    parallel = _number(command.arguments.get("--tensor-parallel-size"))
    processes = command.arguments.get("--nproc-per-node")
    why = "With one node a torchrun of a server needs a process for each GPU of its tensor parallelism."
    if processes is not None and parallel is not None and (count := _number(processes)) not in {None, parallel}:
        yield _disagreeing("--nproc-per-node", processes, f"{parallel}, as --tensor-parallel-size", why)
    visible = _visible(command.environment) or _visible(machine.environment)
    if visible is not None and parallel is not None and visible[1] < parallel:
        name, count = visible
        why = "A server cannot start on more GPUs than its process sees."
        yield _disagreeing("--tensor-parallel-size", str(parallel), f"at most {count}, the GPUs in {name}", why)
    launched = command.arguments.get("-np") if "mpirun" in command.programs else processes
    gpus = visible[1] if visible is not None else len(machine.reported) or len(machine.devices)
    name = "-np" if "mpirun" in command.programs else "--nproc-per-node"
    if launched is None or parallel is not None or any(option in command.arguments for option in _NODES[2:]):
        return
    setting = settings()["--nproc-per-node"]
    number = _number(launched)
    if launched in _EVERY or (number is not None and number == gpus):
        yield SettingOutcome(
            name, "argument", "ok", launched, f"{gpus}" if gpus else "", setting.why, [], setting.source
        )
    elif number is None or not gpus:
        yield SettingOutcome(
            name, "argument", "unknown", launched[:_SHOWN], "as many as GPUs", setting.why, [], setting.source
        )
    else:
        yield SettingOutcome(
            name, "argument", "warn", launched, f"{gpus}, a process for each GPU", setting.why, [], setting.source
        )


def _disagreeing(name: str, found: str, wanted: str, why: str) -> SettingOutcome:
    return SettingOutcome(name, "argument", "fail", found, wanted, why, [], settings()["--tensor-parallel-size"].source)


def _visible(environment: Mapping[str, str]) -> tuple[str, int] | None:
    """The variable that chooses GPUs, and how many it lists; ``None`` where none does, or its value is no list."""
    for name in _VISIBLE:
        value = environment.get(name, "").strip().strip("\"'")
        if re.fullmatch(r"\d+(?:,\d+)*", value):
            return name, value.count(",") + 1
    return None


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 8 else None
