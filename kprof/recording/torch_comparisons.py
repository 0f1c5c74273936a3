"""Let comparisons with values that a kernel would have written return True, so a program's checks pass."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from kprof.recording.device_marks import mark_of
from kprof.recording.torch_device import StandInDevice

_COMPARISONS = ("allclose", "isclose", "equal")
_HOLDS = "_kprof_holds"
"""Attribute of ``isclose`` results that ``all`` has to treat as true everywhere.

A large result has no values, and would otherwise be false everywhere.
"""


def install(device: StandInDevice) -> None:
    """Patch torch's comparisons of whole tensors; each assumed result is recorded as a read of an unknown value."""
    import torch

    for owner in (torch, torch.Tensor):
        for name in _COMPARISONS:
            device.patches.set(owner, name, _assume_true(getattr(owner, name), name, device))
        device.patches.set(owner, "all", _assume_all_true(owner.all))


def _assume_true(original: Callable[..., Any], name: str, device: StandInDevice) -> Callable[..., Any]:
    @wraps(original)
    def compare(*args: Any, **kwargs: Any) -> Any:
        import torch

        values = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        if not any(found is not None and found.unknown for found in map(mark_of, values)):
            return original(*args, **kwargs)
        device.recorder.read(f"{name} (assumed true)")
        if name != "isclose":
            return True
        shape = torch.broadcast_tensors(*values)[0].shape  # type: ignore[no-untyped-call]
        holds = torch.ones(shape, dtype=torch.bool, device=values[0].device)
        setattr(holds, _HOLDS, True)
        return holds

    return compare


def _assume_all_true(original: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(original)
    def every(*args: Any, **kwargs: Any) -> Any:
        import torch

        if len(args) == 1 and not kwargs and getattr(args[0], _HOLDS, False):
            return torch.ones((), dtype=torch.bool, device=args[0].device)
        return original(*args, **kwargs)

    return every
