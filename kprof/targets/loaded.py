"""A compiled kernel, wherever it came from, ready to be analysed."""

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
        config: as the autotuner writes it.
        load: reads the kernel; raises a :class:`kprof.errors.KprofError` where it was not compiled.
    """

    config: str
    load: "Callable[[], LoadedKernel]" = field(compare=False)


@dataclass(frozen=True)
class LoadedKernel:
    """What every kind of target is turned into.

    Attributes:
        name: the kernel's name.
        arch: hardware model.
        program: instructions, loops and registers.
        product: the GPU, when one was named.
        ttgir: the TTGIR module, ``None`` when the target has none.
        metadata: Triton's metadata, empty when the kernel is not from Triton.
        specialization: what was compiled.
        grid: workgroups in x, y, z, when the launch is known.
        arguments: numbers that the launch passes, by name; empty when no launch is known.
        contents: integers in memory that pointer arguments point to, by name, where the launch is known to have them.
        tensor_bytes: bytes of all tensors that a recorded launch passes; ``None`` where that is not known.
        problem: the launch's problem parameters, where its kernel names them.
        job: name of the call that makes this launch and others; empty where a call is one launch.
        request: what the compiler was asked, ``None`` where it was not compiled here.
        triton: version of the compiling Triton.
        compiler: another compiler's identification.
        source: where the kernel is defined.
        compile_seconds: wall time of the compile, ``None`` when nothing was compiled.
        cached: whether the compile was served from kprof's cache.
        shared_bytes: LDS of a workgroup where there is no metadata, ``None`` when unknown.
        num_warps: wavefronts of a workgroup where there is no metadata, ``None`` when unknown.
        passes: MLIR after every pass, when asked for.
        stages: what the compiler made, by stage; empty when nothing was compiled.
        file: file of a directory that it was read from, below that directory; ``None`` for other targets.
        unseen: why its instructions, or a part of them, are not there; ``None`` when they are.
        unrecorded: what of the recorded program was answered without running, so that launches may be missing beside
            this one; ``None`` when nothing was.
        listed: configurations that an autotuner chooses among at this launch, this one included; empty where none does.
        listed_first: the same for the launch that decides the choice, where that is another one.
        choice: how this configuration was chosen; ``None`` where nothing was.
        assumed: what the target's figures rest on that it does not tell.
        condition: what a timed launch finds in the caches.
        notes: what is missing in the target, in words.
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
