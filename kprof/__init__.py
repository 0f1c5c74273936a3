"""kprof: what an AMD GPU will do with a kernel, why, and which knob to turn.

The public names are loaded on first use, so that ``import kprof`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

from kprof.version import __version__ as __version__

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel as Kernel
    from kprof.kernel_spec import Launch as Launch
    from kprof.kernel_spec import Tensor as Tensor

_PUBLIC = {
    "capture": "kprof.recording.scope",
    "Kernel": "kprof.kernel_spec",
    "Launch": "kprof.kernel_spec",
    "Tensor": "kprof.kernel_spec",
    "perf_model": "kprof.tuning.autotune",
    "prune_configs": "kprof.tuning.autotune",
    "select": "kprof.tuning.dispatch_table",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name in _PUBLIC:
        from importlib import import_module

        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'kprof' has no attribute {name!r}")
