"""A compiled kernel from any source, ready to be analysed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kprof.condition import WARM, Condition
from kprof.document import Specialization
from kprof.findings import Location

if TYPE_CHECKING:
    from kprof.compiler.passes import PassHistory
    from kprof.compiler.request import CompileRequest
    from kprof.document import AutotunedChoice
    from kprof.hardware.machine import Architecture, Product
    from kprof.inputs.amdgcn import AssemblyKernel
    from kprof.inputs.mlir import Module


@dataclass(frozen=True)
class ListedConfiguration:
    """A configuration that an autotuner lists, with its launch.

    Attributes:
        config: text of the configuration in the autotuner's form.
        load: loads the kernel; raises a :class:`kprof.errors.KprofError` if it was not compiled.
    """

    config: str
    load: "Callable[[], LoadedKernel]" = field(compare=False)


@dataclass(frozen=True)
class LoadedKernel:
    """A loaded kernel; every kind of target is converted to this form.

    Attributes:
        name: name of the kernel.
        arch: hardware model.
        program: instructions, loops and registers.
        product: the GPU, if a product was named.
        ttgir: the TTGIR module; ``None`` if the target has none.
        metadata: Triton's metadata; empty if the kernel is not from Triton.
        specialization: types, compile-time values and options of the compile.
        grid: workgroups in x, y, z, if the launch is known.
        arguments: numeric arguments of the launch by name; empty if no launch is known.
        contents: integers in the memory of pointer arguments by name, if known from the launch.
        tensor_bytes: bytes of all tensors of a recorded launch; ``None`` if unknown.
        problem: problem parameters of the launch, if its kernel names them.
        job: name of the call that makes this launch and others; empty if the call makes one launch.
        request: the compile request; ``None`` if the kernel was not compiled here.
        triton: version of the compiling Triton.
        compiler: identification of another compiler.
        source: place of the kernel's definition.
        compile_seconds: wall time of the compile; ``None`` if nothing was compiled.
        cached: True if the compile came from kprof's cache.
        shared_bytes: LDS per workgroup if there is no metadata; ``None`` if unknown.
        num_warps: wavefronts per workgroup if there is no metadata; ``None`` if unknown.
        passes: MLIR after every pass, if requested.
        stages: the compiler's output by stage; empty if nothing was compiled.
        file: path of the kernel's file, relative to a target directory; ``None`` for other targets.
        unseen: why its instructions are missing or incomplete; ``None`` if they are complete.
        unrecorded: operators of the recorded program that were answered without running, so launches may be
            missing; ``None`` if there were none.
        listed: configurations that an autotuner chooses among at this launch, including this one; else empty.
        listed_first: configurations for the launch that decides the autotuner's choice, if that is another launch.
        choice: how this configuration was chosen; ``None`` without a choice.
        assumed: assumptions behind the kernel's figures.
        condition: state of the caches for a timed launch.
        notes: descriptions of what the target does not contain.
    """

    name: str
    arch: "Architecture"
    program: "AssemblyKernel"
    product: "Product | None" = None
    ttgir: "Module | None" = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    specialization: Specialization = field(default_factory=Specialization)
    grid: tuple[int, ...] | None = None
    arguments: Mapping[str, int | float] = field(default_factory=dict)
    contents: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tensor_bytes: int | None = None
    problem: Mapping[str, Any] = field(default_factory=dict)
    request: "CompileRequest | None" = None
    job: str = ""
    triton: str | None = None
    compiler: str | None = None
    source: Location | None = None
    compile_seconds: float | None = None
    cached: bool | None = None
    shared_bytes: int | None = None
    num_warps: int | None = None
    passes: "PassHistory | None" = None
    stages: Mapping[str, str | bytes] = field(default_factory=dict)
    file: str | None = None
    unseen: str | None = None
    unrecorded: str | None = None
    listed: Sequence[ListedConfiguration] = ()
    listed_first: Sequence[ListedConfiguration] = ()
    choice: "AutotunedChoice | None" = None
    assumed: Sequence[str] = ()
    condition: Condition = WARM
    notes: Sequence[str] = ()
