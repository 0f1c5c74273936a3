"""``kprof.select``: which implementation and configuration to use for a shape."""

from typing import Any

from kprof.tuning.choice import ConsideredImplementation, ImplementationChoice, select

__all__ = ["ConsideredImplementation", "ImplementationChoice", "document", "select"]


def document(found: ImplementationChoice) -> dict[str, Any]:
    """A selection as ``kprof select --json`` writes it."""
    import msgspec

    return {"schema": "kprof.selection/1", **msgspec.to_builtins(found, enc_hook=str)}
