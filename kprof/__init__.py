"""kprof: what an AMD GPU will do with a kernel, why, and which knob to turn.

The public names are loaded on first use, so that ``import kprof`` costs nothing. ``docs/api.md`` describes them;
``__init__.pyi`` tells type checkers and editors.
"""

from kprof.version import __version__ as __version__

__all__ = [
    "CompileError",
    "HardwareError",
    "InputError",
    "Kernel",
    "KprofError",
    "Launch",
    "Session",
    "TargetError",
    "Tensor",
    "__version__",
    "advise",
    "analyze",
    "budget",
    "capture",
    "check",
    "counter_diff",
    "counter_metrics",
    "counter_plan",
    "counter_roofline",
    "diagnose",
    "diff",
    "draw_control_flow",
    "draw_layout",
    "lint_configs",
    "measure",
    "occupancy",
    "oracle",
    "perf_model",
    "profile",
    "prune_configs",
    "read_counters",
    "read_mlir",
    "read_results",
    "read_thread_trace",
    "read_trace",
    "read_tunableop",
    "report",
    "run_report",
    "select",
    "server_configs",
    "trace_breakdown",
    "trace_diff",
    "trace_gaps",
    "trace_ops",
    "trace_path",
    "trace_ranks",
    "trace_steps",
    "trace_summary",
    "trace_top",
    "trace_tree",
    "tune",
    "validate",
]

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
    "budget": "kprof.api.budget",
    "capture": "kprof.recording.scope",
    "check": "kprof.api.check",
    "counter_diff": "kprof.api.counters.diff",
    "counter_metrics": "kprof.api.counters.metrics",
    "counter_plan": "kprof.api.counters.plan",
    "counter_roofline": "kprof.api.counters.roofline",
    "diagnose": "kprof.api.diagnose",
    "diff": "kprof.api.diff",
    "draw_control_flow": "kprof.api.draw_control_flow",
    "draw_layout": "kprof.api.draw_layout",
    "measure": "kprof.api.measure",
    "occupancy": "kprof.api.occupancy",
    "oracle": "kprof.api.oracle",
    "perf_model": "kprof.tuning.autotune",
    "profile": "kprof.api.profile",
    "prune_configs": "kprof.tuning.autotune",
    "read_counters": "kprof.api.read_counters",
    "read_mlir": "kprof.api.read_mlir",
    "read_results": "kprof.api.read_results",
    "read_thread_trace": "kprof.api.read_thread_trace",
    "read_trace": "kprof.api.read_trace",
    "read_tunableop": "kprof.api.read_tunableop",
    "report": "kprof.api.report",
    "run_report": "kprof.api.run_report",
    "select": "kprof.tuning.choice",
    "trace_breakdown": "kprof.api.trace.breakdown",
    "trace_diff": "kprof.api.trace.diff",
    "trace_gaps": "kprof.api.trace.gaps",
    "trace_ops": "kprof.api.trace.ops",
    "trace_path": "kprof.api.trace.path",
    "trace_ranks": "kprof.api.trace.ranks",
    "trace_steps": "kprof.api.trace.steps",
    "trace_summary": "kprof.api.trace.summary",
    "trace_top": "kprof.api.trace.top",
    "trace_tree": "kprof.api.trace.tree",
    "tune": "kprof.api.tune",
    "validate": "kprof.api.validate",
}


def __getattr__(name: str) -> object:
    """Load a public name on first use."""
    if name in _PUBLIC:
        from importlib import import_module

        value = globals()[name] = getattr(import_module(_PUBLIC[name]), name)
        return value
    if name in __all__:
        from kprof.plug_ins import MissingPackageError, load

        try:
            value = globals()[name] = load("kprof.functions", name)
        except MissingPackageError as error:
            raise AttributeError(str(error)) from None
        return value
    raise AttributeError(f"module 'kprof' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
