"""Options of the commands and functions of this package."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated, ClassVar

from kprof.options.groups import (
    ClusterOptions,
    DeviceNameOptions,
    FailOptions,
    GpuOptions,
    KnobOptions,
    LinkedTargetOptions,
    OutputOptions,
    StrictOptions,
    VerifyOptions,
    WorkerOptions,
)
from kprof.options.kinds import NAMES, PATH, RENAMED, ROWS
from kprof.options.option import Option, group


@group(frozen=True, kw_only=True)
class ServerConfigsOptions(
    GpuOptions, DeviceNameOptions, StrictOptions, VerifyOptions, WorkerOptions, ClusterOptions
):  # fmt: skip
    """Options of ``kprof.server_configs``."""

    server: Annotated[
        str | None, Option("Server that serves the model: vllm, sglang or aiter.", metavar="NAME")
    ] = None  # fmt: skip
    tp: Annotated[int, Option("GPUs that share a layer.", metavar="N", least=1)] = 1
    ep: Annotated[
        int, Option("Groups that experts are distributed over; it divides --tp.", metavar="N", least=1)
    ] = 1  # fmt: skip
    quant: Annotated[
        str | None,
        Option("bf16, fp8, fp8-block, int8, w4a16, mxfp4 (experts) or mxfp4-all; the file's own if left out.",
               metavar="NAME"),
    ] = None  # fmt: skip
    batches: Annotated[
        Sequence[int],
        Option("Rows of a step; from decoding to filling a prompt in if left out.", metavar="ROWS[,ROWS]", kind=ROWS),
    ] = ()
    server_path: Annotated[
        str | None,
        Option("A checkout of the server, or the folder that it is installed in; this Python's if left out.",
               metavar="FOLDER", kind=PATH),
    ] = None  # fmt: skip
    server_triton: Annotated[
        str | None, Option("The server's version of Triton, by which SGLang has its files.", metavar="VERSION")
    ] = None
    rank: Annotated[
        bool, Option("Also predict what each batch takes, now and with a proposal. Compiles the server's kernels.")
    ] = False
    alternatives: Annotated[
        bool, Option("Also rank other families for the same weights, of which AITER's caller takes one.")
    ] = False
    trials: Annotated[
        int | None,
        Option("Configurations to look at for each batch, where no tuned file of another shape helps.", metavar="N",
               least=1, most=10_000),
    ] = None  # fmt: skip


@group(frozen=True, kw_only=True)
class ServerConfigsCommandOptions(ServerConfigsOptions, OutputOptions):
    """Options of ``kprof configs``."""


@group(frozen=True, kw_only=True)
class LintConfigsOptions(LinkedTargetOptions, KnobOptions, FailOptions, WorkerOptions):
    """Options of ``kprof.lint_configs`` and ``kprof lint``."""

    without: ClassVar[frozenset[str]] = frozenset({"config"})

    compile: Annotated[bool, Option("Compile the kernel for each bucket, where the kernel is known.")] = False
    rename: Annotated[
        Mapping[str, str | None],
        Option("Knobs under the kernel's names: BLOCK_SIZE_M=BLOCK_M. Empty: left out.", metavar="K=V,...",
               kind=RENAMED),
    ] = field(default_factory=dict)  # fmt: skip
    ignore: Annotated[
        Sequence[str],
        Option("Rules to leave out, by identifier or name.", metavar="RULE[,RULE]", kind=NAMES, completes="rules"),
    ] = ()
