"""kprof: what an AMD GPU will do with a kernel, why, and which knob to turn.

The public names are loaded on first use, so that ``import kprof`` costs nothing. ``docs/api.md`` describes them.
"""

from kprof.version import __version__ as __version__

# A type checker takes this name for typing.TYPE_CHECKING; importing that module would take longer than all the rest.
TYPE_CHECKING = False

__all__ = [
    "Kernel",
    "Launch",
    "Tensor",
    "__version__",
    "advise",
    "analyze",
    "budget",
    "capture",
    "check",
    "diff",
    "occupancy",
    "perf_model",
    "prune_configs",
    "read_counters",
    "read_trace",
    "report",
    "select",
    "tune",
]

_PUBLIC = {
    "Kernel": "kprof.kernel_spec",
    "Launch": "kprof.kernel_spec",
    "Tensor": "kprof.kernel_spec",
    "advise": "kprof.api.advise",
    "analyze": "kprof.api.analyze",
    "budget": "kprof.api.budget",
    "capture": "kprof.recording.scope",
    "check": "kprof.api.check",
    "diff": "kprof.api.diff",
    "occupancy": "kprof.api.occupancy",
    "perf_model": "kprof.tuning.autotune",
    "prune_configs": "kprof.tuning.autotune",
    "read_counters": "kprof.api.read_counters",
    "read_trace": "kprof.api.read_trace",
    "report": "kprof.api.report",
    "select": "kprof.tuning.dispatch_table",
    "tune": "kprof.api.tune",
}

if TYPE_CHECKING:
    from kprof.api.advise import advise as advise
    from kprof.api.analyze import analyze as analyze
    from kprof.api.budget import budget as budget
    from kprof.api.check import check as check
    from kprof.api.diff import diff as diff
    from kprof.api.occupancy import occupancy as occupancy
    from kprof.api.read_counters import read_counters as read_counters
    from kprof.api.read_trace import read_trace as read_trace
    from kprof.api.report import report as report
    from kprof.api.tune import tune as tune
    from kprof.kernel_spec import Kernel as Kernel
    from kprof.kernel_spec import Launch as Launch
    from kprof.kernel_spec import Tensor as Tensor
    from kprof.recording.scope import capture as capture
    from kprof.tuning.autotune import perf_model as perf_model
    from kprof.tuning.autotune import prune_configs as prune_configs
    from kprof.tuning.dispatch_table import select as select
else:

    def __getattr__(name: str) -> object:
        """Load a public name on first use."""
        if name in _PUBLIC:
            from importlib import import_module

            value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)
            return value
        raise AttributeError(f"module 'kprof' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
