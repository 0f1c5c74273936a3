"""kprof: what an AMD GPU will do with a kernel, why, and which knob to turn.

The public names are loaded on first use, so that ``import kprof`` costs nothing. ``docs/api.md`` describes them.
"""

from kprof.version import __version__ as __version__

# A type checker takes this name for typing.TYPE_CHECKING; importing that module would take longer than all the rest.
TYPE_CHECKING = False

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
    "counter_roofline": "kprof.api.counters.roofline",
    "diagnose": "kprof.api.diagnose",
    "diff": "kprof.api.diff",
    "draw_control_flow": "kprof.api.draw_control_flow",
    "draw_layout": "kprof.api.draw_layout",
    "lint_configs": "kprof.api.lint_configs",
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
    "server_configs": "kprof.api.server_configs",
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

if TYPE_CHECKING:
    from kprof.api.advise import advise as advise
    from kprof.api.analyze import analyze as analyze
    from kprof.api.budget import budget as budget
    from kprof.api.check import check as check
    from kprof.api.counters.diff import counter_diff as counter_diff
    from kprof.api.counters.metrics import counter_metrics as counter_metrics
    from kprof.api.counters.roofline import counter_roofline as counter_roofline
    from kprof.api.diagnose import diagnose as diagnose
    from kprof.api.diff import diff as diff
    from kprof.api.draw_control_flow import draw_control_flow as draw_control_flow
    from kprof.api.draw_layout import draw_layout as draw_layout
    from kprof.api.lint_configs import lint_configs as lint_configs
    from kprof.api.live.session import Session as Session
    from kprof.api.measure import measure as measure
    from kprof.api.occupancy import occupancy as occupancy
    from kprof.api.oracle import oracle as oracle
    from kprof.api.profile import profile as profile
    from kprof.api.read_counters import read_counters as read_counters
    from kprof.api.read_mlir import read_mlir as read_mlir
    from kprof.api.read_results import read_results as read_results
    from kprof.api.read_thread_trace import read_thread_trace as read_thread_trace
    from kprof.api.read_trace import read_trace as read_trace
    from kprof.api.read_tunableop import read_tunableop as read_tunableop
    from kprof.api.report import report as report
    from kprof.api.run_report import run_report as run_report
    from kprof.api.server_configs import server_configs as server_configs
    from kprof.api.trace.breakdown import trace_breakdown as trace_breakdown
    from kprof.api.trace.diff import trace_diff as trace_diff
    from kprof.api.trace.gaps import trace_gaps as trace_gaps
    from kprof.api.trace.ops import trace_ops as trace_ops
    from kprof.api.trace.path import trace_path as trace_path
    from kprof.api.trace.ranks import trace_ranks as trace_ranks
    from kprof.api.trace.steps import trace_steps as trace_steps
    from kprof.api.trace.summary import trace_summary as trace_summary
    from kprof.api.trace.top import trace_top as trace_top
    from kprof.api.trace.tree import trace_tree as trace_tree
    from kprof.api.tune import tune as tune
    from kprof.api.validate import validate as validate
    from kprof.errors import CompileError as CompileError
    from kprof.errors import HardwareError as HardwareError
    from kprof.errors import InputError as InputError
    from kprof.errors import KprofError as KprofError
    from kprof.errors import TargetError as TargetError
    from kprof.kernel_spec import Kernel as Kernel
    from kprof.kernel_spec import Launch as Launch
    from kprof.kernel_spec import Tensor as Tensor
    from kprof.recording.scope import capture as capture
    from kprof.tuning.autotune import perf_model as perf_model
    from kprof.tuning.autotune import prune_configs as prune_configs
    from kprof.tuning.choice import select as select
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
