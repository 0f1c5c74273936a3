"""Answers of :mod:`kprof.tuning.trials.serve` for kernels of captures: compiled from their TTIR."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof.targets.loaded import LoadedKernel
    from kprof.targets.recompile import RecompilableKernel

Answer = dict[str, Any]


def kernels(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Compile a capture's kernels and tell of each."""
    from kprof.compiler.compile import compile_many
    from kprof.hardware.machine import load_gpu
    from kprof.targets.jobs import loaded
    from kprof.targets.recompile import recorded
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

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
        kernel = _as_recorded(each, loaded(each.job, outcome.result()), options["condition"])
        entry = with_time(analyze(kernel), kernel)
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
    from kprof.deadline import Deadline
    from kprof.targets.recompile import changed, recorded
    from kprof.tuning.trials.analysed import analysed_each

    options, launch = question["options"], question.get("launch", {})
    found, lost = recorded(question["target"], all_configs=bool(launch), **launch)
    if not found:
        raise KprofError(next(iter(lost.values())))
    (each,) = found
    asked = ((change, {**each.knobs, **change}, changed(each, change)) for change in question["changes"])
    for trial in analysed_each(
        asked, deadline=Deadline(question["seconds"]), workers=options["jobs"], use_cache=options["use_cache"],
        timed=True, adapt=lambda kernel: _as_recorded(each, kernel, options["condition"]),
    ):  # fmt: skip
        yield {"kind": "trial", "change": dict(trial.change), "report": trial.report, "error": trial.error}


def _as_recorded(each: "RecompilableKernel", kernel: "LoadedKernel", condition: str) -> "LoadedKernel":
    """What is read of a compile, with the place and the GPU of the recording."""
    from kprof.condition import CONDITIONS

    return replace(kernel, source=each.kernel.source, product=each.kernel.product, condition=CONDITIONS[condition])
