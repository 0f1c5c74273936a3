"""Names for shell completion, found without importing or compiling kernels."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kprof.targets.library import KernelSummary


def kernels() -> dict[str, str]:
    """Return the bundled kernels and their parts (``gemm::reduce``), each with a one-line description."""
    from kprof.targets import library

    found = {}
    for kernel in library.catalogue():
        found[kernel.name] = kernel.summary
        found.update({f"{kernel.name}::{part}": f"a part of {kernel.name}" for part in kernel.parts})
    return found


def cases(target: str) -> tuple[str, ...]:
    """Return the case names of a bundled kernel; empty for any other target."""
    kernel = _bundled(target)
    return () if kernel is None else kernel.cases


def architectures() -> dict[str, str]:
    """Map the name of each architecture to its family, and the name of each product to its architecture."""
    from kprof.hardware import machine

    families = {name: machine.load(name).family for name in machine.architectures()}
    return {**families, **machine.products()}


def rules() -> dict[str, str]:
    """Map the identifier of each rule to its name."""
    from kprof.api.rules import rules as all_rules

    return {rule.id: rule.name for rule in all_rules()}


def _bundled(target: str) -> "KernelSummary | None":
    from kprof.targets import library

    name = target.partition("::")[0]
    path = library.bundled().get(name)
    return None if path is None else library.read_entry(name, path)
