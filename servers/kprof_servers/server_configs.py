"""``kprof.server_configs``: find the tuned files that a server looks for when it serves a model."""

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
"""Default numbers of rows of a step, from decoding one sequence to prefilling a prompt."""

TRIALS = 24
"""Default number of configurations to try per batch size if none of the server's tuned files helps."""

_MOST_GPUS = 4096


@dataclass(frozen=True, eq=False, repr=False)
class NeededConfigs(Result):
    """The tuned files that a server looks for.

    Attributes:
        document: all results, as written by ``kprof configs --json``.
    """

    document: "ServerConfigs"
    kind: ClassVar[str] = "server-configs"

    @property
    def ok(self) -> bool:
        """True if everything could be determined and, with ``strict``, no file is missing."""
        return self.document.verdict.status == "ok"

    @property
    def summary(self) -> str:
        """Number of files that are needed, and number of files that exist."""
        return self.document.verdict.summary

    def write(self, folder: "str | os.PathLike[str]") -> list[str]:
        """Write each missing file that has a proposal below a folder, in the format that the server reads.

        Also write ``runners_up.json``, with further configurations to measure, and ``PULL_REQUEST.md``.

        Returns:
            The paths of the written files.

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
        """Return a frame with one row per file."""
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
    """Find the tuned files that a server looks for when it serves a model, and whether they exist. Needs no GPU.

    The lookups are the server's own functions, extracted from its code and run in a separate process; no other code of
    the server is executed. Sizes are computed from the model's configuration. If this Python has no server and no
    checkout is named, file names come from a table, and whether the files exist is unknown.

    Args:
        model: a ``config.json`` of Hugging Face, or its folder. Nothing is downloaded.
        options: the server, the GPU and how the model is served. ``verify`` implies ranking.
        progress: called with a file's name and the state of its search.
        report: called with each measurement.

    Raises:
        HardwareError: the GPU is unknown, or there is no GPU to measure on.
        InputError: the configuration does not exist or is not a JSON object.
        KprofError: the server is unknown, its code is missing or unexpected, or an option has an invalid value.
    """
    from kprof.inputs.model_config import read
    from kprof_servers.served.devices import served_gpu
    from kprof_servers.served.examine import ServedModel, examine, quantisation
    from kprof_servers.served.lookup import server_code
    from kprof_servers.served.registry import server_of
    from kprof_servers.served.shapes import Split

    tp, ep, batches = options.tp, options.ep, options.batches or BATCHES
    if options.server is None:
        raise KprofError("no server was named", hint="--server vllm, sglang or aiter")
    if not 0 < tp <= _MOST_GPUS or not 0 < ep <= tp or tp % ep:
        raise KprofError(f"--tp {tp} --ep {ep}: experts are distributed over a divisor of the GPUs that share a layer")
    if min(batches) < 1:
        raise KprofError("--batches: numbers of rows must be at least 1")
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
    # Fail before the search if the server's code, which is needed to compile, or a GPU to measure on is missing.
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
        raise KprofError("ranking compiles the server's own kernel, but no server was found", hint=hint)
    if options.scheduler is not None:
        from kprof.tuning.executors.dask_cluster import DaskExecutor
        from kprof.tuning.request import judge

        DaskExecutor(judge(), options.scheduler).check()
    arch, product = load_gpu(asked.gpu.product)
    tell = progress or (lambda _name, _progress: None)
    code, gpu, trials = asked.code, asked.gpu, options.trials or TRIALS
    found = Ranker(asked.server, code, gpu, arch, product, asked.batches, trials, options.jobs, tell)
    return replace(found, scheduler=options.scheduler)
