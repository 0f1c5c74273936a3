"""The GPU architectures, and every figure that kprof works with."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.hardware.model import Architecture


def architectures() -> "list[Architecture]":
    """Every architecture, with its products."""
    from kprof.hardware import machine

    return [machine.load(name) for name in machine.architectures()]


def architecture(name: str) -> "Architecture":
    """One architecture, by its name or a product's.

    Raises:
        HardwareError: there is none.
    """
    from kprof.hardware import machine

    return machine.load(name)


def product_of(name: str) -> str | None:
    """The product that a name means, ``None`` for an architecture's own name."""
    from kprof.hardware.machine import find_product

    found = find_product(name)
    return None if found is None else found.name


def document(arch: "Architecture") -> dict[str, Any]:
    """Every figure with its source, as ``kprof list gpus --json`` writes it."""
    from kprof.reporters.architecture import document

    return {"schema": "kprof.architecture/1", **document(arch)}


def list_document(found: "list[Architecture]") -> dict[str, Any]:
    """Architectures as ``kprof list gpus --json`` writes them."""
    rows = [{"name": a.name, "family": a.family, "products": list(a.products)} for a in found]
    return {"schema": "kprof.architectures/1", "architectures": rows}
