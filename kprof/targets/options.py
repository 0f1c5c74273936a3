"""How targets are to be compiled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class TargetOptions:
    """How source targets are to be compiled. Targets that are compiled already only use ``archs``.

    Attributes:
        archs: architectures or products; :data:`kprof.hardware.default.DEFAULT_GPU` when empty.
        config: knobs on top of the kernel's own: constexprs and backend options.
        shape: problem parameters on top of the chosen case's.
        case: name of one of the kernel's shapes.
        all_configs: compile each configuration that the kernel lists; of a capture, also take what was not launched.
        signature: argument types of a kernel without a specification: ``*fp16:16,*fp16,i32``.
        constexprs: its compile-time arguments.
        grid: workgroups of its launch, in up to three axes.
        environment: environment switches for the compile.
        values: numbers that the launch does not tell: of arguments, and in tensors.
        passes: keep the MLIR after every pass.
        jobs: worker processes, 0 for one a core.
        use_cache: serve repeated compiles from kprof's cache.
    """

    archs: Sequence[str] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    shape: Mapping[str, Any] = field(default_factory=dict)
    case: str | None = None
    all_configs: bool = False
    signature: str | None = None
    constexprs: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[int, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, int | Sequence[int]] = field(default_factory=dict)
    passes: bool = False
    jobs: int = 0
    use_cache: bool = True
