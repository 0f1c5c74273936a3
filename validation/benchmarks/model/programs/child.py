"""Run programs under ``kprof capture``, each in its own range: ``child.py JOBS.json WORK``."""

import importlib.util
import inspect
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

MASKED = 1 << 22
"""Number of elements from which a mask is all false; its values affect nothing that is predicted."""


def main() -> None:
    """Run each job; failures are written to WORK/told.json and the other jobs continue."""
    jobs, work = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2])
    problems = json.loads((work / "problems.json").read_text(encoding="utf-8"))
    told = {}
    for job in jobs:
        try:
            _run(job, problems[job["problem"]], work)
            told[job["id"]] = "ok"
        except Exception as error:  # noqa: BLE001 - somebody else's program must not end the batch
            told[job["id"]] = f"{type(error).__name__}: {error}"[:250]
        Path(sys.argv[1]).with_suffix(".told").write_text(json.dumps(told), encoding="utf-8")


def _run(job: Mapping[str, Any], problem: Mapping[str, Any], work: Path) -> None:
    reference = _module(f"reference_{job['id']}", work / "references" / f"{job['problem']}.py")
    workload = next(each for each in problem["workloads"] if each["uuid"] == job["workload"])
    given = inputs(problem, workload, reference)
    torchs = job["by"] != "agents"
    run = reference.run if torchs else _module(f"program_{job['id']}", work / "programs" / f"{job['blob']}.py").run
    names = list(inspect.signature(run).parameters)
    by_name = {name: given[name] for name in names if name in given}
    if job["by"] == "compiled":
        # Programs share the wrapper of no_grad, so that Dynamo would reach its limit of recompilations and run eagerly.
        torch.compiler.reset()
        run = torch.compile(run)
    with torch.no_grad(), torch.profiler.record_function(f"R{job['id']}|"):
        if len(by_name) == len(given):
            run(**by_name)
        else:
            run(*given.values())


def _module(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def inputs(problem: Mapping[str, Any], workload: Mapping[str, Any], reference: ModuleType) -> dict[str, Any]:
    """Return a program's arguments on the simulated GPU: the problem's own, else empty tensors and valid indices."""
    device = torch.device("cuda")
    sizes = _sizes(problem, workload)
    scalars = {
        name: value["value"]
        for name, value in workload.get("inputs", {}).items()
        if isinstance(value, dict) and value.get("type") == "scalar"
    }
    found: dict[str, Any] = {}
    if hasattr(reference, "get_inputs"):
        found.update(reference.get_inputs({**sizes, **scalars}, device))
    for name, said in problem["inputs"].items():
        if name in found:
            continue
        kind = getattr(torch, said["dtype"], None)
        if name in scalars:
            found[name] = scalars[name]
        elif said["shape"] is None:
            found[name] = sizes.get(name.removesuffix("_scalar"), _scalar(name, kind))
        else:
            shape = [sizes[each] if each in sizes else int(_value(each, sizes)) for each in said["shape"]]
            floating = kind is not None and kind.is_floating_point
            found[name] = torch.empty(shape, dtype=kind, device=device) if floating else _integers(shape, kind, sizes)
    return found


def _sizes(problem: Mapping[str, Any], workload: Mapping[str, Any]) -> dict[str, Any]:
    axes = problem["axes"]
    sizes = {name: axis.get("value") for name, axis in axes.items() if axis.get("type") == "const"}
    sizes.update(workload["axes"])
    for name, axis in axes.items():
        if axis.get("type") == "expr":
            sizes[name] = _value(axis["expression"], sizes)
    return sizes


def _value(formula: Any, sizes: Mapping[str, Any]) -> Any:
    from kprof.expressions import SCALARS, parse

    return parse(str(formula), "axis", SCALARS).value(sizes) if not str(formula).isdecimal() else int(formula)


def _scalar(name: str, kind: Any) -> float | int:
    """Return a scalar other than 0 and 1, which divide by zero in dropout and quantiles."""
    if kind is None or not kind.is_floating_point:
        return 1
    return 0.1 if "drop" in name or "prob" in name else 1e-5 if "eps" in name else 0.5


def _integers(shape: Sequence[int], kind: Any, sizes: Mapping[str, Any]) -> Any:
    count = math.prod(shape)
    if kind == torch.bool:
        mask = torch.zeros(count, dtype=kind) if count > MASKED else torch.arange(count) % 10 == 0
        return mask.reshape(list(shape)).to("cuda")
    named = ("num_experts", "n_routed_experts", "vocab_size", "num_tokens")
    top = next((int(sizes[name]) for name in named if sizes.get(name)), 8)
    return (torch.arange(count) % max(top, 1)).reshape(list(shape)).to(kind).to("cuda")


if __name__ == "__main__":
    main()
