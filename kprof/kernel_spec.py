"""How a kernel file describes its kernel: launch arguments, cases, configurations, reference.

A kernel file holds a ``@triton.jit`` function and a module-level ``KERNEL = Kernel(...)``. It must import without
torch and without a GPU: ``import torch`` belongs inside the functions that run on a device.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Shape = Mapping[str, Any]
"""Problem parameters by name: sizes, flags and ``dtype``, for example ``{"M": 4096, "dtype": "fp16"}``."""

Config = Mapping[str, Any]
"""Knobs by name: constexprs such as ``BLOCK_M`` and backend options such as ``num_warps``."""


@dataclass(frozen=True)
class Tensor:
    """A tensor argument of a launch, without storage.

    Attributes:
        dtype: Triton element type: ``fp16``, ``bf16``, ``fp32``, ``i8``, ``fp8e4b8``, ...
        shape: elements in each dimension. With the dtype it decides whether ``tt.pointer_range = 32`` holds,
            as it does for a launch through torch (storage of at most 2**31 - 1 bytes).
        aligned: whether the pointer is a multiple of 16 bytes, as torch's allocations are.
    """

    dtype: str
    shape: tuple[int, ...]
    aligned: bool = True


@dataclass(frozen=True)
class Launch:
    """One launch, as the host wrapper would make it.

    Attributes:
        args: argument name to its value: a :class:`Tensor`, a number, a bool, ``None``, or any
            value for a ``tl.constexpr`` argument. The specialisation (value 1, divisibility by 16, ``i32`` or
            ``i64``, pointer range) is derived from the values just as Triton does at a launch.
        grid: workgroups in x, y, z.
    """

    args: Mapping[str, Any]
    grid: tuple[int, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel that kprof can compile, analyse, check and time.

    Attributes:
        name: the name on the command line; the file's name.
        entry: the ``@triton.jit`` function that is launched (autotuners and heuristics unwrapped).
        summary: one line for ``kprof kernels list``.
        launch: ``launch(shape, config) -> Launch``.
        shapes: case name to problem parameters; the first one is the default.
        config: default knobs, for every architecture.
        arch_config: architecture to the knobs that differ there.
        configs: further configurations worth looking at: the tuning space in short.
        space: knob name to its values, for a search; ``legal(shape, config, arch)`` says which combinations make sense.
        legal: reason why a combination is pointless, or ``None``.
        run: ``run(inputs, shape, config) -> outputs``: host wrapper on real tensors.
        inputs: ``inputs(shape, device, seed) -> dict`` of torch tensors.
        reference: ``reference(inputs, shape) -> outputs`` in torch, computed in float64 or float32.
        tolerance: ``tolerance(shape) -> (rtol, atol)``, derived from the dtype.
        flops: floating-point operations of a shape.
        bytes: bytes that must cross HBM at least for a shape.
        unsupported: ``unsupported(arch, shape) -> reason or None``: what an architecture cannot do, such as FP8 dots.
        notes: architecture to why its default is the best although a rule objects.
    """

    name: str
    entry: Any
    summary: str
    launch: Callable[[Shape, Config], Launch]
    shapes: Mapping[str, Shape]
    config: Config
    arch_config: Mapping[str, Config] = field(default_factory=dict)
    configs: Sequence[Config] = ()
    space: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    legal: Callable[[Shape, Config, str], str | None] | None = None
    run: Callable[[Mapping[str, Any], Shape, Config], Any] | None = None
    inputs: Callable[[Shape, str, int], dict[str, Any]] | None = None
    reference: Callable[[Mapping[str, Any], Shape], Any] | None = None
    tolerance: Callable[[Shape], tuple[float, float]] | None = None
    flops: Callable[[Shape], int] | None = None
    bytes: Callable[[Shape], int] | None = None
    unsupported: Callable[[str, Shape], str | None] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)

    def configure(self, arch: str, overrides: Config | None = None) -> dict[str, Any]:
        """Default knobs of an architecture (``gfx942``), with a user's overrides on top."""
        return {**self.config, **self.arch_config.get(arch, {}), **(overrides or {})}
