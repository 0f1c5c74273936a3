"""The GPU architectures and their hardware figures."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.hardware.model import Architecture


def architectures() -> "list[Architecture]":
    """Return every known architecture, with its products."""
    from kprof.hardware import machine

    return [machine.load(name) for name in machine.architectures()]


def architecture(name: str) -> "Architecture":
    """Return the architecture with this name, or of the product with this name.

    Raises:
        HardwareError: no architecture or product has this name.
    """
    from kprof.hardware import machine

    return machine.load(name)


def product_of(name: str) -> str | None:
    """Return the product's name if a name means a product, else ``None``."""
    from kprof.hardware.machine import find_product

    found = find_product(name)
    return None if found is None else found.name


def document(arch: "Architecture") -> dict[str, Any]:
    """Return every hardware figure with its source, as ``kprof list gpus --json`` writes them."""
    from kprof.reporters.architecture import document

    return {"schema": "kprof.architecture/1", **document(arch)}


def list_document(found: "list[Architecture]") -> dict[str, Any]:
    """Return the architectures as ``kprof list gpus --json`` writes them."""
    rows = [{"name": a.name, "family": a.family, "products": list(a.products)} for a in found]
    return {"schema": "kprof.architectures/1", "architectures": rows}
