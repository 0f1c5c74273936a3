"""The process that compiles and analyses with another Triton: answers the questions of :mod:`kprof.compiler.child`.

========== ==============================================================================================
question   answers
========== ==============================================================================================
kernels    for each compile of a target: ``kernel`` with its report and knobs, or ``lost`` with the reason; a kernel
           of a capture also has its own ``target``, and is ``unread`` if this Triton cannot read its TTIR
switches   environment switches of this Triton, and whether each is on
changes    changes of knobs that are worth a compile, most promising first
trials     ``trial`` for each change: the kernel's report, or the reason why there is none
stages     ``stages``: text of each stage up to LLVM IR with the compile's metadata
through_   ``code``: the report on the code that this Triton's LLVM generates from another Triton's ``stages``
llvm
========== ==============================================================================================
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from kprof.children import end_with_parent
from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof.document import KernelReport
    from kprof.hardware.machine import Architecture, Product
    from kprof.kernel_spec import Kernel
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import TargetJob
    from kprof.targets.loaded import LoadedKernel
    from kprof.targets.recompile import RecompilableKernel

Answer = dict[str, Any]

# Short names such as BM, BN, B_K, which :mod:`kprof.tuning.trials.changes` does not recognise as tile sizes.
_SHORT_TILE = re.compile(r"B_?[MNKQ]")


def main() -> None:
    """Answer questions until standard input ends."""
    end_with_parent()
    # Output of the user's file and of the compiler must not mix with the answers.
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)

    def send(answer: Answer) -> None:
        answers.write(msgspec.json.encode(answer, enc_hook=str) + b"\n")

    for line in sys.stdin.buffer:
        question = json.loads(line)
        try:
            for answer in _answers(question):
                send(answer)
        except KprofError as error:
            send(
                {
                    "kind": "failed",
                    "error": error.message,
                    "path": error.path,
                    "place": error.place,
                    "hint": error.hint,
                }
            )
            continue
        send({"kind": "done"})


def _answers(question: Mapping[str, Any]) -> Iterator[Answer]:
    from kprof.targets.recompile import is_recorded

    if "target" in question and is_recorded(question["target"]):
        of_captures = {"kernels": captured_kernels, "changes": captured_changes, "trials": captured_trials}
        if question["ask"] in of_captures:
            return of_captures[question["ask"]](question)
    return _QUESTIONS[question["ask"]](question)


def _kernels(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Compile a target and describe each kernel."""
    from kprof.compiler.compile import compile_many
    from kprof.targets.jobs import plan

    options, machines = _options(question), _machines(question)
    # Among several products of one architecture, the last one counts.
    gpus = list({machine.name: (machine, product) for machine, product in machines}.values())
    products = {machine.name: product for machine, product in gpus}
    jobs = [job for machine, product in gpus for job in plan(question["target"], [machine], options, product)]
    configs = _configs(jobs, question["target"], gpus, options)
    requests = [job.request for job in jobs]
    for outcome in compile_many(requests, options.jobs or None, cache=options.use_cache):
        job = jobs[outcome.index]
        place = {"index": outcome.index, "name": job.name, "arch": job.machine.name}
        if outcome.compiled is None:
            yield {"kind": "lost", **place, "error": outcome.error or outcome.status}
            continue
        entry = _entry(job, outcome.result(), products[job.machine.name])
        # A part of a kernel is compiled again under its own name.
        part = job.name.rpartition("::")[2] if job.job and job.name != job.job.partition(" (")[0] else ""
        own = {"target": f"{question['target'].partition('::')[0]}::{part}"} if part else {}
        yield {"kind": "kernel", **place, "report": entry, "config": configs[outcome.index], **own}


def _entry(job: "TargetJob", compiled: Any, product: "Product | None") -> "KernelReport":
    from kprof.targets.jobs import loaded
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

    kernel = replace(loaded(job, compiled), product=product)
    return with_time(analyze(kernel), kernel)


