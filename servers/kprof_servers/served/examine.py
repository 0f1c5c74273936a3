"""Find the tuned files that a server looks for when it serves a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from kprof.inputs.model_config import ModelConfig
from kprof.inputs.weight_format import WeightFormat
from kprof.version import __version__
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.document import NeededFile, ServerConfigs, ServerVerdict
from kprof_servers.served.interface import LookupAnswer, ModelServer, NeededLookup
from kprof_servers.served.judging import from_table, judged
from kprof_servers.served.lookup import LookupMissingError, ServerCode, ask, has, serves
from kprof_servers.served.shapes import Split, shapes_of
from kprof_servers.served.step_cost import steps

if TYPE_CHECKING:
    from kprof_servers.served.ranking import Ranker

QUANTISATIONS = {
    "bf16": WeightFormat("bf16"),
    "fp8": WeightFormat("fp8"),
    "fp8-block": WeightFormat("fp8-block", block=(128, 128)),
    "int8": WeightFormat("int8"),
    "w4a16": WeightFormat("w4a16", group=128),
    "mxfp4": WeightFormat("mxfp4"),
    "mxfp4-all": WeightFormat("mxfp4", everywhere=True),
}
"""Weight format for each value of ``--quant``, with the block and group sizes that most public models use."""


@dataclass(frozen=True)
class ServedModel:
    """A model, the server that serves it, and the GPU.

    Attributes:
        model: configuration of the model.
        server: the server.
        gpu: the GPU.
        split: distribution of the model over GPUs.
        weights: format of the weights.
        batches: numbers of rows of a step; each is looked up separately.
        code: the server's code; ``None`` to use the names of kprof's table.
        device: the server's name of the GPU, if the user sets it.
        triton: Triton version of the server; ``None`` for the installed one.
    """

    model: ModelConfig
    server: ModelServer
    gpu: ServedGpu
    split: Split
    weights: WeightFormat
    batches: tuple[int, ...]
    code: ServerCode | None = None
    device: str | None = None
    triton: str | None = None


def quantisation(name: str | None, model: ModelConfig) -> WeightFormat:
    """Return the format of the weights: as named by the user, otherwise as in the model's configuration.

    Raises:
        KprofError: the format is unknown.
    """
    if name is None:
        return model.weights
    if name not in QUANTISATIONS:
        raise KprofError(f"--quant: no quantisation {name!r}", hint=f"They are {', '.join(QUANTISATIONS)}.")
    chosen = QUANTISATIONS[name]
    return model.weights if _same(model.weights, chosen) else chosen


def _same(one: WeightFormat, other: WeightFormat) -> bool:
    return (one.name, one.everywhere) == (other.name, other.everywhere)


def examine(asked: ServedModel, *, strict: bool = False, ranker: "Ranker | None" = None) -> ServerConfigs:
    """Find each file with the server's own functions or, without the server's code, with kprof's table.

    Args:
        asked: model, server and GPU.
        strict: whether a missing file for the exact shape makes the verdict ``missing``.
        ranker: predicts the times of the current configurations and of candidates; ``None`` for no predictions.

    Raises:
        KprofError: the server's functions cannot be run. If this version of the server lacks them, no error is raised:
            the document then has the names of kprof's table, and reports the problem.
    """
    try:
        return _examined(asked, strict=strict, ranker=ranker)
    except LookupMissingError as error:
        if asked.code is None:
            raise
        said = (
            f"{error.path}: {error.message}: file names are those of {asked.server.version}, "
            "and whether the files exist is unknown"
        )
        return _examined(replace(asked, code=None), strict=strict, ranker=None, problem=said)


def _examined(
    asked: ServedModel, *, strict: bool, ranker: "Ranker | None", problem: str | None = None
) -> ServerConfigs:
    shapes = shapes_of(asked.model, asked.split, asked.weights)
    needs = asked.server.needed(shapes, asked.weights, asked.batches)
    if asked.code is not None:
        code = asked.code
        needs = [need for need in needs if not need.optional or all(has(code, call) for call in need.calls.values())]
    device, notes = _device(asked)
    in_code: list[str] = []
    if asked.code is None:
        if problem is None:
            notes.append(
                f"no {asked.server.shown} was found: file names are those of {asked.server.version}, and whether the "
                "files exist is unknown; --server-path names a checkout or an installation folder"
            )
        needed = [from_table(need, device, asked.gpu.arch) for need in needs]
    else:
        needed = _looked_up(asked, asked.code, needs, device, notes)
        if ranker is not None:
            needed = [ranker.ranked(need, file, device) for need, file in zip(needs, needed, strict=True)]
            notes += _assumed(needed, ranker)
        root = asked.code.root
        needed += asked.server.tables(shapes, asked.weights, asked.gpu, root, asked.batches)
        in_code = asked.server.in_code(root, shapes, asked.gpu, asked.batches)
    problems = [*asked.model.problems, *shapes.problems, *([] if problem is None else [problem])]
    if asked.code is not None and serves(asked.server, asked.code, asked.model.architecture) is False:
        problems.append(
            f"{asked.server.shown} {asked.code.version} does not name the architecture {asked.model.architecture!r}: "
            "it may not serve this model"
        )
    return ServerConfigs(
        kprof=__version__,
        model=asked.model.path,
        architecture=asked.model.architecture,
        server=asked.server.name,
        version=asked.server.version if asked.code is None else asked.code.version,
        looked=asked.code is not None,
        gpu=asked.gpu.product,
        arch=asked.gpu.arch,
        device=device,
        weights=_weights_text(asked.weights),
        tp=asked.split.tp,
        ep=asked.split.ep,
        needed=needed,
        problems=problems,
        notes=[*notes, *asked.server.notes(asked.weights, asked.gpu.arch), *in_code],
        verdict=_verdict(needed, problems, looked=asked.code is not None, strict=strict),
        steps=steps(needed, asked.batches),
        measured_on="" if ranker is None or ranker.verifier is None else ranker.verifier.device.name,
    )


def _assumed(needed: Sequence[NeededFile], ranker: "Ranker") -> list[str]:
    """Return notes about the assumptions of the predictions."""
    if not any(file.ranked for file in needed):
        return []
    found = [f"times are predicted for Triton {_triton()}, with cold caches; nothing was measured"]
    if ranker.verifier is not None:
        found = [f"the short lists were measured on {ranker.verifier.device.name} with Triton {_triton()}, cold caches"]
        failed = sum(not batch.measured for file in needed for batch in file.ranked)
        if failed:
            found.append(f"{failed} batch sizes have a time that could not be measured, and show predictions instead")
    if any(file.kernel == "fused MoE" and file.ranked for file in needed):
        found.append("tokens are distributed uniformly at random over the experts; only blocks with rows are counted")
    return found


def _looked_up(
    asked: ServedModel, code: ServerCode, needs: Sequence[NeededLookup], device: str, notes: list[str]
) -> list[NeededFile]:
    triton = asked.triton or _triton()
    if any("triton_" in need.folder for need in needs):
        notes.append(f"files depend on Triton's version, assumed to be {triton}; set another with --server-triton")
    calls = [(need, rows, call) for need in needs for rows, call in need.calls.items()]
    answers = ask(code, [call for _, _, call in calls], device=device, arch=asked.gpu.arch, triton=triton)
    found: dict[int, dict[int, LookupAnswer]] = {}
    for (need, rows, _), answer in zip(calls, answers, strict=True):
        found.setdefault(id(need), {})[rows] = answer
    return [
        judged(asked.server, need, found[id(need)], gpu=asked.gpu, root=code.root, batches=asked.batches)
        for need in needs
    ]


def _device(asked: ServedModel) -> tuple[str, list[str]]:
    """Return the server's name of the GPU, and a note if the name is assumed."""
    if asked.device is not None:
        return asked.device.replace(" ", "_"), []
    call = asked.server.device_call()
    names: Any = None
    if call is not None and asked.code is not None:
        names = ask(asked.code, [call], device="", arch=asked.gpu.arch, triton="0")[0].result
    if isinstance(names, dict) and asked.gpu.pci in names:
        return str(names[asked.gpu.pci]).replace(" ", "_"), []
    if asked.server.name == "aiter":
        return asked.gpu.arch, []
    known = f"the driver's name for the GPU, assumed to be {asked.gpu.market}; set another with --device-name"
    return asked.gpu.market, [f"{asked.server.shown} looks files up by {known}"]


