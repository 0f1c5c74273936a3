"""Answers of :mod:`kprof.tuning.trials.serve` for kernels of captures: compiled from their TTIR."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.targets.jobs import TargetJob
    from kprof.targets.recompile import RecompilableKernel

Answer = dict[str, Any]


def kernels(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Compile a capture's kernels and tell of each."""
    from kprof.compiler.compile import compile_many
    from kprof.hardware.machine import load_gpu
    from kprof.targets.recompile import recorded

    options = question["options"]
    archs = [load_gpu(name)[0].name for name in options["arch"]]
    found, lost = recorded(question["target"], archs, all_configs=options["all_configs"])
    for name, why in lost.items():
        yield {"kind": "unread", "name": name, "error": why}
    requests = [each.job.request for each in found]
    for outcome in compile_many(requests, options["jobs"] or None, cache=options["use_cache"]):
        each = found[outcome.index]
        place = {"index": outcome.index, "name": each.job.name, "arch": each.job.machine.name}
        if outcome.compiled is None:
            # TTIR that this Triton cannot read says nothing of what it makes of the kernel.
            kind = "unread" if outcome.path is not None and "TTIR" in (outcome.error or "") else "lost"
            yield {"kind": kind, **place, "error": outcome.error or outcome.status}
            continue
        entry = _entry(each, each.job, outcome.result())
        yield {"kind": "kernel", **place, "report": entry, "config": dict(each.knobs), "target": each.target}


def changes(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Changes of the compiler's options, one at a time: tile sizes are in the TTIR."""
    from kprof.compiler.versions import installed
    from kprof.hardware.machine import load_gpu
    from kprof.tuning.trials.changes import option_changes

    machine = load_gpu(question["arch"])[0]
    found = option_changes(question["config"], machine, question["rules"], version=installed().numbers)
    yield {"kind": "changes", "changes": list(found)}


def trials(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Compile a kernel with each change, as far as the time allows."""
    from kprof.compiler.compile import compile_many
    from kprof.targets.recompile import changed, recorded

    ((each,), _lost) = recorded(question["target"])
    deadline = time.monotonic() + question["seconds"]
    options = question["options"]
    begun: list[tuple[Mapping[str, Any], TargetJob]] = []

    def requests() -> Iterator[Any]:
        for change in question["changes"]:
            if time.monotonic() >= deadline:
                return
            job = changed(each, change)
            begun.append((change, job))
            yield job.request

    for outcome in compile_many(requests(), options["jobs"] or None, cache=options["use_cache"]):
        change, job = begun[outcome.index]
        entry = None if outcome.compiled is None else _entry(each, job, outcome.compiled, timed=True)
        error = None if entry is not None else outcome.error or outcome.status
        yield {"kind": "trial", "change": dict(change), "report": entry, "error": error}


def _entry(each: "RecompilableKernel", job: "TargetJob", compiled: Any, *, timed: bool = False) -> "KernelReport":
    from kprof.targets.jobs import loaded
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

    kernel = replace(loaded(job, compiled), source=each.kernel.source, product=each.kernel.product)
    return with_time(analyze(kernel), kernel) if timed else analyze(kernel)
