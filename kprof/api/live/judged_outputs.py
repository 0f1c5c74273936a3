"""Comparing a candidate's outputs with the case's reference, in a process that has nothing else of the candidate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kprof.api.live.candidate import TIMED, CheckTrial, TrialCase, timed_config
from kprof.api.live.chosen_programs import WrittenElements, difference, written_elements
from kprof.errors import TargetError
from kprof.kernel_spec import ELEMENT_TYPES, Kernel


def judged(
    asked: TrialCase,
    listed: Sequence[Any],
    blobs: Mapping[str, bytes],
    knobs: Mapping[str, Any],
    timed: Mapping[str, Any],
) -> dict[str, Any]:
    """Compare outputs, made by a candidate, with the case's reference; a result a check."""
    import torch

    from kprof.bench.compare import compare_all, describe, is_right

    kernel = asked.kernel
    assert kernel.inputs is not None
    assert kernel.reference is not None
    assert kernel.tolerance is not None
    types = {kind.torch for kind in ELEMENT_TYPES.values()}
    got: dict[str, dict[str, Any]] = {}
    failed: dict[str, str] = {}
    for check, name, kind, shape in listed:
        if not name:
            failed[check] = kind
            continue
        if kind not in types:
            raise TargetError(f"check {check}: {name} is of the type {kind}")
        data = bytearray(blobs[f"{check} {name}"])
        flat = torch.frombuffer(data, dtype=getattr(torch, kind)) if data else torch.empty(0)
        got.setdefault(check, {})[name] = flat.reshape(shape)
    checks = []
    for trial in asked.trials(knobs):
        expected = kernel.reference(kernel.inputs(trial.shape, "cpu", trial.seed), trial.shape)

        def wrong(outputs: Any, trial: CheckTrial = trial, expected: Any = expected) -> str:
            if outputs.keys() != expected.keys():
                return f"gives {sorted(outputs)}, the reference {sorted(expected)}"
            errors = compare_all(outputs, expected, kernel.tolerance(trial.shape))  # type: ignore[misc]
            return "; ".join(describe(error) for error in errors if not is_right(error))

        reason = failed.get(trial.name) or wrong(got.get(trial.name, {}))
        if reason and trial.is_compiled and not _is_right_itself(kernel, trial, wrong):
            continue
        checks.append([trial.name, not reason, reason])
    if asked.timed is not None:
        reason = _timed_reason(asked, blobs, knobs, timed)
        checks.append([TIMED, not reason, reason])
    return {"kind": "checked", "checks": checks, "notes": [asked.not_timed] if asked.not_timed else []}


def _timed_reason(
    asked: TrialCase, blobs: Mapping[str, bytes], knobs: Mapping[str, Any], timed: Mapping[str, Any]
) -> str:
    """Return what is wrong with what a candidate's programs wrote in the launch that is timed; "" if nothing is."""
    import torch

    from kprof.importing.wrappers import kernel_function

    if "failed" in timed:
        return str(timed["failed"])
    types = {kind.torch for kind in ELEMENT_TYPES.values()}
    got = WrittenElements(outputs={str(key): str(name) for key, name in timed["outputs"].items()})
    for name, kind in timed["types"].items():
        if kind not in types:
            raise TargetError(f"{name} is of the type {kind}")
        places, values = (bytearray(blobs[f"{TIMED} {part} {name}"]) for part in ("places", "values"))
        got.values[name] = (
            torch.frombuffer(places, dtype=torch.int64) if places else torch.empty(0, dtype=torch.int64),
            torch.frombuffer(values or bytearray(8), dtype=getattr(torch, kind))[: len(places) // 8],
        )
    assert asked.timed is not None
    launch = replace(asked.timed, seed=asked.seed)
    try:
        entry = kernel_function(asked.kernel.entry)
        own = written_elements(asked.kernel, asked.function, entry, launch, timed_config(asked, knobs))
    except Exception:  # noqa: BLE001 - the case's own kernel may not take such knobs, and fail in any way
        own = None
    return difference(asked.kernel, launch, got, own)


def _is_right_itself(kernel: Kernel, trial: CheckTrial, wrong: Callable[[Any], str]) -> bool:
    """Return whether the case's own kernel passes a trial."""
    assert kernel.run is not None
    assert kernel.inputs is not None
    try:
        return not wrong(kernel.run(kernel.inputs(trial.shape, "cpu", trial.seed), trial.shape, trial.config))
    except Exception:  # noqa: BLE001 - a problem that is too small for the knobs may fail in any way
        return False