def _triton() -> str:
    try:
        return version("triton")
    except PackageNotFoundError:
        return "0"


def _weights_text(weights: WeightFormat) -> str:
    if weights.block is not None:
        return f"{weights.name} {weights.block[0]}x{weights.block[1]}"
    if weights.everywhere:
        return f"{weights.name}, all products"
    return f"{weights.name} group {weights.group}" if weights.group is not None else weights.name


def _verdict(needed: Sequence[NeededFile], problems: Sequence[str], *, looked: bool, strict: bool) -> ServerVerdict:
    counts = {status: sum(file.status == status for file in needed) for status in ("exact", "fallback")}
    missing = len(needed) - sum(counts.values())
    done = f"{len(needed)} {'file' if len(needed) == 1 else 'files'} needed"
    if looked and needed:
        done += f": {counts['exact']} exist, {counts['fallback']} replaced by another file, {missing} missing"
    dead = sum(any(batch.unlaunchable for batch in file.ranked) for file in needed)
    if dead:
        done += f"; {dead} {'kernel' if dead == 1 else 'kernels'} cannot be launched with the current configuration"
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        return ServerVerdict("cannot_tell", f"cannot tell everything: {count}; {done}")
    if strict and not looked:
        return ServerVerdict("cannot_tell", f"cannot tell: no server code was read; {done}")
    if strict and counts["exact"] < len(needed):
        return ServerVerdict("missing", f"failed (--strict): {done}")
    return ServerVerdict("ok", f"ok: {done}" if looked else done)
