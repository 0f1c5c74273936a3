"""Record kernels that Inductor generates: they are compiled in this process, and no configuration is timed."""

import contextlib
import copy
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.cache import location
from kprof.recording.generated import GeneratedLaunch

if TYPE_CHECKING:
    from kprof.recording.recorder import Recorder
    from kprof.simulation.patches import Patches

MODULE = "torch._inductor.runtime.triton_heuristics"
"""Module after whose import :func:`install` has to run."""

TRIALS = "torch._inductor.codegen.triton"
"""Module after whose import :func:`install_trials` has to run."""

CHOICES = "torch._inductor.select_algorithm"
"""Module after whose import :func:`install_choices` has to run."""

DYNAMO = "torch._dynamo.convert_frame"
"""Module after whose import :func:`tolerate` has to run."""

DYNAMO_PACKAGE = "torch._dynamo"
"""Package after whose import the dispatch modes have to be protected from being compiled by it."""

_NOTE = 200


def prepare(cache: str | None) -> Callable[[], None]:
    """Set the environment variables that Inductor reads at import; return a function that restores them.

    Inductor's own compile processes would bypass the recording. Its caches are off, so every recording is
    complete. Its output goes to a separate folder, because real runs must not find it.
    """
    wanted = {
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    if cache is not None and "TORCHINDUCTOR_CACHE_DIR" not in os.environ:
        own = Path(cache) / "inductor"
        # The folder must be private, because code in it is executed.
        with contextlib.suppress(OSError):
            location.make_folder(own)
        wanted["TORCHINDUCTOR_CACHE_DIR"] = str(own)
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)

    def restore() -> None:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    return restore


def tolerate(recorder: "Recorder", patches: "Patches") -> None:
    """Let graphs that Inductor cannot compile here run as plain torch, and record a note.

    Graphs with a backward pass are traced through torch's C++ engine, which does not know a GPU in a build without one;
    :mod:`kprof.recording.inductor_backward` enables some of them.
    """
    from torch._dynamo import config, convert_frame

    module: Any = convert_frame
    original = module.exception_handler

    def handler(error: BaseException, *args: Any, **kwargs: Any) -> Any:
        reason = str(getattr(error, "inner_exception", None) or error).strip() or repr(error)
        short = reason.splitlines()[0].partition(". ")[0][:_NOTE]
        recorder.note(f"torch.compile: a graph runs as plain torch and is not recorded: {short}")
        return original(error, *args, **kwargs)

    patches.set_value(config, "suppress_errors", True)
    # The note replaces torch's own warning, which is a hundred lines long.
    patches.set(logging.getLogger(DYNAMO), "disabled", True)
    patches.set(module, "exception_handler", handler)


def install(recorder: "Recorder", patches: "Patches") -> None:
    """Route Inductor's autotuners through the recorder."""
    from torch._inductor import config
    from torch._inductor.runtime import benchmarking
    from torch._inductor.runtime.triton_heuristics import CachingAutotuner

    tuner: Any = CachingAutotuner
    original_bench, original_run = tuner.bench, tuner.run

    def bench(self: Any, launcher: Any, *args: Any, **kwargs: Any) -> Any:
        with recorder.candidate(getattr(launcher, "config", ""), launcher):
            return original_bench(self, launcher, *args, **kwargs)

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        def again(launchers: Sequence[Any]) -> None:
            for launcher in launchers:
                bench(self, launcher, *args, **{name: value for name, value in kwargs.items() if name != "stream"})

        with recorder.tuning(self, again, generated_launch(self, args, kwargs)):
            return original_run(self, *args, **kwargs)

    def benchmark(_self: Any, kernel_call: Callable[[], Any], *_args: Any, **_options: Any) -> float:
        with recorder.trial():
            kernel_call()
        # Equal times make Inductor use the first configuration.
        return 1.0

    patches.set_value(config, "autotune_local_cache", False)
    patches.update(tuner, {"bench": bench, "run": run})
    for name in ("TritonBenchmarker", "InductorBenchmarker", "TorchProfilerBenchmarker"):
        found = getattr(benchmarking, name, None)
        if found is not None:
            patches.set(found, "benchmark_gpu", benchmark)


