"""Select the knobs of a recorded kernel to try, and their values."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kprof.compiler.versions import installed
from kprof.errors import KprofError
from kprof.kernel_spec import BACKEND_OPTIONS, Kernel
from kprof.knobs import role_names
from kprof.tuning.recorded.relaunch import LaunchDescription
from kprof.tuning.recorded.subject import RecordedSubject
from kprof.tuning.space import Space
from kprof.tuning.trials.changes import SWITCHES, left_to_triton, neighbours
from kprof.tuning.trials.changes import values as all_values

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture
    from kprof.kernel_spec import Launch

_LEAST = 16
_MOST = 1024
_SPLITS = (1, 2, 4, 8, 16)
_GROUPS = (1, 2, 4, 8, 16)
_SMALL = 32


def values(
    knobs: Mapping[str, Any], constexprs: Iterable[str], ready: LaunchDescription | None
) -> dict[str, tuple[Any, ...]]:
    """Return the values to try for each compile-time argument, including the present value.

    All values that an autotuner lists are tried. Tile sizes are also halved and doubled. Other arguments have only
    their present value, because they may determine what the program computes.

    Args:
        knobs: the recorded knobs.
        constexprs: names of compile-time arguments.
        ready: the program's description of its launch; ``None`` if the program does not run.
    """
    found: dict[str, tuple[Any, ...]] = {}
    for name in constexprs:
        now = knobs.get(name)
        listed = [] if ready is None else [config[name] for config in ready.configs if name in config]
        found[name] = _distinct([now, *listed, *([] if ready is None else _around(name, now, ready))])
    return found


def _around(name: str, now: Any, ready: LaunchDescription) -> list[int]:
    if not isinstance(now, int) or isinstance(now, bool) or now < 1 or now & (now - 1):
        return []
    if name in ready.orders:
        return list(_GROUPS)
    if name not in ready.dealt | ready.stepped:
        return []
    if role_names([name]).get("split") or "SPLIT" in name.upper():
        return list(_SPLITS) if now < _SMALL else [now // 2, now * 2]
    least = min(now, _LEAST)
    return [value for value in (now // 4, now // 2, now * 2, now * 4) if least <= value <= max(now, _MOST)]


def _distinct(found: Iterable[Any]) -> tuple[Any, ...]:
    first, *others = dict.fromkeys(found)
    plain = all(isinstance(value, int) and not isinstance(value, bool) for value in (first, *others))
    return tuple(sorted((first, *others))) if plain else (first, *others)


Changes = Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]


def changes_of(subject: RecordedSubject, ready: LaunchDescription | None, rules: Iterable[str]) -> Changes:
    """Return a function that gives the changes around a configuration, most promising first.

    Args:
        subject: the kernel.
        ready: the program's description of its launch; ``None`` if the program does not run.
        rules: identifiers of the findings, which determine the order.
    """
    space = values(subject.knobs, _constants(subject), ready)
    return changes_in(space, subject.arch, rules)


def _constants(subject: RecordedSubject) -> list[str]:
    """Return the compile-time values that are knobs, and not specialized values of run-time arguments."""
    return [name for name in subject.recorded.job.request.constexprs if name in subject.recorded.knobs]


def changes_in(space: Mapping[str, tuple[Any, ...]], machine: "Architecture", rules: Iterable[str]) -> Changes:
    """Return a function that gives the changes around a configuration of a kernel without cases, most promising first.

    Args:
        space: values of the compile-time arguments, to which the compiler's options are added.
        machine: architecture.
        rules: identifiers of the findings, which determine the order.
    """
    kernel = Kernel("", None, "", _no_launch, shapes={}, config={}, space=space)
    version, found = installed().numbers, frozenset(rules)

    def changes(config: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        # Options missing from the configuration have the compiler's defaults, which ``neighbours`` knows.
        return neighbours(kernel, {}, config, machine, found, version=version)

    return changes


def _no_launch(_shape: Mapping[str, Any], _config: Mapping[str, Any]) -> "Launch":
    raise KprofError("it has no launch of its own")


def listed(subject: RecordedSubject, ready: LaunchDescription | None) -> list[dict[str, Any]]:
    """Return the configurations that the kernel's autotuners list, each merged into the recorded configuration."""
    if ready is None:
        return []
    known = {*_constants(subject), *BACKEND_OPTIONS}
    # A listed option may merely repeat Triton's default; it is dropped if the recording does not have it.
    unsaid = {**left_to_triton(installed().numbers), "num_ctas": 1, "maxnreg": None}
    said = [
        {n: v for n, v in config.items() if n in known and (n in subject.knobs or n not in unsaid or v != unsaid[n])}
        for config in ready.configs
    ]
    return [{**subject.knobs, **config} for config in said]


def space_of(subject: RecordedSubject, ready: LaunchDescription | None) -> Space:
    """Return the complete search space of a recorded kernel.

    Args:
        subject: the kernel.
        ready: the program's description of its launch; ``None`` if the program does not run.
    """
    own = values(subject.knobs, _constants(subject), ready)
    kernel = Kernel(subject.recorded.kernel.name, None, "", _no_launch, shapes={}, config={}, space=own)
    found = all_values(kernel, subject.knobs, subject.arch, installed().numbers)
    found = {name: known for name, known in found.items() if name not in SWITCHES}
    for name, known in found.items():
        now = subject.knobs.get(name)
        if now is not None and now not in known:
            found[name] = tuple(sorted((*known, now), key=str if isinstance(now, str) else None))
    return Space("the recorded launch", found)
