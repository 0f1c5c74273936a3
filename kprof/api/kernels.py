"""The bundled kernels, and the description of a kernel before it is compiled."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kprof.api.options import Names, names
from kprof.errors import KprofError
from kprof.hardware.default import USUAL_ARCHS

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel

ARCHITECTURES = tuple(USUAL_ARCHS.split(","))


def kernels(arch: Names = ARCHITECTURES) -> list[dict[str, Any]]:
    """Return the bundled kernels, as ``kprof list kernels --json`` writes them.

    Args:
        arch: architectures or products for which to check whether a kernel's default case can run.

    Returns:
        One entry per kernel: ``name``, ``summary``, ``cases``, ``parts``, ``path``, and ``unsupported``. That maps
        architectures that cannot run the default case to the reason, or is ``None`` without a usable Triton.

    Raises:
        HardwareError: an architecture is not known.
    """
    from kprof.targets import library

    archs = _architectures(arch)
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "cases": list(entry.cases),
            "parts": list(entry.parts),
            "path": str(entry.path),
            "unsupported": _unsupported(entry.name, archs),
        }
        for entry in library.catalogue()
    ]


def kernel(target: str, arch: Names = ARCHITECTURES) -> dict[str, Any]:
    """Return one kernel, as ``kprof list kernels NAME --json`` writes it: cases, configurations, tuning space, source.

    Args:
        target: a bundled kernel, ``file.py``, or ``file.py::function``.
        arch: architectures or products for which to return the default knobs and the unsupported cases.

    Raises:
        TargetError: the kernel does not exist.
        HardwareError: an architecture is not known.
    """
    from kprof.targets import library

    return _facts(library.load(target), _architectures(arch))


def _architectures(given: Names) -> Sequence[str]:
    """Return the architecture that each name means; a name is an architecture or a product."""
    if given == ARCHITECTURES:
        return ARCHITECTURES
    from kprof.hardware import machine

    return list(dict.fromkeys(machine.load(name).name for name in names(given)))


def _unsupported(name: str, archs: Sequence[str]) -> dict[str, str] | None:
    """Return why each unsupported architecture cannot run the default case; ``None`` without a usable Triton."""
    from kprof.targets import library

    try:
        return _reasons(library.load(name), archs)
    except KprofError:
        return None


def _reasons(kernel: "Kernel", archs: Sequence[str], case: str | None = None) -> dict[str, str]:
    if kernel.unsupported is None:
        return {}
    asked = {arch: kernel.unsupported(arch, kernel.problem(arch, case)) for arch in archs}
    return {arch: reason for arch, reason in asked.items() if reason is not None}


def _facts(kernel: "Kernel", archs: Sequence[str]) -> dict[str, Any]:
    """Return the description of one kernel as JSON-compatible data."""
    from math import prod

    from kprof.importing.functions import unwrap
    from kprof.importing.wrappers import kernel_function

    code = kernel_function(kernel.entry).fn.__code__
    found = None if kernel.shapes else unwrap(kernel.entry)
    configs = kernel.configs if found is None else found.configs
    return {
        "name": kernel.name,
        "summary": kernel.summary,
        "source": {"file": code.co_filename, "line": code.co_firstlineno, "function": code.co_name},
        "cases": {case: dict(shape) for case, shape in kernel.shapes.items()},
        "unsupported": {case: reasons for case in kernel.shapes if (reasons := _reasons(kernel, archs, case))},
        "defaults": {arch: kernel.configure(arch, None, kernel.problem(arch)) for arch in archs},
        "configs": [dict(config) for config in configs],
        "arguments": {} if found is None else _arguments(found.jit.params),
        "space": {
            "size": prod(len(values) for values in kernel.space.values()) if kernel.space else 0,
            "knobs": {name: list(values) for name, values in kernel.space.items()},
        },
        "notes": dict(kernel.notes),
        "parts": list(kernel.parts),
        "comparisons": _comparisons(kernel),
        "checks": {name: {"shape": dict(c.shape), "config": dict(c.config)} for name, c in kernel.checks.items()},
    }


def _comparisons(kernel: "Kernel") -> list[dict[str, Any]]:
    """Return comparisons of the kernel's cases with other bundled kernels; empty for a kernel that is not bundled."""
    from kprof.tuning.choice.kernels import is_bundled
    from kprof.tuning.choice.shipped import shipped_comparisons

    if not is_bundled(kernel):
        return []
    return [{**one._asdict(), "speedup": round(one.speedup, 3)} for one in shipped_comparisons(kernel)]


def _arguments(parameters: Sequence[Any]) -> dict[str, list[str]]:
    """Return the names of passed and constexpr parameters, each with its default."""
    found: dict[str, list[str]] = {}
    for parameter in parameters:
        default = f"={parameter.default}" if parameter.has_default else ""
        found.setdefault("constexpr" if parameter.is_constexpr else "passed", []).append(f"{parameter.name}{default}")
    return found