def _configs(
    jobs: "list[TargetJob]",
    target: str,
    gpus: "list[tuple[Architecture, Product | None]]",
    options: "CompileOptions",
) -> list[dict[str, Any]]:
    """Return the knobs of each compile; all launches of a call share its knobs."""
    calls = iter(_configs_of_calls(target, gpus, options))
    found: list[dict[str, Any]] = []
    for job in jobs:
        begins = not job.job or job.name == job.job.partition(" (")[0]
        found.append(next(calls) if begins else found[-1])
    return found


def _configs_of_calls(
    target: str, gpus: "list[tuple[Architecture, Product | None]]", options: "CompileOptions"
) -> list[dict[str, Any]]:
    """Return the knobs of each call, in the order of :func:`kprof.targets.jobs.plan`."""
    from kprof.targets.library import load

    kernel = load(target)
    if not kernel.shapes or options.signature is not None:
        return [{**options.constexpr, **options.config} for _ in gpus]
    found: list[dict[str, Any]] = []
    for machine, product in gpus:
        problem = kernel.problem(machine.name, options.case, options.sizes)
        overrides: list[Mapping[str, Any]] = [options.config]
        if options.all_configs:
            overrides = [{**config, **options.config} for config in kernel.configs] or overrides
        gpu = machine.name if product is None else product.name
        found += [dict(kernel.configure(gpu, override, problem)) for override in overrides]
    return found


def _switches(question: Mapping[str, Any]) -> Iterator[Answer]:
    from kprof.compiler.switches import switches
    from kprof.hardware.machine import load_gpu

    yield {"kind": "switches", "switches": switches(load_gpu(question["arch"])[0].name)}


