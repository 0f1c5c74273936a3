"""Which tuned files a server looks for when it serves a model."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from kprof.api.result import Result
from kprof.errors import KprofError

if TYPE_CHECKING:
    import pandas as pd

    from kprof.tuning.search_result import Progress
    from kprof_servers.served.document import ServerConfigs
    from kprof_servers.served.examine import ServedModel
    from kprof_servers.served.ranking import Ranker
    from kprof_servers.served.verify import Verifier

BATCHES = (1, 8, 64, 512, 4096)
"""Rows of a step that are asked for unless others are named: from decoding one sequence to filling a prompt in."""

TRIALS = 24
"""Configurations of a batch size that are looked at, where no tuned file of the server helps."""

_MOST_GPUS = 4096


@dataclass(frozen=True, eq=False, repr=False)
class NeededConfigs(Result):
    """The tuned files that a server looks for.

    Attributes:
        document: everything, as ``kprof configs --json`` writes it.
    """

    document: "ServerConfigs"
    kind: ClassVar[str] = "server-configs"

    @property
    def ok(self) -> bool:
        """Everything could be determined, and where it was asked for, nothing is missing."""
        return self.document.verdict.status == "ok"

    @property
    def summary(self) -> str:
        """How many files are needed, and there."""
        return self.document.verdict.summary

    def write(self, folder: "str | os.PathLike[str]") -> list[str]:
        """Write a file for each that is not there and has a proposal, as the server would read it, below a folder.

        Beside them are ``runners_up.json``, for those who can measure, and ``PULL_REQUEST.md``.

        Returns:
            What was written.

        Raises:
            KprofError: a file cannot be written.
        """
        from pathlib import Path

        from kprof.output.writing import write_output
        from kprof_servers.pull_request import pull_request
        from kprof_servers.served.proposals import contents, proposed

        files = proposed(self.document)
        written = []
        for name, text in (
            [*contents(files, self.document.server), ("PULL_REQUEST.md", pull_request(self.document, files))]
            if files
            else []
        ):
            place = Path(folder) / name
            place.parent.mkdir(parents=True, exist_ok=True)
            write_output(str(place), text)
            written.append(str(place))
        return written

    def to_frame(self) -> "pd.DataFrame":
        """A row a file."""
        from kprof.reporters._frames import struct_frame
        from kprof_servers.served.document import NeededFile

        return struct_frame(NeededFile, [({}, file) for file in self.document.needed], ())


def server_configs(
    model: "str | os.PathLike[str]",
    *,
    server: str,
    arch: str,
    tp: int = 1,
    ep: int = 1,
    quant: str | None = None,
    batches: Sequence[int] = BATCHES,
    server_path: "str | os.PathLike[str] | None" = None,
    device_name: str | None = None,
    triton: str | None = None,
    strict: bool = False,
    rank: bool = False,
    trials: int = TRIALS,
    jobs: int = 0,
    scheduler: str | None = None,
    alternatives: bool = False,
    verify: bool = False,
    progress: "Callable[[str, Progress], None] | None" = None,
    report: "Callable[[str], None] | None" = None,
) -> NeededConfigs:
    """Which tuned files a server looks for when it serves a model, and which of them are there. Needs no GPU.

    The lookups are the server's own functions, taken out of its code and run in a process of their own; nothing else
    of the server is executed. Sizes are computed from the model's configuration.

    Args:
        model: a ``config.json`` of Hugging Face, or its folder. Nothing is downloaded.
        server: ``vllm``, ``sglang`` or ``aiter``.
        arch: the GPU, a product or an architecture.
        tp: GPUs that share a layer.
        ep: groups that experts are distributed over; it divides ``tp``.
        quant: ``bf16``, ``fp8``, ``fp8-block``, ``int8``, ``w4a16``, ``mxfp4`` or ``mxfp4-all``; the file's
            own when ``None``.
        batches: rows of a step.
        server_path: a checkout, or the folder that the server is installed in; what this Python has when ``None``.
            Where it has none, the names are a table's, and what is there is not known.
        device_name: what the driver calls the GPU, where it is not as usual.
        triton: the version that the server runs with, by which SGLang has its files.
        strict: what is not there for the shape itself fails.
        rank: predict what each batch takes with what the server would run, and propose a configuration. The server's
            own kernel is compiled, as it stands in its code.
        trials: configurations to look at for each batch, where the server has no tuned files for other shapes.
        jobs: worker processes, 0 for one a core.
        scheduler: a Dask scheduler whose workers compile: ``tcp://host:8786``. Files and proposals are the same.
        alternatives: also rank other families for the same weights, of which the server's caller takes one.
        verify: also measure the short lists on this machine's GPU; the fastest becomes the proposal. Ranks.
        progress: called with a file's name and the state of its search.
        report: called with each measurement.

    Raises:
        HardwareError: the GPU is not known, or there is none to measure on.
        InputError: there is no such configuration, or it is no JSON object.
        KprofError: the server is not known, its code is not there or another than expected, or a number makes no sense.
    """
    from kprof.inputs.model_config import read
    from kprof_servers.served.devices import served_gpu
    from kprof_servers.served.examine import ServedModel, examine, quantisation
    from kprof_servers.served.lookup import server_code
    from kprof_servers.served.registry import server_of
    from kprof_servers.served.shapes import Split

    if not 0 < tp <= _MOST_GPUS or not 0 < ep <= tp or tp % ep:
        raise KprofError(f"--tp {tp} --ep {ep}: experts are distributed over a divisor of the GPUs that share a layer")
    if not batches or min(batches) < 1:
        raise KprofError("--batch takes numbers of rows, 1 and more")
    chosen = server_of(server)
    gpu = served_gpu(arch)
    found = read(model if isinstance(model, str) else os.fspath(model))
    asked = ServedModel(
        model=found,
        server=chosen,
        gpu=gpu,
        split=Split(tp, ep),
        weights=quantisation(quant, found),
        batches=tuple(sorted(set(batches))),
        code=server_code(chosen, None if server_path is None else os.fspath(server_path)),
        device=device_name,
        triton=triton,
    )
    if not rank and not verify:
        return NeededConfigs(examine(asked, strict=strict))
    # Without a server or a GPU for it nothing is compiled.
    ranker = _ranker(asked, trials, jobs, scheduler, progress)
    with _verifier(gpu.arch, report) if verify else nullcontext() as verifier:
        return NeededConfigs(
            examine(asked, strict=strict, ranker=replace(ranker, verifier=verifier, alternatives=alternatives))
        )


@contextmanager
def _verifier(arch: str, report: "Callable[[str], None] | None") -> "Iterator[Verifier]":
    from kprof.tuning.verify import find_device
    from kprof_servers.served.verify import Verifier, check

    device = find_device()
    check(device, arch)
    verifier = Verifier(device, report or (lambda _text: None))
    with verifier.runner:
        yield verifier


def _ranker(
    asked: "ServedModel",
    trials: int,
    jobs: int,
    scheduler: str | None,
    progress: "Callable[[str, Progress], None] | None",
) -> "Ranker":
    from kprof.hardware.machine import load_gpu
    from kprof_servers.served.ranking import Ranker

    if asked.code is None:
        hint = "--server-path names a checkout, or the folder that it is installed in."
        raise KprofError("configurations are ranked over the server's own kernel, and there is no server", hint=hint)
    if scheduler is not None:
        from kprof.tuning.executors.dask_cluster import DaskExecutor
        from kprof.tuning.request import judge

        DaskExecutor(judge(), scheduler).check()
    arch, product = load_gpu(asked.gpu.product)
    tell = progress or (lambda _name, _progress: None)
    found = Ranker(asked.server, asked.code, asked.gpu, arch, product, asked.batches, trials, jobs, tell)
    return replace(found, scheduler=scheduler)
