"""Predict the time of a compiled configuration; called in the workers of a search.

Equal code with an equal launch is predicted once, even if different configurations lead to it: results are cached under
a hash of the code.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key
from kprof.compiler.request import Compiled
from kprof.condition import CONDITIONS, WARM
from kprof.errors import KprofError
from kprof.inputs.amdgcn.code_hash import code_hash
from kprof.inputs.garbage_collection import paused
from kprof.tuning.work import OPERATIONS

if TYPE_CHECKING:
    from kprof.analysis import KernelFacts
    from kprof.document import Prediction

FUNCTION = "kprof.tuning.trials.predicted:judge"

_JUDGED = CacheSection("predictions")
_OPTIONAL: Mapping[str, Any] = {
    "flops": None,
    "values": {},
    "contents": {},
    "tensor_bytes": None,
    "condition": WARM.name,
}
"""Optional members of a launch, with their default values."""
_LABEL = re.compile(r"\bloop \.?L\w+:")


def judge(compiled: Compiled, argument: Mapping[str, Any]) -> dict[str, Any]:
    """Predict the time of one launch of a compiled kernel.

    Args:
        compiled: the kernel.
        argument: ``name``, ``arch`` (or a product), ``grid``, ``arguments``, ``problem`` and ``version`` of the launch.
            Optional members are ``flops`` (operations of the whole problem), ``condition``, ``values`` that the launch
            does not determine, ``contents`` of tensors, and ``tensor_bytes``.

    Returns:
        The fields of :class:`kprof.tuning.work.TaskResult`, except its key.

    Raises:
        KprofError: if the model cannot predict this kernel.
    """
    code = code_hash(compiled.amdgcn)
    done: dict[str, Any] = {"isa": code, "seconds": round(compiled.seconds, 3), "cached": compiled.cached}
    if compiled.launch_problems:
        problem = compiled.launch_problems[0]
        known = {"lds_bytes": compiled.lds_bytes, "num_warps": compiled.metadata.get("num_warps")}
        return {**done, "status": "unlaunchable", "reason": str(problem), "resources": known}
    launch = [argument[name] for name in ("arch", "grid", "arguments", "version")]
    if argument["version"] != version():
        raise KprofError("this machine runs another version of kprof than the one that sent the request")
    resources = [compiled.lds_bytes, compiled.metadata.get("num_warps")]
    given = [argument.get(name, default) for name, default in _OPTIONAL.items()]
    name = derived_key(code, launch, resources, argument["problem"], *given)
    before = _JUDGED.read_json(name)
    if isinstance(before, dict):
        return {**before, **done, "again": True}
    with paused():
        judged = _judge(compiled, argument)
    _JUDGED.write_json(name, judged)
    return {**judged, **done}


def version() -> str:
    """Return a version that changes whenever kprof or its dependencies do."""
    return derived_key("judge")[:16]


def _judge(compiled: Compiled, argument: Mapping[str, Any]) -> dict[str, Any]:
    from kprof_analyzers.model import predict
    from kprof_analyzers.model.occupancy_gain import trips_known

    facts = facts_for(compiled, argument)
    prediction = predict(facts)
    if not trips_known(prediction):
        return _without_time(prediction, facts, argument.get("flops"))
    if prediction.time_us is None:
        why = ": the grid is not given" if prediction.workgroups is None else ""
        raise KprofError(f"the model cannot say how long it takes{why}")
    assumptions = [_LABEL.sub("a loop:", said) for said in prediction.assumptions]
    return {
        "resources": resources_of(facts),
        "time_us": prediction.time_us,
        "low_us": prediction.low_us,
        "high_us": prediction.high_us,
        "events_us": prediction.events_us or 0.0,
        "bound": str(prediction.bound),
        "shares": {str(cause): share for cause, share in prediction.shares.items()},
        "assumptions": list(dict.fromkeys(assumptions)),
    }


def _without_time(prediction: "Prediction", facts: "KernelFacts", flops: int | None) -> dict[str, Any]:
    """Return cycles per element instead of a time, because a loop's number of iterations is unknown.

    Raises:
        KprofError: if there is no figure by which configurations could be compared.
    """
    from kprof_analyzers.model.per_element import element_cost

    cycles, axis = cycles_per_million(prediction, facts, flops), OPERATIONS
    if cycles is None:
        cost = element_cost(prediction, {loop.header: loop.depth for loop in facts.loops})
        if isinstance(cost, str):
            raise KprofError(f"{_unknown(prediction)}, and no cycles per element: {cost}")
        cycles, axis = cost.cycles, cost.axis
    return {
        "resources": resources_of(facts),
        "cycles_per_element": cycles,
        "axis": axis,
        "bound": str(prediction.bound),
        "assumptions": [f"{_unknown(prediction)}; compared by cycles for each element of {axis}"],
    }


def _unknown(prediction: "Prediction") -> str:
    """Explain why there is no time, and which values would be needed."""
    from kprof_analyzers.model.per_element import VALUES

    unknown = [loop for loop in prediction.loops if not loop.trips_known]
    names = list(dict.fromkeys(name for loop in unknown for name in loop.missing))
    given = " ".join(f"--value {n.removeprefix(VALUES)}={'FILE.json' if n.startswith(VALUES) else 'N'}" for n in names)
    why = (
        f"unknown, because it depends on {', '.join(names)} ({given} supplies it)"
        if names
        else "unknown, because its bounds depend on data"
    )
    return f"the model cannot say how long it takes: the number of iterations of a loop is {why}"


def cycles_per_million(prediction: "Prediction", facts: "KernelFacts", flops: int | None) -> float | None:
    """Return the cycles of the busiest CU per million operations of the kernel.

    If the number of iterations is unknown, the model assumes the same for every configuration, independent of its tile.
    By its times, the smallest tile would always look fastest. Return ``None`` if the problem does not define its
    operations (``flops``), the grid is unknown, or no loop multiplies matrices.
    """
    if not flops or prediction.workgroups is None or prediction.cycles is None:
        return None
    inner = {loop.header: loop for loop in facts.loops if loop.flops}
    deepest = max((loop.depth for loop in inner.values()), default=0)
    waves = prediction.workgroups * (facts.resources.num_warps or 1)
    done = sum(
        inner[loop.header].flops * loop.trips * loop.entries * waves
        for loop in prediction.loops
        if loop.header in inner and inner[loop.header].depth == deepest
    )
    return prediction.cycles / done * 1e6 if done else None


def facts_for(compiled: Compiled, argument: Mapping[str, Any]) -> "KernelFacts":
    """Return the facts of a compiled kernel with a launch."""
    from dataclasses import replace

    from kprof.hardware.machine import find_product, load
    from kprof.targets.jobs import TargetJob, loaded
    from kprof_analyzers.pipeline import facts_of

    grid = argument["grid"]
    job = TargetJob(
        compiled.request,
        load(argument["arch"]),
        argument["name"],
        None if grid is None else tuple(grid),
        argument["problem"],
        argument["arguments"],
        values=argument.get("values", {}),
        contents=argument.get("contents", {}),
        tensor_bytes=argument.get("tensor_bytes"),
        condition=CONDITIONS[argument.get("condition", WARM.name)],
    )
    kernel = replace(loaded(job, compiled), product=find_product(argument["arch"]))
    return facts_of(kernel)[0]


def resources_of(facts: "KernelFacts") -> dict[str, Any]:
    """Return the resources that a list of configurations shows."""
    from kprof.document import Occupancy

    names = ("vgpr_allocated", "agpr", "sgpr", "vgpr_spills", "scratch_bytes", "lds_bytes", "num_warps")
    found: dict[str, Any] = {
        name: value for name in names if isinstance(value := getattr(facts.resources, name, None), int)
    }
    if isinstance(facts.occupancy, Occupancy):
        found["waves_per_simd"] = facts.occupancy.waves_per_simd
        found["workgroups_per_cu"] = facts.occupancy.workgroups_per_cu
    return found