def _changes(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Return changes without environment switches: changes of one knob before changes of two."""
    from kprof.compiler.versions import CODE_SWITCHES, installed
    from kprof.tuning.trials.changes import neighbours

    kernel, machine, options = _kernel_and_options(question)
    problem: Mapping[str, Any] = {}
    if kernel.shapes and options.signature is None:
        problem = kernel.problem(machine.name, options.case, options.sizes)
    found = neighbours(kernel, problem, question["config"], machine, question["rules"], version=installed().numbers)
    changes = [change for change in found if not set(change) & set(CODE_SWITCHES)]
    if kernel.legal is None:
        # Without a specification, a kernel's tile sizes can only be recognised by their names.
        tiles = {name: value for name, value in question["config"].items() if _SHORT_TILE.fullmatch(name)}
        sized = ((n, v) for n, v in tiles.items() if isinstance(v, int) and v >= 32 and v & (v - 1) == 0)
        changes += [{name: value // 2} for name, value in sized]
    if options.grid and not any(isinstance(axis, str) for axis in options.grid):
        # With a fixed number of workgroups, other tile sizes would change the amount of work.
        changes = [change for change in changes if not set(change) & set(options.constexpr)]
    yield {"kind": "changes", "changes": sorted(changes, key=len)}


def _trials(question: Mapping[str, Any]) -> Iterator[Answer]:
    from kprof.compiler.environment import SWITCHES
    from kprof.deadline import Deadline
    from kprof.hardware.machine import find_product
    from kprof.tuning.trials.search import compile_changes

    kernel, machine, options = _kernel_and_options(question)
    known = {*SWITCHES, *question.get("switches", ())}
    for trial in compile_changes(
        kernel, machine, options, question["config"], question["changes"], deadline=Deadline(question["seconds"]),
        switches=known, timed=True, product=find_product(question["arch"]),
    ):  # fmt: skip
        yield {"kind": "trial", "change": dict(trial.change), "report": trial.report, "error": trial.error}


def _stages(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Compile the unchanged kernel and return its stages."""
    from kprof.compiler.compile import compile_many

    job, _ = _job(question)
    (outcome,) = compile_many([job.request], 1, cache=question["options"]["use_cache"])
    made = outcome.result()
    texts = {stage: made.text(stage) for stage in ("ttir", "ttgir", "llir")}
    yield {"kind": "stages", "stages": {**texts, "metadata": dict(made.metadata), "line": made.source_line}}


def _through_llvm(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Compile another Triton's LLVM IR in this process, which ends if LLVM crashes."""
    from kprof.compiler import versions
    from kprof.compiler.in_process import assembly_of
    from kprof.compiler.request import Compiled
    from kprof.targets.jobs import loaded
    from kprof_analyzers.model.timed import with_time
    from kprof_analyzers.pipeline import analyze

    job, adapt = _job(question)
    api = versions.api()
    stages = dict(question["stages"])
    metadata, line = stages.pop("metadata"), stages.pop("line")
    stages["amdgcn"] = assembly_of(api, job.request, stages["llir"])
    made = Compiled(job.request, stages, metadata, api.version, 0.0, cached=False, hash="", source_line=line)
    kernel = adapt(loaded(job, made))
    yield {"kind": "code", "report": with_time(analyze(kernel), kernel)}


def _job(question: Mapping[str, Any]) -> "tuple[TargetJob, Callable[[LoadedKernel], LoadedKernel]]":
    """Return the compile of the unchanged kernel, and a function that completes the loaded result."""
    from kprof.compiler.environment import SWITCHES
    from kprof.hardware.machine import find_product
    from kprof.targets.jobs import jobs_of
    from kprof.targets.recompile import is_recorded, recorded

    if is_recorded(question["target"]):
        launch = question.get("launch", {})
        found, lost = recorded(question["target"], all_configs=bool(launch), **launch)
        if not found:
            raise KprofError(next(iter(lost.values())))
        (each,) = found
        return each.job, lambda kernel: _as_recorded(each, kernel, question["options"]["condition"])
    kernel, machine, options = _kernel_and_options(question)
    config = question["config"]
    knobs = {name: value for name, value in config.items() if name not in SWITCHES}
    switches = {name: str(value) for name, value in config.items() if name in SWITCHES}
    product = find_product(question["arch"])
    own = replace(options, config=knobs, env={**options.env, **switches})
    (job,) = jobs_of(kernel, machine, own, product)
    return job, lambda kernel: kernel if product is None else replace(kernel, product=product)


def _kernel_and_options(question: Mapping[str, Any]) -> "tuple[Kernel, Architecture, CompileOptions]":
    from kprof.hardware.machine import load_gpu
    from kprof.targets.target import kernel_of

    machine, _ = load_gpu(question["arch"])
    return kernel_of(question["target"], machine.name), machine, _options(question)


def _options(question: Mapping[str, Any]) -> "CompileOptions":
    from kprof.options.groups import CompileOptions

    return CompileOptions(**question["options"])


def _machines(question: Mapping[str, Any]) -> "list[tuple[Architecture, Product | None]]":
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.hardware.machine import load_gpu

    return [load_gpu(name) for name in question["options"]["arch"] or [DEFAULT_GPU]]


_QUESTIONS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Answer]]] = {
    "kernels": _kernels,
    "switches": _switches,
    "changes": _changes,
    "trials": _trials,
    "stages": _stages,
    "through_llvm": _through_llvm,
}


def captured_kernels(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Compile a capture's kernels and describe each."""
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
            # If this Triton cannot read the TTIR, that says nothing about how well it compiles the kernel.
            kind = "unread" if outcome.path is not None and "TTIR" in (outcome.error or "") else "lost"
            yield {"kind": kind, **place, "error": outcome.error or outcome.status}
            continue
        kernel = _as_recorded(each, loaded(each.job, outcome.result()), options["condition"])
        entry = with_time(analyze(kernel), kernel)
        yield {"kind": "kernel", **place, "report": entry, "config": dict(each.knobs), "target": each.target}


def captured_changes(question: Mapping[str, Any]) -> Iterator[Answer]:
    """Return changes of single compiler options; tile sizes are fixed in the TTIR."""
    from kprof.compiler.versions import installed
    from kprof.hardware.machine import load_gpu
    from kprof.tuning.trials.changes import option_changes

    machine = load_gpu(question["arch"])[0]
    found = option_changes(question["config"], machine, question["rules"], version=installed().numbers)
    yield {"kind": "changes", "changes": list(found)}


def captured_trials(question: Mapping[str, Any]) -> Iterator[Answer]:
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
    """Return a compiled kernel with source, GPU and condition of the recording."""
    from kprof.condition import CONDITIONS

    return replace(kernel, source=each.kernel.source, product=each.kernel.product, condition=CONDITIONS[condition])
