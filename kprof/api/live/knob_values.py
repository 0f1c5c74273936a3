"""The knobs of a target: their current values, and the values that the tuning space or the architecture allows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture
    from kprof.kernel_spec import Kernel


@dataclass(frozen=True)
class ViewKnob:
    """A knob with its current ``value`` and all selectable ``values``, which include the current one.

    ``option`` is the option of :func:`kprof.analyze` that sets the knob; ``origin`` says where the values come from.
    """

    name: str
    value: Any
    values: list[Any]
    option: str
    origin: str


@dataclass(frozen=True)
class KnobSheet:
    """Possible settings of a target: knobs, cases and GPUs (product, architecture); ``notes`` explain missing knobs."""

    target: str
    knobs: list[ViewKnob]
    cases: list[str]
    gpu: str
    gpus: list[tuple[str, str]]
    triton: str | None
    notes: list[str] = field(default_factory=list)


def knob_values(
    target: str,
    arch: str = "",
    config: Mapping[str, Any] | None = None,
    shape: Mapping[str, Any] | None = None,
    case: str | None = None,
    constexpr: Mapping[str, Any] | None = None,
    **_: Any,
) -> KnobSheet:
    """Return the knobs of a target when it is compiled with these options of :func:`kprof.analyze`.

    Raises:
        KprofError: as :func:`kprof.analyze`.
    """
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.hardware.machine import load_gpu
    from kprof.targets.target import TargetKind, kernel_of, resolve

    machine, product = load_gpu(arch or DEFAULT_GPU)
    gpu = machine.name if product is None else product.name
    found = resolve(target)
    if found.kind is not TargetKind.SOURCE:
        note = f"{target} is {found.kind.value}: it has no knobs, because kprof does not compile it"
        return KnobSheet(target, [], [], gpu, [], None, [note])
    from kprof.compiler.versions import installed

    kernel = kernel_of(target, gpu)
    if kernel.shapes:
        now = kernel.configure(gpu, config, kernel.problem(machine.name, case, shape))
        knobs = _knobs(kernel, now, machine, ())
    else:
        knobs = _of_function(kernel, {**(constexpr or {}), **(config or {})}, machine)
    return KnobSheet(target, knobs, list(kernel.shapes), gpu, _gpus(), str(installed().version))


def _gpus() -> list[tuple[str, str]]:
    """Return every product with its architecture; an architecture without products is listed under its own name."""
    from kprof.hardware import machine

    return [
        (product, name) for name in machine.architectures() for product in (*machine.load(name).products,) or (name,)
    ]


def _knobs(
    kernel: "Kernel", now: Mapping[str, Any], machine: "Architecture", constexprs: Iterable[str]
) -> list[ViewKnob]:
    from kprof.compiler.versions import installed
    from kprof.kernel_spec import BACKEND_OPTIONS
    from kprof.tuning.trials.changes import SWITCHES, left_to_triton, values

    version = installed().numbers
    tried = values(kernel, now, machine, version)
    current = {**left_to_triton(version), **now}
    mine = set(constexprs)
    found = []
    for name in dict.fromkeys([*now, *kernel.space, *tried]):
        if name in SWITCHES or name not in current:
            continue
        if name in kernel.space:
            origin = "the kernel's own space"
        else:
            origin = "an option of the compiler" if name in BACKEND_OPTIONS else "around its value"
        option = "constexpr" if name in mine else "config"
        found.append(ViewKnob(name, current[name], _ordered([current[name], *tried.get(name, ())]), option, origin))
    return found


def _of_function(kernel: "Kernel", given: Mapping[str, Any], machine: "Architecture") -> list[ViewKnob]:
    """Return the knobs of a function without a ``KERNEL``: its constexprs, with the values that its autotuner tries."""
    from dataclasses import replace

    from kprof.importing.functions import unwrap

    function = unwrap(kernel.entry)
    if function is None:
        return _knobs(kernel, given, machine, ())
    listed: dict[str, list[Any]] = {}
    for config in function.configs:
        for name, value in config.items():
            listed.setdefault(name, []).append(value)
    defaults = {p.name: p.default for p in function.jit.params if p.is_constexpr and p.has_default}
    first = dict(function.configs[0]) if function.configs else {}
    now = {**{name: value for name, value in defaults.items() if _is_scalar(value)}, **first, **given}
    space = {name: _ordered([now[name], *values]) for name, values in listed.items()}
    return _knobs(replace(kernel, space=space), now, machine, function.constexprs)


def _is_scalar(value: object) -> bool:
    return isinstance(value, int | float | str | bool)


def _ordered(values: Iterable[Any]) -> list[Any]:
    distinct = list({repr(value): value for value in values}.values())
    plain = all(isinstance(value, int) and not isinstance(value, bool) for value in distinct)
    return sorted(distinct) if plain else distinct
