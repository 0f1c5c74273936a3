"""Options of pictures, of servers, and of commands about kprof and its machine."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated

from kprof.options.groups import (
    BudgetOptions,
    GpuOptions,
    OutputOptions,
    TimeoutOptions,
    WorkerOptions,
)
from kprof.options.kinds import FIELDS, PATH, PATHS, SIZE
from kprof.options.option import Option, Options, group


@group(frozen=True, kw_only=True)
class LayoutOptions(GpuOptions):
    """Options of ``kprof.draw_layout``."""

    size: Annotated[Sequence[int], Option("Elements along each axis: 64x64.", metavar="XxY", kind=SIZE)] = (64, 64)
    setting: Annotated[
        Mapping[str, str],
        Option("A field of the kind: sizePerThread=1x8, version=3; others keep defaults.", metavar="K=V", kind=FIELDS),
    ] = field(default_factory=dict)
    operand: Annotated[
        int | None, Option("Draw operand 0 or 1 of the product with this result.", metavar="N", least=0, most=1)
    ] = None
    k_width: Annotated[int, Option("Adjacent elements along K per lane, for an operand.", metavar="N")] = 4
    bits: Annotated[int, Option("Size of an element in bits, for the banks of LDS.", metavar="N")] = 16
    module: Annotated[str | None, Option("A TTGIR file whose aliases may be used.", metavar="FILE", kind=PATH)] = None


@group(frozen=True, kw_only=True)
class LayoutPictureOptions(LayoutOptions, OutputOptions):
    """Options of ``kprof draw layout``."""


@group(frozen=True, kw_only=True)
class DoctorOptions(Options):
    """Options of ``kprof.diagnose``."""

    root: Annotated[
        str,
        Option(
            "Folder with the machine's /proc, /sys, /dev and /opt: /host in a container.", metavar="FOLDER", kind=PATH
        ),
    ] = "/"
    workload: Annotated[
        str | None,
        Option("Workload to check for: inference, training, tuning, multi-gpu, vllm or sglang.", metavar="NAME"),
    ] = None
    gpu_report: Annotated[
        str | None,
        Option(
            "Output of rocminfo or of amd-smi static, with the GPUs to check the settings for.",
            metavar="FILE",
            kind=PATH,
        ),
    ] = None


@group(frozen=True, kw_only=True)
class DoctorCommandOptions(DoctorOptions):
    """Options of ``kprof doctor``."""

    fix: Annotated[bool, Option("Print a shell script with the proposed changes, without running it.")] = False


@group(frozen=True, kw_only=True)
class EditorOptions(GpuOptions, BudgetOptions, TimeoutOptions, WorkerOptions):
    """Options of ``kprof serve lsp``."""


@group(frozen=True, kw_only=True)
class AgentOptions(TimeoutOptions, WorkerOptions):
    """Options of ``kprof serve mcp``."""

    folder: Annotated[
        Sequence[str],
        Option(
            "A folder whose files may be read; repeatable. By default the current folder.", metavar="FOLDER", kind=PATHS
        ),
    ] = ()
    allow_run: Annotated[
        bool, Option("Allow kprof to import named Python files and to run programs to record them.")
    ] = False


@group(frozen=True, kw_only=True)
class ClearOptions(Options):
    """Options of ``kprof cache clear``."""

    all: Annotated[bool, Option("Also remove search results and downloaded Tritons.")] = False
