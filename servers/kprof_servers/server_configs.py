"""Which tuned files a server looks for when it serves a model."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from kprof.api.defaults import DEFAULT_GPU
from kprof.api.result import Result
from kprof.errors import KprofError
from kprof.options.keywords import keywords
from kprof_servers.options import ServerConfigsOptions

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
        from kprof.api.frames import struct_frame
        from kprof_servers.served.document import NeededFile

        return struct_frame(NeededFile, [({}, file) for file in self.document.needed], ())


@keywords
def server_configs(
    model: "str | os.PathLike[str]",
    *,
    options: ServerConfigsOptions,
    progress: "Callable[[str, Progress], None] | None" = None,
    report: "Callable[[str], None] | None" = None,
) -> NeededConfigs:
    """Find which tuned files a server looks for when it serves a model, and which of them are there. Needs no GPU.

    The lookups are the server's own functions, taken out of its code and run in a process of their own; nothing else
    of the server is executed. Sizes are computed from the model's configuration. Where this Python has no server and
    no checkout is named, the names are a table's, and what is there is not known.

    Args:
        model: a ``config.json`` of Hugging Face, or its folder. Nothing is downloaded.
        options: the server, the GPU and how the model is served. ``verify`` ranks, too.
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

    tp, ep, batches = options.tp, options.ep, options.batches or BATCHES
    if options.server is None:
        raise KprofError("no server is named", hint="--server vllm, sglang or aiter")
    if not 0 < tp <= _MOST_GPUS or not 0 < ep <= tp or tp % ep:
        raise KprofError(f"--tp {tp} --ep {ep}: experts are distributed over a divisor of the GPUs that share a layer")
    if min(batches) < 1:
        raise KprofError("--batches takes numbers of rows, 1 and more")
    chosen = server_of(options.server)
    gpu = served_gpu(options.one_gpu("kprof configs") or DEFAULT_GPU)
    found = read(model if isinstance(model, str) else os.fspath(model))
    asked = ServedModel(
        model=found,
        server=chosen,
        gpu=gpu,
        split=Split(tp, ep),
        weights=quantisation(options.quant, found),
        batches=tuple(sorted(set(batches))),
        code=server_code(chosen, options.server_path),
        device=options.device_name,
        triton=options.server_triton,
    )
    strict = options.strict
    if not options.rank and not options.verify:
        return NeededConfigs(examine(asked, strict=strict))
    # Without a server or a GPU for it nothing is compiled.
    ranker = _ranker(asked, options, progress)
    with _verifier(gpu.arch, report) if options.verify else nullcontext() as verifier:
        ranker = replace(ranker, verifier=verifier, alternatives=options.alternatives)
        return NeededConfigs(examine(asked, strict=strict, ranker=ranker))


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
    asked: "ServedModel", options: ServerConfigsOptions, progress: "Callable[[str, Progress], None] | None"
) -> "Ranker":
    from kprof.hardware.machine import load_gpu
    from kprof_servers.served.ranking import Ranker

    if asked.code is None:
        hint = "--server-path names a checkout, or the folder that it is installed in."
        raise KprofError("configurations are ranked over the server's own kernel, and there is no server", hint=hint)
    if options.scheduler is not None:
        from kprof.tuning.executors.dask_cluster import DaskExecutor
        from kprof.tuning.request import judge

        DaskExecutor(judge(), options.scheduler).check()
    arch, product = load_gpu(asked.gpu.product)
    tell = progress or (lambda _name, _progress: None)
    code, gpu, trials = asked.code, asked.gpu, options.trials or TRIALS
    found = Ranker(asked.server, code, gpu, arch, product, asked.batches, trials, options.jobs, tell)
    return replace(found, scheduler=options.scheduler)
