"""``kprof.select``: choose the implementation and configuration for a shape."""

from typing import Any

from kprof.hardware.default import DEFAULT_GPU
from kprof.options.programs import SelectOptions
from kprof.tuning.choice import ConsideredImplementation, ImplementationChoice, select

__all__ = ["ConsideredImplementation", "ImplementationChoice", "document", "select", "select_by"]


def select_by(kernel: str, options: SelectOptions) -> ImplementationChoice:
    """Call :func:`select` with the options of ``kprof select``.

    Raises:
        KprofError: as :func:`select`.
    """
    arch = options.one_gpu("kprof select") or DEFAULT_GPU
    return select(kernel, options.sizes, arch, options.table, predict=options.predict, condition=options.condition)


def document(found: ImplementationChoice) -> dict[str, Any]:
    """Return a selection as ``kprof select --json`` writes it."""
    import msgspec

    return {"schema": "kprof.selection/1", **msgspec.to_builtins(found, enc_hook=str)}
