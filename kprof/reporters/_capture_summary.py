"""Summarise a capture as JSON: ``kprof.capture.summary/1``."""

from typing import Any

from kprof.captures.model import Capture, CapturedKernel

SCHEMA = "kprof.capture.summary/1"


def summary(capture: Capture, status: int = 0) -> dict[str, Any]:
    """Return a capture's summary: kernels with their launches, autotuners, reads of unknown values, and notes.

    Args:
        capture: the capture.
        status: exit status of the program.
    """
    return {
        "schema": SCHEMA,
        "arch": capture.arch,
        "path": str(capture.path),
        "executed": capture.executed,
        "complete": capture.complete,
        "program": {"command": capture.head.command, "status": status},
        "launches": capture.launch_count,
        "kernels": [_kernel(kernel) for kernel in capture.kernels],
        "autotuners": [
            {"name": tuning.name, "candidates": dict(tuning.candidates), "errors": dict(tuning.errors)}
            for tuning in capture.tunings
        ],
        "unknown_values": {
            "count": capture.reads_count,
            "places": [{"what": what, "site": list(site)} for what, site in capture.reads],
        },
        "operators": {
            "ran": dict(capture.ran),
            "launched_nothing": dict(capture.silent),
            "torch": dict(capture.torch),
            "answered_without_running": [
                {"name": o.name, "how": o.how, "calls": o.calls, "site": list(o.site)} for o in capture.unrun
            ],
        },
        "left_out": [
            {"language": one.language, "launches": one.launches, "reason": one.reason} for one in capture.left_out
        ],
        "notes": list(capture.notes),
    }


def _kernel(kernel: CapturedKernel) -> dict[str, Any]:
    return {
        "id": kernel.id,
        "name": kernel.name,
        "module": kernel.module,
        "source": kernel.source,
        "triton": kernel.triton or None,
        "compiler": kernel.compiler or f"Triton {kernel.triton}",
        "specialization": kernel.specialization,
        "launches": kernel.launches,
        "grids": [{"grid": list(grid), "launches": count} for grid, count in kernel.grids.items()],
        "configs": list(kernel.configs),
        "choice_unknown": kernel.choice_unknown,
        "status": kernel.result.status if kernel.result is not None else None,
        "error": kernel.error,
        "launch_problems": [str(problem) for problem in kernel.launch_problems],
        "seconds": kernel.result.seconds if kernel.result is not None else None,
        "cached": kernel.result.cached if kernel.result is not None else None,
    }