def install_trials(recorder: "Recorder", patches: "Patches") -> None:
    """Keep Inductor's fusion trials out of the recorded launches.

    To decide which operators to fuse, Inductor writes each candidate as a kernel ``triton_`` and calls it once outside
    its benchmarker.
    """
    from torch._inductor.codegen.triton import TritonScheduling

    scheduling: Any = TritonScheduling

    def of_trial(original: Callable[..., Any]) -> Callable[..., Any]:
        def called(self: Any, *args: Any, **kwargs: Any) -> Any:
            with recorder.trial():
                return original(self, *args, **kwargs)

        return called

    for name in ("benchmark_codegened_module", "benchmark_combo_kernel"):
        original = getattr(scheduling, name, None)
        if original is not None:
            patches.set(scheduling, name, of_trial(original))


def install_choices(recorder: "Recorder", patches: "Patches") -> None:
    """Let Inductor use its first choice without timing, and record a note instead of printing its table of times.

    No choice is called, because Inductor creates the inputs outside of all dispatch modes, where a torch that was built
    for a GPU needs a real GPU.
    """
    from torch._inductor import select_algorithm

    module: Any = select_algorithm
    selector = module.AlgorithmSelectorCache

    def all_alike(_cls: Any, choices: Sequence[Any], *_: Any, **__: Any) -> dict[Any, float]:
        return dict.fromkeys(choices, 1.0)

    def log_results(name: str, _input_nodes: Any, timings: Mapping[Any, float], *_: Any, **__: Any) -> None:
        if len(timings) > 1:
            recorder.note(f"torch.compile: the first of {len(timings)} choices for {name} is recorded, none is timed")

    for name in ("benchmark_in_current_process", "benchmark_in_sub_process"):
        if hasattr(selector, name):
            patches.set(selector, name, classmethod(all_alike))
    if hasattr(selector, "log_results"):
        patches.set(selector, "log_results", staticmethod(log_results))
    if hasattr(module, "_log_autotune_choices_stats"):
        patches.set(module, "_log_autotune_choices_stats", lambda *_args, **_kwargs: None)


def generated_launch(tuner: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> GeneratedLaunch:
    """Return an object that can repeat one of Inductor's launches with other block sizes.

    Args:
        tuner: Inductor's ``CachingAutotuner``.
        args: positional arguments of the call of its ``run``.
        kwargs: keyword arguments of that call, including the stream.
    """

    def launch(change: Mapping[str, Any]) -> None:
        config = copy.deepcopy(tuner.launchers[0].config)
        unknown = change.keys() - config.kwargs.keys()
        if unknown:
            raise ValueError(f"Inductor does not tune {', '.join(sorted(unknown))} for this kernel")
        config.kwargs.update(change)
        tuner._precompile_config(config).make_launcher()(*args, **kwargs)  # noqa: SLF001 - no public way to a launcher

    kind = str(getattr(tuner.heuristic_type, "name", "")).lower()
    return GeneratedLaunch(launch, lambda: _largest_search(tuner, kind), kind)


def _largest_search(tuner: Any, kind: str) -> list[dict[str, Any]]:
    """Return the configurations that Inductor lists with ``max_autotune``; empty if this version cannot list them."""
    from torch._inductor.runtime import triton_heuristics

    heuristic: Any = getattr(triton_heuristics, kind, None)
    meta = {**tuner.inductor_meta, "max_autotune": True, "max_autotune_pointwise": True}
    # The tuner stores the device's number instead of its properties.
    triton_meta = {**tuner.triton_meta, "device": tuner.device_props}
    options = {"inductor_meta": meta, "triton_meta": triton_meta, "return_configs": True}
    if kind != "pointwise":
        options["reduction_hint"] = meta.get("reduction_hint", False)
    try:
        found = heuristic(dict(tuner.size_hints), **options)
    except Exception:  # noqa: BLE001 - Inductor's own function, whose form differs between versions
        return []
    return [{**one.kwargs, "num_warps": one.num_warps, "num_stages": one.num_stages} for one in found or ()]
