"""Recording what a PyTorch and Triton program launches, and reading such a recording. See ``docs/capture.md``.

The names here are loaded on first use: what runs inside the recorded program imports the standard library only.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.recording.model import Capture as Capture
    from kprof.recording.model import CapturedKernel as CapturedKernel
    from kprof.recording.reader import is_capture as is_capture
    from kprof.recording.reader import read as read
    from kprof.recording.scope import capture as capture

_PUBLIC = {
    "Capture": "model",
    "CapturedKernel": "model",
    "capture": "scope",
    "is_capture": "reader",
    "read": "reader",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
