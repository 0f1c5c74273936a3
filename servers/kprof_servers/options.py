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
    tp: Annotated[int, Option("GPUs that share a layer (tensor parallelism).", metavar="N", least=1)] = 1
    ep: Annotated[
        int, Option("Groups that experts are distributed over (a divisor of --tp).", metavar="N", least=1)
    ] = 1  # fmt: skip
    quant: Annotated[
        str | None,
        Option("bf16, fp8, fp8-block, int8, w4a16, mxfp4 (experts) or mxfp4-all (default: the model's own).",
               metavar="NAME"),
    ] = None  # fmt: skip
    batches: Annotated[
        Sequence[int],
        Option("Rows of a step (default: 1,8,64,512,4096).", metavar="ROWS[,ROWS]", kind=ROWS),
    ] = ()
    server_path: Annotated[
        str | None,
        Option("A checkout of the server, or its installation folder (default: the one in this Python).",
               metavar="FOLDER", kind=PATH),
    ] = None  # fmt: skip
    server_triton: Annotated[
        str | None, Option("The server's version of Triton, which selects SGLang's folder of files.", metavar="VERSION")
    ] = None
    rank: Annotated[
        bool, Option("Also predict each batch's time, now and with a proposal. Compiles the server's kernels.")
    ] = False
    alternatives: Annotated[
        bool, Option("Also rank other kernel families for the same weights (AITER's caller uses one).")
    ] = False
    trials: Annotated[
        int | None,
        Option("Configurations to try per batch if no tuned file of another shape helps.", metavar="N",
               least=1, most=10_000),
    ] = None  # fmt: skip


@group(frozen=True, kw_only=True)
class ServerConfigsCommandOptions(ServerConfigsOptions, OutputOptions):
    """Options of ``kprof configs``."""


@group(frozen=True, kw_only=True)
class LintConfigsOptions(LinkedTargetOptions, KnobOptions, FailOptions, WorkerOptions):
    """Options of ``kprof.lint_configs`` and ``kprof lint``."""

    without: ClassVar[frozenset[str]] = frozenset({"config"})

    compile: Annotated[bool, Option("Compile each bucket whose kernel is known.")] = False
    rename: Annotated[
        Mapping[str, str | None],
        Option("Rename knobs for the kernel: BLOCK_SIZE_M=BLOCK_M. Empty: leave the knob out.", metavar="K=V,...",
               kind=RENAMED),
    ] = field(default_factory=dict)  # fmt: skip
    ignore: Annotated[
        Sequence[str],
        Option("Rules to ignore, by identifier or name.", metavar="RULE[,RULE]", kind=NAMES, completes="rules"),
    ] = ()
