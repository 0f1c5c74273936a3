"""kprof: what an AMD GPU will do with a kernel, why, and which knob to turn.

The public names are loaded on first use, so that ``import kprof`` is fast. ``docs/api.md`` describes the names;
``__init__.pyi`` declares them for type checkers and editors.
"""

import os

from kprof.version import __version__ as __version__

_PUBLIC = {
    "CompileError": "kprof.errors",
    "HardwareError": "kprof.errors",
    "InputError": "kprof.errors",
    "Kernel": "kprof.kernel_spec",
    "KprofError": "kprof.errors",
    "Launch": "kprof.kernel_spec",
    "Session": "kprof.api.live.session",
    "TargetError": "kprof.errors",
    "Tensor": "kprof.kernel_spec",
    "advise": "kprof.api.advise",
    "analyze": "kprof.api.analyze",
    "bisect": "kprof.api.diff",
    "budget": "kprof.api.budget",
    "capture": "kprof.recording.scope",
    "check": "kprof.api.check",
    "counter_plan": "kprof.api.counter_plan",
    "diagnose": "kprof.api.diagnose",
    "diff": "kprof.api.diff",
    "draw_control_flow": "kprof.api.draw_control_flow",
    "draw_layout": "kprof.api.draw_layout",
    "helion_prior": "kprof.tuning.helion_prior",
    "inductor_prior": "kprof.tuning.inductor_prior",
    "measure": "kprof.api.measure",
    "occupancy": "kprof.api.occupancy",
    "oracle": "kprof.api.oracle",
    "perf_model": "kprof.tuning.autotune",
    "profile": "kprof.api.profile",
    "prune_configs": "kprof.tuning.autotune",
    "rank_configs": "kprof.tuning.ranking",
    "read_counters": "kprof.api.read_counters",
    "read_mlir": "kprof.api.read_mlir",
    "read_results": "kprof.api.read_results",
    "read_thread_trace": "kprof.api.read_thread_trace",
    "read_trace": "kprof.api.read_trace",
    "read_tunableop": "kprof.api.read_tunableop",
    "report": "kprof.api.report",
    "run_report": "kprof.api.run_report",
    "select": "kprof.tuning.choice",
    "trace_summary": "kprof.api.trace_summary",
    "tune": "kprof.api.tune",
    "validate": "kprof.api.validate",
}


_VIEWS = {
    f"{prefix}_{file[:-3]}": f"kprof.api.{folder}.{file[:-3]}"
    for folder, prefix in (("trace", "trace"), ("counters", "counter"))
    for file in os.listdir(f"{__path__[0]}/api/{folder}")  # noqa: PTH208 - pathlib takes long to import
    if file.endswith(".py") and not file.startswith("_")
}
"""Module of each view function; each file in these folders defines one view function, named after folder and file."""
_PUBLIC |= _VIEWS
_EXTENSION = "load_ipython_extension"
"""Name of the function that ``%load_ext kprof`` calls."""
_APART = ("lint_configs", "server_configs")
"""Public functions that packages outside the core define."""

__all__ = sorted([*_PUBLIC, *_APART, "__version__"])  # noqa: PLE0605 - views are files


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name in _PUBLIC:
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)
        return value
    if name == _EXTENSION:
        from kprof.notebook import load_ipython_extension

        return load_ipython_extension
    if name in _APART:
        from kprof.plug_ins import MissingPackageError, load

        try:
            value = globals()[name] = load("kprof.functions", name)
        except MissingPackageError as error:
            raise AttributeError(str(error)) from None
        return value
    raise AttributeError(f"module 'kprof' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, loaded or not."""
    return sorted(__all__)
