"""Comparisons with what kernels would have written: taken to hold, so that a program's own checks let it go on."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from kprof.recording.device_marks import mark_of
from kprof.recording.torch_device import StandInDevice

_NAMES = ("allclose", "isclose", "equal")


def install(device: StandInDevice) -> None:
    """Change torch's comparisons of whole tensors; each that is answered so counts as a look at an unknown value."""
    import torch

    for owner in (torch, torch.Tensor):
        for name in _NAMES:
            device.patches.set(owner, name, _agreeing(getattr(owner, name), name, device))


def _agreeing(original: Callable[..., Any], name: str, device: StandInDevice) -> Callable[..., Any]:
    @wraps(original)
    def compare(*args: Any, **kwargs: Any) -> Any:
        import torch

        values = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        if not any(found is not None and found.unknown for found in map(mark_of, values)):
            return original(*args, **kwargs)
        device.recorder.read(f"{name} (taken to hold)")
        if name != "isclose":
            return True
        shape = torch.broadcast_tensors(*values)[0].shape  # type: ignore[no-untyped-call]
        return torch.ones(shape, dtype=torch.bool, device=values[0].device)

    return compare
